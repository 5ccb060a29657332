"""`metafs stability`: the real command, over files and a real MetaDB."""

import json
import signal
import subprocess
from functools import partial

import numpy as np
import pytest

from metafs_metadb import MetaDB
from metafs_metadb.files import migrate

from . import running

QUICK = ["--target", "y", "--selector", "fisher", "--resamples", "4"]


run = partial(running.run, "stability")


@pytest.fixture
def table(tmp_path):
    """A table in which a and b tell of y, and four more columns do not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6)).round(3)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    lines = ["a,b,c,d,e,f,y", *(",".join(map(str, [*x, t])) for x, t in zip(X, y, strict=True))]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_for_people(table):
    header, _, row = run(table, *QUICK, "--top", 2).stdout.splitlines()
    assert header.split() == [
        "problem",
        "selector",
        "jensen_shannon",
        "by_chance",
        "jaccard",
        "kuncheva",
    ]
    name, selector, rankings, by_chance, *sets = row.split()
    assert (name, selector) == ("table", "fisher")
    assert all(0.8 < float(index) <= 1 for index in (rankings, *sets))
    assert 0 < float(by_chance) < 0.8


def test_json_for_programs(table):
    (line,) = run(table, *QUICK, "--top", 2, "--json").stdout.splitlines()
    document = json.loads(line)
    assert list(document) == [
        "problem",
        "status",
        "selector",
        "jensen_shannon",
        "by_chance",
        "jaccard",
        "kuncheva",
        "share_selected",
        "error",
    ]
    assert (document["status"], document["error"]) == ("measured", None)
    assert document["share_selected"] == {"a": 1.0, "b": 1.0}


def test_nothing_is_recorded_unless_asked_for(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(table, *QUICK)
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]
    run(table, *QUICK, "--record")
    db = MetaDB("metafs.duckdb")
    run(table, *QUICK, "--record", "--db", "metafs.duckdb", "--seed", 7, "--share", 0.5)
    _, rows = db.sql("select selector, n_resamples, share, seed from stability order by all")
    assert list(rows) == [("fisher", 4, 0.5, 7), ("fisher", 4, 0.9, 0)]
    assert db.check() == []


def test_the_seed_decides_and_jobs_do_not(table):
    base = [table, *QUICK, "--share", 0.4, "--json"]
    one = run(*base, "--seed", 1).stdout
    assert run(*base, "--seed", 1).stdout == one
    assert run(*base, "--seed", 1, "--jobs", 2).stdout == one
    assert run(*base, "--seed", 2).stdout != one
    assert run(*base, "--seed", 1, "--bootstrap").stdout != one


def test_a_failing_problem_is_named_and_the_rest_goes_on(table, tmp_path):
    (tmp_path / "bad.csv").write_text("a,y\n1,0\n")
    result = run(tmp_path, *QUICK, code=1)
    assert "failed: bad: " in result.stderr
    assert [line.split()[0] for line in result.stdout.splitlines()[2:]] == ["table"]
    document = [
        json.loads(line) for line in run(tmp_path, *QUICK, "--json", code=1).stdout.splitlines()
    ]
    assert [each["status"] for each in document] == ["failed", "measured"]
    assert document[0]["jaccard"] is None and document[0]["error"]
    narrow = run(table, *QUICK, "--top", 40, code=1)
    assert "failed: table: top must lie between 1 and 6, not 40." in narrow.stderr
    assert "Traceback" in run(tmp_path, *QUICK, "--debug", code=1).stderr


def test_a_selector_that_fails_is_blamed(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b,y\n" + "1,,0\n2,1,1\n" * 10)
    run(path, *QUICK)  # what takes no missing values is given others
    result = run(path, *QUICK, "--selector", "climb", "--param", "keep_features=[9]", code=1)
    assert "failed: gaps: selector 'climb' failed on 'gaps': " in result.stderr


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--selector", "fish"], "did you mean fisher"),
        (["--param", "nope=1"], "has no parameter 'nope'"),
        (["--param", "nope"], "NAME=VALUE"),
        (["--share", "0"], "share must be above 0"),
        (["--jobs", "0"], "jobs must be at least 1"),
        (["--resamples", "1"], "x>=2"),
        (["--top", "0"], "x>=1"),
        (["--no-plugin", "filters"], "no selector named 'fisher'"),
    ],
)
def test_wrong_usage_is_reported_before_anything_is_read(table, tmp_path, wrong, message):
    result = run(tmp_path / "nowhere.csv", *QUICK, *wrong, code=2)
    assert message in result.stderr


def test_a_file_that_takes_no_records_is_refused_before_anything_is_measured(
    table, tmp_path, monkeypatch
):
    whole = migrate.known()
    monkeypatch.setattr(migrate, "known", lambda: whole[:2])
    MetaDB(tmp_path / "older.duckdb").ensure()
    monkeypatch.undo()
    (tmp_path / "other.duckdb").write_bytes(b"no database at all" * 1000)
    for name, message in (("older", "metafs db migrate"), ("other", "not a DuckDB file")):
        result = run(table, *QUICK, "--record", "--db", tmp_path / f"{name}.duckdb", code=1)
        assert message in result.stderr
        assert result.stdout == ""


def test_parameters_and_selectors_of_every_kind(table):
    for selector in ("climb", "infogain"):
        assert (
            "table" in run(table, "--target", "y", "--selector", selector, "--resamples", 2).stdout
        )
    chosen = ["--param", "n_features_to_select=1", "--json"]
    document = json.loads(run(table, *QUICK, *chosen).stdout)
    assert sum(document["share_selected"].values()) == pytest.approx(1)


def test_progress_on_a_terminal_and_ctrl_c_shows_what_was_found():
    """Over the 45 problems of the digits, interrupted in the middle."""
    command = ["stability", "demo:digits", "--selector", "infogain", "--resamples", 400]
    with running.terminal(*command, stdout=subprocess.PIPE) as (process, screen):
        screen.wait_for(b"[3/45]")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 130
    assert b"problems/s" in screen.whole()
    assert "digits 0 vs 2" in out and "Traceback" not in out
    assert 4 <= len(out.splitlines()) < 45
