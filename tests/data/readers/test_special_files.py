"""Pipes, devices and broken links are refused unopened, large files by their headers."""

import gzip
import io
import os
import zipfile

import numpy as np
import pytest

from metafs.data.readers import ReadOptions, sources
from metafs.errors import ProblemError, UsageError

Y = ReadOptions(targets=("y",))
TABLE = "a,b,y\n" + "1,2,no\n3,4,yes\n" * 5


def pipe(path):
    os.mkfifo(path)


def device(path):
    path.symlink_to("/dev/zero")


def dangling(path):
    path.symlink_to("nowhere.csv")


def loop(path):
    path.symlink_to(path.name)


SPECIAL = {
    pipe: "is a pipe, not a file",
    device: "is a device, not a file",
    dangling: "is a link to 'nowhere.csv', which is not there",
    loop: "is a link that leads back to itself",
}


@pytest.mark.parametrize("name", ["p.csv", "p.npz", "p.toml"])
@pytest.mark.parametrize("make", SPECIAL, ids=lambda make: make.__name__)
def test_what_is_no_file_is_refused_at_once(tmp_path, make, name):
    make(tmp_path / name)
    with pytest.raises(UsageError, match=SPECIAL[make]):
        sources([tmp_path / name], Y)


@pytest.mark.parametrize("make", SPECIAL, ids=lambda make: make.__name__)
def test_what_is_no_file_is_no_table_of_meta_features(tmp_path, make):
    (tmp_path / "t.csv").write_text(TABLE)
    make(tmp_path / "meta.csv")
    options = ReadOptions(targets=("y",), meta_features=tmp_path / "meta.csv")
    with pytest.raises(UsageError, match=SPECIAL[make]):
        sources([tmp_path / "t.csv"], options)
    stream = "[[problem]]\nsource = 't.csv'\ntarget = 'y'\nmeta_features = 'meta.csv'\n"
    (tmp_path / "s.toml").write_text(stream)
    with pytest.raises(UsageError, match=SPECIAL[make]):
        sources([tmp_path / "s.toml"])


@pytest.mark.parametrize("make", SPECIAL, ids=lambda make: make.__name__)
def test_in_a_folder_it_is_named_and_the_rest_are_read(tmp_path, make):
    (tmp_path / "t.csv").write_text(TABLE)
    make(tmp_path / "bad.csv")
    bad, good = sources([tmp_path], Y)
    with pytest.raises(ProblemError, match=SPECIAL[make]):
        bad.read()
    assert good.read().n_samples == 10


def with_header(shape, dtype="<f8"):
    """Return an npy file that promises more than it holds."""
    file = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    return file.getvalue() + bytes(160)


def test_an_npz_is_refused_by_what_its_header_promises(tmp_path):
    path = tmp_path / "p.npz"
    np.savez(path, y=[0, 1] * 10)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("X.npy", with_header((20, 10**14)))
    with pytest.raises(ProblemError, match=r"p\.npz: its arrays would take 16,000,000\.0 GB") as it:
        sources([path])[0].read()
    assert "more than the limit of 2 GB" in str(it.value)
    assert "raise the limit with METAFS_MAX_TABLE_GB" in str(it.value)


def test_an_npz_that_holds_less_than_promised_is_cut_short(tmp_path):
    path = tmp_path / "p.npz"
    np.savez(path, y=[0, 1] * 10)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("X.npy", with_header((20, 100)))
    with pytest.raises(ProblemError, match=r"the array 'X' is cut short"):
        sources([path])[0].read()


def test_a_name_of_gigabytes_is_not_read(tmp_path):
    path = tmp_path / "p.npz"
    np.savez(path, X=np.eye(20), y=[0, 1] * 10)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("name.npy", with_header((), "<U500000000"))
    (source,) = sources([path])
    assert source.name == "p"


def test_what_unpacks_beyond_the_limit_is_refused_and_the_limit_can_be_raised(
    tmp_path, monkeypatch
):
    np.savez_compressed(tmp_path / "p.npz", X=np.zeros((20, 2000), np.int8), y=[0, 1] * 10)
    (tmp_path / "q.csv.gz").write_bytes(gzip.compress((TABLE + "1,2,no\n" * 40_000).encode()))
    monkeypatch.setenv("METAFS_MAX_TABLE_GB", "0.0002")
    for name in ("p.npz", "q.csv.gz"):
        with pytest.raises(ProblemError, match=r"more than the limit of 0\.0002 GB"):
            sources([tmp_path / name], ReadOptions(targets=("y",)))[0].read()
    monkeypatch.setenv("METAFS_MAX_TABLE_GB", "0.01")
    assert sources([tmp_path / "p.npz"])[0].read().n_features == 2000
    assert sources([tmp_path / "q.csv.gz"], Y)[0].read().n_samples == 40_010


def test_a_limit_that_is_no_number_is_wrong_usage(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(TABLE)
    monkeypatch.setenv("METAFS_MAX_TABLE_GB", "much")
    with pytest.raises(UsageError, match="METAFS_MAX_TABLE_GB must be a number"):
        sources([tmp_path / "t.csv"], Y)[0].read()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_header_of_25_000_columns_is_read(tmp_path, delimiter):
    names = [f"gene_{j:05d}" for j in range(25_000)]
    lines = [delimiter.join([*names, "kind", "y"])]
    for i in range(4):
        values = ["" if (i, j) == (1, 7) else str(i + j) for j in range(25_000)]
        lines.append(delimiter.join([*values, "uv"[i % 2], ["no", "yes"][i % 2]]))
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(lines) + "\n\n")
    assert len(lines[0]) > 131_072
    problem = sources([path], Y)[0].read()
    assert problem.feature_names == (*names, "kind")
    assert problem.classes == ("no", "yes")
    assert problem.categories == {25_000: ("u", "v")}
    np.testing.assert_array_equal(problem.X[:, 5], [5, 6, 7, 8])
    np.testing.assert_array_equal(problem.X[:, 7], [7, np.nan, 9, 10])
    path.write_text("\n".join([*lines, "1" + delimiter + "2"]))
    with pytest.raises(ProblemError, match="line 6 has 2 values where the header has 25002"):
        sources([path], Y)[0].read()


def test_damaged_compression_is_told_in_a_sentence(tmp_path):
    path = tmp_path / "p.csv.gz"
    path.write_bytes(gzip.compress(TABLE.encode())[:12] + b"\xff\xff")
    with pytest.raises(ProblemError, match=r"p\.csv\.gz: cannot be read"):
        sources([path], Y)[0].read()


def test_a_cell_of_many_thousand_characters_is_text(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(f"a,b,y\n1,{'x' * 200_000},no\n2,u,yes\n3,u,no\n")
    assert len(sources([path], Y)[0].read().categories[1]) == 2
