"""Whatever is wrong with the input: one sentence, exit code 1 or 2, no traceback, nothing lost."""

import json
import os
import subprocess
import sys

import duckdb
import numpy as np
import pytest
from sklearn.base import BaseEstimator

from metafs.plugin.hookspecs import hookimpl
from metafs_metadb import MetaDB

from .running import invoke

GOOD = (
    "a,b,y\n" + "\n".join(f"{i % 2},{i % 3},{'no' if i % 2 else 'yes'}" for i in range(20)) + "\n"
)


def text(content):
    return lambda path: path.write_text(content)


def raw(content):
    return lambda path: path.write_bytes(content)


def truncated_parquet(path):
    duckdb.connect().execute(f"copy (select range a, 1 y from range(500)) to '{path}'")
    path.write_bytes(path.read_bytes()[:200])


BAD_FILES = {
    "empty file": ("x.csv", text(""), "empty"),
    "no rows": ("x.csv", text("a,b,y\n"), "row"),
    "one row": ("x.csv", text("a,b,y\n1,2,no\n"), "row"),
    "wrong target": ("x.csv", text(GOOD.replace("y\n", "z\n", 1)), "y"),
    "one class": ("x.csv", text(GOOD.replace("yes", "no")), "class"),
    "constant target": ("x.csv", text("a,y\n" + "1,3.5\n2,3.5\n" * 5), "y"),
    "columns of NaN": ("x.csv", text("a,b,y\n" + ",,no\n,,yes\n" * 5), "no feature column"),
    "duplicate names": ("x.csv", text(GOOD.replace("a,b,y", "a,a,y")), "'a'"),
    "text among numbers": ("x.csv", text(GOOD + "oops,1,no\n" + "7,1,no\n" * 5), "row 21"),
    "not text": ("x.csv", raw(GOOD.encode() + b"\xff\x81,1,no\n"), "UTF-8"),
    "truncated parquet": ("x.parquet", truncated_parquet, "parquet"),
    "not an npz": ("x.npz", text("nonsense"), "npz"),
    "ragged": ("x.csv", text(GOOD + "1,2\n1,2,3,4\n"), "x.csv"),
}


def assert_one_sentence(result, *words):
    assert result.exit_code in (1, 2), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.stderr


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_bad_file_gets_a_sentence_and_the_others_are_solved(tmp_path, kind):
    name, write, word = BAD_FILES[kind]
    folder = tmp_path / "problems"
    folder.mkdir()
    (folder / "a good one.csv").write_text(GOOD)
    write(folder / name)
    (folder / "z good one.csv").write_text(GOOD.replace("yes", "maybe"))
    arguments = (folder, "--target", "y", "--db", tmp_path / "m.duckdb", "--folds", "2")
    result = invoke("solve", "--selector", "climb", *arguments, "--json")
    assert_one_sentence(result, word)
    results = {each["problem"]: each for each in map(json.loads, result.stdout.splitlines())}
    assert results["a good one"]["status"] == results["z good one"]["status"] == "solved"
    assert results["x"]["status"] == "failed"
    assert name in results["x"]["error"]
    assert "\n" not in results["x"]["error"]
    assert result.stderr.count(results["x"]["error"]) == 1
    assert f"failed: x: {results['x']['error']}" in result.stderr
    assert "oops" not in result.output
    db = MetaDB(tmp_path / "m.duckdb")
    assert db.check() == []
    assert set(db.problems().column("name")) == {"a good one", "z good one"}
    assert set(db.runs().column("status")) == {"solved"}


def test_a_mistyped_target_is_told_once_and_remembered_nowhere(tmp_path):
    for name in "abc":
        (tmp_path / f"{name}.csv").write_text(GOOD)
    result = invoke(
        "solve", "--selector", "climb", tmp_path, "--target", "yy", "--db", tmp_path / "m.duckdb"
    )
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "metafs: none of the 3 tables has a column 'yy' (the target); did you mean 'y'?\n"
    )
    assert not (tmp_path / "m.duckdb").exists()


def test_a_failed_problem_is_told_once_in_a_table_for_people(tmp_path):
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "bad.csv").write_text("")
    result = invoke(
        "solve", "--selector", "climb", tmp_path, "--target", "y", "--db", tmp_path / "m.duckdb"
    )
    assert result.output.count("the file is empty") == 1
    assert result.stdout.splitlines()[1].split() == ["bad", "failed"]


