"""`metafs experiment`: the real command, over files, interrupted, and asked for the wrong thing."""

import json
import signal
import sys
import time
from functools import partial

import pytest

from metafs.cli.experiment import COLUMNS

from . import running

QUICK = ["--target", "y", "--budget", "100", "--no-learn"]


run = partial(running.run, "experiment")


@pytest.fixture
def tables(tmp_path):
    """A folder of tables in which neighbouring columns tell of y."""
    folder = tmp_path / "tables"
    folder.mkdir()
    running.write_tables(folder, ["abcdefghy"] * 3)
    return folder


def test_a_table_for_people_and_files_for_all(tables, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("METAFS_DB", str(tmp_path / "mine.duckdb"))
    result = run(tables, *QUICK, "--arm", "guided", "--arm", "paper")
    header, _, *rows = result.stdout.splitlines()
    assert header.split("  ")[0] == "arm" and all(name in header for name in COLUMNS)
    assert [row.split()[0] for row in rows] == ["cold", "guided", "paper"]
    assert "3 of 3 problems compared in" in result.stderr
    assert "experiment/page.html and experiment/experiment.json" in result.stderr
    assert not (tmp_path / "mine.duckdb").exists(), "the user's own memory is not touched"
    folder = tmp_path / "experiment"
    assert sorted(path.name for path in folder.iterdir()) == [
        "experiment.json",
        "figures",
        "outcomes.jsonl",
        "page.html",
    ]
    document = json.loads((folder / "experiment.json").read_text())
    lines = [json.loads(line) for line in (folder / "outcomes.jsonl").read_text().splitlines()]
    assert lines == document["problems"]
    kinds = {path.suffix for path in (folder / "figures").iterdir()}
    assert kinds == {".svg", ".png"}
    assert "What memory saves on " in (folder / "page.html").read_text()


def test_json_for_programs_and_a_learner(tables, tmp_path):
    options = ["--target", "y", "--budget", 100, "--folds", 2, "--arm", "guided", "--no-page"]
    result = run(tables, *options, "--seed", 3, "-o", tmp_path / "out", "--json")
    document = json.loads(result.stdout)
    assert list(document["arms"]) == ["cold", "guided"]
    arm = document["arms"]["guided"]
    assert {
        "geometric_mean_speedup",
        "geometric_mean_speedup_interval",
        "arithmetic_mean_speedup",
        "geometric_mean_speedup_seconds",
        "geometric_mean_speedup_over_ranked",
        "reached",
        "negative_transfer",
        "seconds",
        "mean_evaluations",
        "mean_fitness",
        "mean_score",
    } <= set(arm)
    assert 0.5 < arm["mean_score"] <= 1
    assert len(document["problems"]) == 6
    assert {row["scoring"] for row in document["problems"]} == {"balanced_accuracy"}
    assert (document["settings"]["seeds"], document["settings"]["budget"]) == ([3], 100)
    assert document["settings"]["complete"] is True
    assert json.loads((tmp_path / "out" / "experiment.json").read_text()) == document
    assert not (tmp_path / "out" / "page.html").exists()


def test_a_failing_problem_is_named_and_the_rest_goes_on(tables, tmp_path):
    (tables / "bad.csv").write_text("a,y\n1,0\n")
    result = run(tables, *QUICK, "--arm", "guided", "-o", tmp_path / "out", "--no-page", code=1)
    assert "failed: bad (cold): " in result.stderr
    assert "3 of 4 problems compared" in result.stderr
    again = run(tables / "bad.csv", *QUICK, "-o", tmp_path / "out", "--json", code=1)
    document = json.loads(again.stdout)
    assert (document["arms"], document["problems"]) == ({}, [])
    assert [each["problem"] for each in document["failed"]] == ["bad"]
    assert (
        "Traceback"
        in run(
            tables, *QUICK, "--no-page", "--arm", "cold", "--debug", "-o", tmp_path / "out", code=1
        ).stderr
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--arm", "gided"], "no arm named 'gided': did you mean guided?"),
        (["--param", "target_score=1"], "leave it out"),
        (["--param", "nope=1"], "has no parameter 'nope'"),
        (["--seeds", "0"], "seeds must be at least 1"),
        (["--jobs", "0"], "jobs must be at least 1"),
        (["--budget", "0"], "budget must be at least 1"),
    ],
)
def test_wrong_usage_is_reported_before_anything_is_written(
    tables, tmp_path, monkeypatch, wrong, message
):
    monkeypatch.chdir(tmp_path)
    result = run(tables, *QUICK, *wrong, code=2)
    assert message in result.stderr
    assert not (tmp_path / "experiment").exists()


def test_a_page_that_cannot_be_drawn_is_reported_first(tables, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run(tables, *QUICK, "-o", tmp_path / "out", code=2)
    assert "or leave the page out with --no-page" in result.stderr
    assert not (tmp_path / "out").exists()


def test_ctrl_c_leaves_what_is_done(tmp_path):
    options = ["--no-learn", "--no-page", "--budget", "2000", "--seeds", "4"]
    process = running.start("experiment", "demo:digits", *options, "-o", tmp_path, "--json")
    written = tmp_path / "outcomes.jsonl"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if written.exists() and len(written.read_text().splitlines()) > 3:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, messages = process.communicate(timeout=120)
    assert process.returncode == 130, messages
    assert "searches are done" in messages and "Traceback" not in messages
    document = json.loads(out)
    assert document["settings"]["complete"] is False
    assert 3 < len(document["problems"]) < 4 * 45
    assert json.loads((tmp_path / "experiment.json").read_text()) == document
