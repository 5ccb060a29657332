"""Notes on tables in a stream, and --strict: an error that says which column and what to do."""

import json

import numpy as np
import pandas as pd
import pytest

from metafs import solve
from metafs.data.problem import Problem

from ..cli.running import run

QUICK = {"selector": "fisher", "folds": 2}
OPTIONS = ["--selector", "fisher", "--folds", "2", "--target", "y"]
RNG = np.random.default_rng(0)


def frame(n=60, seed=0, **more):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, "up", "down")
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], **more, "y": y})


def test_a_note_says_which_column_and_what_to_do(tmp_path):
    (found,) = solve(frame(row=np.arange(60)), target="y", db=tmp_path / "m.duckdb", **QUICK)
    assert found.status == "solved"
    (note,) = [each for each in found.notes if "identifier" in each]
    assert "'row'" in note and "--drop row" in note


def test_strict_refuses_and_the_rest_of_the_stream_goes_on(tmp_path):
    frame(row=np.arange(60)).to_csv(tmp_path / "bad.csv", index=False)
    frame(seed=1).to_csv(tmp_path / "good.csv", index=False)
    db = ["--db", tmp_path / "m.duckdb"]
    files = [tmp_path / "bad.csv", tmp_path / "good.csv"]
    for options in (["--strict"], [], ["--strict"]):  # the last time both were solved before
        code = 1 if options else 0
        result = run(
            "solve", "--selector", "climb", *files, *db, *OPTIONS, "--json", *options, code=code
        )
        bad, good = map(json.loads, result.stdout.splitlines())
        assert good["status"] in ("solved", "skipped")
        assert bad["status"] == ("failed" if options else "solved")
        if options:
            assert "column 'row' looks like an identifier" in bad["error"]
            assert "--drop row" in bad["error"] and "bad.csv" in bad["error"]
    dropped = run(
        "solve", "--selector", "climb", *files, *db, *OPTIONS, "--strict", "--drop", "row", code=1
    )
    assert "no column 'row'" in dropped.stderr  # the other table has none


def test_strict_also_refuses_rows_that_repeat():
    table = frame(**{name: RNG.normal(size=60) for name in "defgh"})
    repeated = pd.concat([table] * 4)
    (strict,) = solve(repeated, target="y", db=None, strict=True, **QUICK)
    assert strict.status == "failed" and "of the rows equal another one" in strict.error
    (noted,) = solve(repeated, target="y", db=None, **QUICK)
    assert sum("of the rows equal another one" in note for note in noted.notes) == 1
    (good,) = solve(table, target="y", db=None, strict=True, **QUICK)
    assert good.status == "solved" and good.notes == ()


@pytest.mark.parametrize("transfer, noted", [("guided", True), ("none", False)])
def test_rows_that_another_source_holds_are_noted(tmp_path, transfer, noted):
    table = frame(n=120)
    table[:80].to_csv(tmp_path / "one.csv", index=False)
    table[40:].to_csv(tmp_path / "two.csv", index=False)
    frame(seed=5).to_csv(tmp_path / "three.csv", index=False)
    files = [tmp_path / f"{name}.csv" for name in ("one", "two", "three")]
    solved = solve(files, target="y", db=tmp_path / "m.duckdb", transfer=transfer, **QUICK)
    shared = [[note for note in each.notes if "rows are also in" in note] for each in solved]
    assert [len(each) for each in shared] == [0, int(noted), 0]
    if noted:
        assert "one.csv" in shared[1][0]


def test_problems_of_one_source_may_share_rows(tmp_path):
    X, y = RNG.normal(size=(90, 3)), RNG.integers(0, 3, 90)
    pairs = [
        Problem.of(X[y != k], y[y != k], name=f"without {k}", source="s", feature_names=list("abc"))
        for k in range(3)
    ]
    solved = solve(pairs, db=tmp_path / "m.duckdb", **QUICK)
    assert not any("rows are also in" in note for each in solved for note in each.notes)
