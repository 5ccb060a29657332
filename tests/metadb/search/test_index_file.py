"""Arrays in a file: they come back as they were, or not at all."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from metafs_metadb.search import index_file

some_array = arrays_of.arrays(
    st.sampled_from([np.uint64, np.int64, np.float64, np.float32, np.int32]),
    arrays_of.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=40),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    arrays=st.dictionaries(st.sampled_from(["one", "two", "three"]), some_array),
    byte=st.integers(0, 10**9),
    cut=st.integers(1, 10**9),
)
def test_arrays_come_back_whole_or_not_at_all(tmp_path_factory, arrays, byte, cut):
    path = tmp_path_factory.mktemp("arrays") / "folder" / "some.arrays"
    assert index_file.read(path) is None
    assert index_file.write(path, {"about": ["it", 2**64 - 1]}, arrays)

    def assert_whole(found):
        assert found.about == {"about": ["it", 2**64 - 1]}
        assert found.arrays.keys() == arrays.keys()
        for name, array in arrays.items():
            assert found.arrays[name].dtype == array.dtype
            np.testing.assert_array_equal(found.arrays[name], array)

    assert_whole(index_file.read(path))
    content = path.read_bytes()
    damaged = bytearray(content)
    damaged[byte % len(content)] ^= 255
    path.write_bytes(damaged)
    if (found := index_file.read(path)) is not None:  # the byte was one between arrays
        assert_whole(found)
    path.write_bytes(content[: -(1 + cut % len(content))])
    if (found := index_file.read(path)) is not None:  # only the end of the last page is gone
        assert_whole(found)


def test_a_lost_page_is_noticed(tmp_path):
    path = tmp_path / "some.arrays"
    index_file.write(path, {}, {"array": np.arange(10_000)})
    content = bytearray(path.read_bytes())
    content[8192:12288] = bytes(4096)
    path.write_bytes(content)
    assert index_file.read(path) is None


def test_there_may_be_much_to_say_about_arrays(tmp_path):
    about = {"solved": {f"bare:{number}": 1 for number in range(200_000)}}
    index_file.write(tmp_path / "some.arrays", about, {"array": np.arange(3)})
    found = index_file.read(tmp_path / "some.arrays")
    assert found.about == about and found.arrays["array"].tolist() == [0, 1, 2]


def test_private_changes_stay_here_and_a_replaced_file_stays_readable(tmp_path):
    path = tmp_path / "some.arrays"
    index_file.write(path, {}, {"array": np.zeros(10_000)})
    mine = index_file.read(path, private=True).arrays["array"]
    mine[:] = 1.0
    shared = index_file.read(path).arrays["array"]
    assert not shared.any()
    with pytest.raises(ValueError, match="read-only"):
        shared[0] = 1.0
    index_file.write(path, {}, {"array": np.full(10, 7.0)})
    assert mine.all() and not shared.any()
    assert index_file.read(path).arrays["array"].tolist() == [7.0] * 10


def test_where_nothing_can_be_written_nothing_is_left(tmp_path):
    (tmp_path / "folder").write_text("in the way")
    assert not index_file.write(tmp_path / "folder" / "some.arrays", {}, {"array": np.zeros(3)})
    (tmp_path / "some.arrays").mkdir()  # cannot be replaced by a file
    assert not index_file.write(tmp_path / "some.arrays", {}, {"array": np.zeros(3)})
    assert index_file.read(tmp_path / "some.arrays") is None
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "some.arrays"]
