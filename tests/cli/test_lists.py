"""Problems, runs, features, neighbours and plugins: lists for people, and as JSON."""

import json

import pytest

from .running import QUICK, run


def test_a_kind_of_plugin_is_named_as_new_plugin_names_it():
    plural = run("plugins", "--kind", "distances").stdout
    assert run("plugins", "--kind", "distance").stdout == plural and "jsd-rows" in plural
    assert "'nonsense' is not one of" in run("plugins", "--kind", "nonsense", code=2).stderr


def test_neighbours_share_a_digit_first(solved):
    rows = json.loads(run("neighbours", "0-1", "--db", solved, "--json").stdout)
    assert rows[0]["problem"] == "0-2"
    assert len(rows) == 4
    assert "0-2" in run("neighbours", "0-1", "--db", solved).stdout


def test_neighbours_of_what_is_not_there(solved):
    near = run("neighbours", "0-11", "--db", solved, code=2)
    assert "did you mean '0-1'" in near.stderr
    elsewhere = run("neighbours", "0-1", "--space", "zz", "--db", solved, code=2)
    assert "holds no problem named '0-1' in space 'zz': give --space default." in elsewhere.stderr
    never = run("neighbours", "0-1", "--distance", "jsd-rows", "--db", solved, code=1)
    assert "never described by 'jsd-rows', only by 'jsd-features'" in never.stderr


@pytest.mark.parametrize("command", ["problems", "runs", "features"])
def test_lists_as_table_and_json(solved, command):
    table = run(command, "--db", solved).stdout
    rows = json.loads(run(command, "--db", solved, "--json").stdout)
    assert len(table.splitlines()) == min(len(rows), 20) + 2
    # Constant pixels are left out.
    assert len(rows) == {"problems": 5, "runs": 10, "features": 61}[command]


def test_lists_show_people_what_matters_and_programs_everything(solved):
    for command, shown, left_out in (
        ("problems", "best_score", "fingerprint"),
        ("runs", "seconds", "prior_used"),
    ):
        header = run(command, "--db", solved).stdout.splitlines()[0].split()
        row = json.loads(run(command, "--db", solved, "--json").stdout)[0]
        assert shown in header and shown in row
        assert left_out not in header and left_out in row


def test_runs_show_errors_only_if_there_are_any(solved, tmp_path):
    assert "error" not in run("runs", "--db", solved).stdout.splitlines()[0]
    bad = tmp_path / "bad.csv"
    bad.write_text("a,y\n" + "".join(f"{i % 7},{i / 3}\n" for i in range(40)))
    wrong = ["--learner", "naive-bayes"]  # the target holds numbers
    run(
        "solve",
        "--selector",
        "climb",
        bad,
        "--target",
        "y",
        "--db",
        tmp_path / "m.duckdb",
        *QUICK,
        *wrong,
        code=1,
    )
    header, _, row = run("runs", "--db", tmp_path / "m.duckdb").stdout.splitlines()
    assert header.split()[-1] == "error"
    assert "failed" in row


def test_a_filter_that_matches_nothing_says_so(solved):
    for command in (
        ["runs", "--status", "failed"],
        ["problems", "--space", "zz"],
        ["features", "--space", "zz"],
    ):
        assert run(*command, "--db", solved).stderr == "nothing found.\n"
        assert run(*command, "--db", solved, "--json").stderr == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ["runs", "--limit", "-1"],
        ["runs", "--limit", "0"],
        ["features", "--limit", "-3"],
        ["neighbours", "0-1", "-k", "0"],
        ["neighbours", "0-1", "-k", "-1"],
    ],
)
def test_how_many_is_at_least_one(solved, arguments):
    assert "x>=1" in run(*arguments, "--db", solved, code=2).stderr


def test_lists_can_be_narrowed(solved):
    runs = json.loads(run("runs", "--db", solved, "--problem", "0-1", "--json").stdout)
    assert {row["problem"] for row in runs} == {"0-1"}
    assert run("runs", "--db", solved, "--status", "failed", "--json").stdout == "[]\n"
    features = json.loads(run("features", "--db", solved, "--limit", "3", "--json").stdout)
    assert len(features) == 3
    chosen = json.loads(run("features", "--db", solved, "--problem", "0-1", "--json").stdout)
    best = json.loads(run("sql", "from best_run", "--db", solved, "--json").stdout)
    assert len(chosen) in {row["n_selected"] for row in best}
    assert [row["rank"] for row in chosen] == list(range(1, len(chosen) + 1))
    shown = run("features", "--db", solved)
    assert len(shown.stdout.splitlines()) == 22
    assert "the first 20 of 61" in shown.stderr


def test_plugins_lists_what_each_package_offers(monkeypatch):
    rows = json.loads(run("plugins", "--json").stdout)
    climb = {"kind": "selectors", "name": "climb", "package": "metafs-automl"}
    assert climb.items() <= rows[0].items()
    only = json.loads(run("plugins", "--kind", "learners", "--json").stdout)
    assert {row["kind"] for row in only} == {"learners"}
    without = run("plugins", "--no-plugin", "climb")
    assert "climb" not in without.stdout
    assert "disabled: climb (metafs-automl)" in without.stderr