def test_notes_are_told_once_for_all_problems_and_in_json(tmp_path):
    odd = "a;b;none;same;y\n" + "1,5;n/a;;7;no\n2,25;3;NA;7;sí\ninf;4;;7;no\n1,5;3;;7;sí\n" * 4
    for number in range(3):
        content = odd.replace("2,25", f"{number},25").encode("latin-1")
        (tmp_path / f"t{number}.csv").write_bytes(content)
    notes = [
        "read the text as 'Latin-1 (Windows-1252)', because it is not UTF-8",
        "read the commas in 'a' as decimal points",
        "took text such as n/a for missing in 'b'",
        "took infinite values for missing in 'a'",
        "left out 1 column without any value: 'none'",
        "left out 1 column with one value in all rows: 'same'",
    ]
    arguments = ("solve", "--selector", "climb", tmp_path, "--target", "y", "--folds", "2")
    result = invoke(*arguments, "--db", tmp_path / "m.duckdb")
    assert result.exit_code == 0
    results = [each for each in result.stderr.splitlines() if each.startswith("note: ")]
    assert results == [f"note: t0 and 2 more: {note}." for note in notes]
    result = invoke(*arguments, "--db", tmp_path / "n.duckdb", "--json")
    assert [json.loads(each)["notes"] for each in result.stdout.splitlines()] == [notes] * 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.csv", "--target", "y"], ["missing.csv"]),
        (["empty folder", "--target", "y"], ["empty folder"]),
        (["demo:digit"], ["demo:digits"]),
        (["good.csv", "--target", "y", "--selector", "clim"], ["did you mean climb"]),
        (["good.csv", "--target", "y", "--learner", "logistics"], ["did you mean logistic"]),
        (["good.csv", "--target", "y", "--budget", "0"], ["budget"]),
        (["good.csv", "--target", "y", "--budget", "many"], ["--budget"]),
        (["good.csv"], ["--target", "a"]),
        (["good.csv", "--target", "y", "--drop", "c"], ["'c'"]),
        (["good.csv", "--target", "y", "--keep", "c"], ["'c'"]),
        (["good.csv", "--target", "y", "--learner", "ridge"], ["predicts numbers"]),
        (["broken.toml"], ["broken.toml"]),
        (["good.csv", "--target", "y", "--db", "."], ["folder"]),
        (["good.csv", "--target", "y", "--db", "no/such/m.duckdb"], ["m.duckdb"]),
        ([], ["SOURCE"]),
    ],
)
def test_a_wrong_request_gets_a_sentence(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "broken.toml").write_text("[[problem]\n")
    (tmp_path / "empty folder").mkdir()
    assert_one_sentence(invoke("solve", "--selector", "climb", *arguments), *words)


@pytest.mark.parametrize(
    ("command", "wrong", "sentence"),
    [
        (["solve", "--selector", "climb"], "max_edits=0", "max_edits must be at least 2, not 0."),
        (["experiment", "--no-page"], "max_edits=0", "max_edits must be at least 2, not 0."),
        (
            ["stability", "--record", "--selector", "relieff"],
            "n_neighbors=0",
            "n_neighbors must be at least 1, not 0.",
        ),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_a_wrong_parameter_stops_the_command_before_anything_is_touched(
    tmp_path, monkeypatch, command, wrong, sentence
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "page.html").write_text("an earlier page")
    result = invoke(*command, "demo:digits", "--param", wrong)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"metafs: {sentence}\n"
    assert sorted(str(each.relative_to(tmp_path)) for each in tmp_path.rglob("*")) == [
        "experiment",
        "experiment/page.html",
    ]


def test_a_corrupt_metadb_is_named_and_left_alone(tmp_path):
    db = tmp_path / "m.duckdb"
    db.write_bytes(b"this is no database" * 1000)
    before = db.read_bytes()
    for arguments in (
        ["solve", "--selector", "climb", "demo:digits"],
        ["problems"],
        ["sql", "select 1"],
        ["db", "check"],
    ):
        result = invoke(*arguments, "--db", db)
        assert_one_sentence(result, "m.duckdb")
    assert db.read_bytes() == before


@pytest.mark.parametrize("command", [["problems"], ["runs"], ["features"], ["sql", "select 1"]])
def test_a_missing_metadb_says_how_to_make_one(tmp_path, command):
    result = invoke(*command, "--db", tmp_path / "none.duckdb")
    assert_one_sentence(result, "none.duckdb", "metafs solve")
    assert list(tmp_path.iterdir()) == []


def test_a_metadb_held_by_another_process_is_named_with_its_pid(tmp_path, monkeypatch):
    monkeypatch.setenv("METAFS_LOCK_WAIT_S", "0.3")
    db = tmp_path / "m.duckdb"
    MetaDB(db).ensure()
    code = f"import duckdb; c = duckdb.connect({str(db)!r}); print('held', flush=True); input()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout.readline() == "held\n"
        for arguments in (["solve", "--selector", "climb", "demo:digits"], ["problems"]):
            result = invoke(*arguments, "--db", db)
            assert_one_sentence(result, str(holder.pid))
    finally:
        holder.communicate("\n")


def test_a_plugin_that_raises_is_named_and_the_traceback_waits_for_debug(tmp_path, monkeypatch):
    from metafs.plugin.registry import Registry

    class Angry:
        @hookimpl
        def metafs_selectors(self):
            return {"angry": AngrySelector()}

    monkeypatch.setattr("metafs.cli.solve.Registry", lambda **options: Registry([Angry()]))
    path = tmp_path / "good.csv"
    path.write_text(GOOD)
    arguments = (path, "--target", "y", "--selector", "angry", "--db", tmp_path / "m.duckdb")
    result = invoke("solve", "--selector", "climb", *arguments)
    assert_one_sentence(result, "selector 'angry' failed on 'good': ValueError: not today")
    assert "Traceback" in invoke("solve", "--selector", "climb", *arguments, "--debug").stderr


class AngrySelector(BaseEstimator):
    """A selector that always fails."""

    def fit(self, X, y):
        raise ValueError("not today")


def test_a_name_from_the_stream_cannot_break_the_table(tmp_path):
    np.savez(tmp_path / "p.npz", X=np.eye(20), y=[0, 1] * 10, name="two\nlines")
    result = invoke(
        "solve",
        "--selector",
        "climb",
        tmp_path / "p.npz",
        "--db",
        tmp_path / "m.duckdb",
        "--folds",
        "2",
    )
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 2
    assert os.linesep not in result.stdout.splitlines()[1]
