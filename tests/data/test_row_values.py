"""Groups, times and weights of rows, wherever a problem comes from."""

from datetime import date

import duckdb
import numpy as np
import pandas as pd
import pytest

from metafs.data.problem import Problem
from metafs.data.readers import ReadOptions, sources
from metafs.data.readers.sources import sources_of_frames
from metafs.errors import ProblemError, UsageError

FRAME = pd.DataFrame(
    {
        "a": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
        "who": ["x", "y", None, "x", None, "y"],
        "b": [6.0, 5.0, 4.0, 3.0, 2.5, 1.0],
        "when": [date(2026, 1, day) for day in range(1, 7)],
        "often": [1, 0, 2, 3, 4, 5],
        "y": ["no", "yes", "no", None, "yes", "no"],
    }
)
ALL = {"groups": "who", "time": "when", "weight": "often"}
LONE = "took each row without a value of 'who' for a group of its own"


def write_csv(path):
    FRAME.to_csv(path, index=False)


def write_parquet(path):
    duckdb.sql("select * from FRAME").write_parquet(str(path))


def write_json(path):
    FRAME.assign(when=FRAME["when"].astype(str)).to_json(path, orient="records", lines=True)


@pytest.mark.parametrize(
    ("name", "write"),
    [("t.csv", write_csv), ("t.parquet", write_parquet), ("t.jsonl", write_json)],
)
def test_every_kind_of_table_tells_of_rows_and_has_no_such_feature(tmp_path, name, write):
    write(tmp_path / name)
    (source,) = sources([tmp_path / name], ReadOptions(targets=("y",), **ALL))
    problem = source.read()
    assert problem.feature_names == ("a", "b")
    assert problem.y.tolist() == [0, 0, 1, 0]  # the row of weight 0 and the unlabelled one are out
    assert problem.groups.tolist() == [0, 2, 3, 1]
    assert (np.diff(problem.time) / 86400).tolist() == [2, 2, 1]
    assert problem.sample_weight.tolist() == [1, 2, 4, 5]
    assert problem.X_unlabelled.tolist() == [[4.5, 3.0]]
    assert LONE in problem.notes
    assert "left out the rows whose weight is 0 in 'often'" in problem.notes


def test_a_frame_is_read_alike_by_solve_and_by_problem():
    (source,) = sources_of_frames([FRAME], ReadOptions(targets=("y",), **ALL))
    one = source.read()
    other = Problem.of(FRAME, "y", groups="who", time="when", sample_weight="often")
    for field in ("groups", "time", "sample_weight", "X", "y"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    assert other.feature_names == ("a", "b")


def test_an_npz_brings_its_own_arrays_and_others_may_be_named(tmp_path):
    path = tmp_path / "p.npz"
    arrays = {
        "X": np.eye(6),
        "y": [0, 1] * 3,
        "groups": list("aabbcc"),
        "night": [1, 1, 1, 2, 2, 2],
    }
    np.savez(path, **arrays, feature_names=list("pqrstu"))
    (source,) = sources([path])
    assert source.read().groups.tolist() == [0, 0, 1, 1, 2, 2]
    (source,) = sources([path], ReadOptions(groups="night", weight="p", time="q"))
    with pytest.raises(ProblemError, match="1 row"):  # p is 1 in the first row only
        source.read()
    (source,) = sources([path], ReadOptions(groups="night", time="q"))
    problem = source.read()
    assert problem.groups.tolist() == [0, 0, 0, 1, 1, 1]
    assert problem.feature_names == ("p", "r", "s", "t", "u")
    assert problem.time.tolist() == [0, 1, 0, 0, 0, 0]
    (source,) = sources([path], ReadOptions(groups="morning"))
    with pytest.raises(ProblemError, match="no array and no feature 'morning'"):
        source.read()


def test_a_stream_names_them_for_each_problem(tmp_path):
    write_csv(tmp_path / "t.csv")
    (tmp_path / "s.toml").write_text(
        '[[problem]]\nsource = "t.csv"\ntarget = "y"\ngroups = "who"\ntime = "when"\n'
        'weight = "often"\n[[problem]]\nsource = "t.csv"\ntarget = "y"\nname = "plain"\n'
    )
    told, plain = (source.read() for source in sources([tmp_path / "s.toml"]))
    assert told.groups is not None and told.time is not None and told.sample_weight is not None
    assert plain.groups is None and "often" in plain.feature_names


@pytest.mark.parametrize(
    ("field", "values", "said"),
    [
        ("time", [1, 2, None, 4], "missing in row 3"),
        ("time", ["soon", "late", "now", "then"], "holds text; give dates"),
        ("time", [1, 2, 3, np.inf], "infinite in row 4"),
        ("sample_weight", [1, -1, 1, 1], "negative in row 2"),
        ("sample_weight", [1, 1, None, 1], "missing in row 3"),
        ("sample_weight", [0, -1, 1, 1], "negative in row 2"),
        ("sample_weight", [0, 0, 0, 0], "0 in every row"),
        ("sample_weight", ["much", "little", "a", "b"], "holds text; give numbers"),
        ("groups", [1, 2], r"shape \(2,\) but there are 4 rows"),
        ("groups", "who", "no frame"),
    ],
)
def test_values_that_say_nothing_are_refused_by_a_sentence(field, values, said):
    with pytest.raises(ProblemError, match=said):
        Problem.of(np.eye(4), [0, 1, 0, 1], **{field: values})


def test_labels_of_groups_may_be_text_and_numbers_in_any_order_of_rows():
    mixed = Problem.of(np.eye(4), [0, 1, 0, 1], groups=["b", 7, "b", 7.0])
    assert mixed.groups.tolist() == [1, 0, 1, 0]
    assert not mixed.groups.flags.writeable


@pytest.mark.parametrize("option", ["groups", "time", "weight"])
def test_a_mistyped_name_is_wrong_usage_that_names_the_nearest_column(tmp_path, option):
    write_csv(tmp_path / "t.csv")
    with pytest.raises(UsageError, match=rf"'{ALL[option]}s' \(for --{option}\); did you mean"):
        sources([tmp_path / "t.csv"], ReadOptions(targets=("y",), **{option: ALL[option] + "s"}))
    with pytest.raises(UsageError, match="there is no column"):
        sources_of_frames([FRAME], ReadOptions(targets=("y",), **{option: "nothing"}))
    with pytest.raises(UsageError, match=f"both a target and given with --{option}"):
        sources([tmp_path / "t.csv"], ReadOptions(targets=("y",), **{option: "y"}))
    with pytest.raises(UsageError, match="demo:digits has no column"):
        sources(["demo:digits"], ReadOptions(**{option: "row"}))


def test_a_table_of_a_folder_that_lacks_the_column_fails_alone(tmp_path):
    write_csv(tmp_path / "one.csv")
    FRAME.drop(columns="who").to_csv(tmp_path / "two.csv", index=False)
    one, two = sources([tmp_path], ReadOptions(targets=("y",), groups="who", drop=("when",)))
    assert one.read().groups is not None
    with pytest.raises(ProblemError, match=r"no column 'who' \(for --groups\)"):
        two.read()
