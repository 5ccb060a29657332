"""`metafs explain` and the columns of `metafs neighbours`: the real command over a real file."""

import csv
import json

import pytest

from .running import run, write_tables

NAMES = tuple("abcdefgh")


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    """Three tables in which neighbouring columns tell of y, the last one solved cold as well."""
    folder = tmp_path_factory.mktemp("explain")
    write_tables(folder, [[*NAMES[: 8 - n], *"xyz"[:n], "target"] for n in range(3)])
    path = folder / "m.duckdb"
    quick = ["--target", "target", "--budget", 60, "--folds", 2, "--db", path]
    tables = sorted(folder.glob("*.csv"))
    run("solve", "--selector", "climb", *tables, *quick)
    run("solve", "--selector", "climb", tables[2], *quick, "--transfer", "none")
    return path


def explained(db, *arguments):
    return json.loads(run("explain", *arguments, "--db", db, "--json").stdout)


def test_the_table_shows_what_the_json_holds(db):
    document = explained(db, "t2", "--run", 3)
    text = run("explain", "t2", "--run", 3, "--db", db).stdout
    assert text.startswith("t2 (space default), run 3: climb, transfer guided, seed 0\n")
    assert document["memory"] in text and document["memory"].startswith("2 neighbours were used")
    assert f"stopped: {document['run']['stopped']}" in text
    assert [each["problem"] for each in document["neighbours"]] == [
        each["problem"] for each in json.loads(run("neighbours", "t2", "--db", db, "--json").stdout)
    ]
    table = text.splitlines()[-len(document["features"]) :]
    for line, feature in zip(table, document["features"], strict=True):
        assert line.split()[:2] == [str(feature["rank"]), feature["feature"]]
        assert feature["fate"] in line
        parts = feature["neighbours"] + feature["record"]["part"]
        assert parts == pytest.approx(feature["expected"], abs=1e-9)
    selected = [each["fate"] == "selected" for each in document["features"]]
    assert (
        selected == sorted(selected, reverse=True)
        and sum(selected) == document["run"]["n_selected"]
    )


def test_one_feature_in_sentences(db):
    document = explained(db, "t2", "--run", 3)
    feature = document["features"][0]
    name = feature["feature"]
    text = run("explain", "t2", name, "--run", 3, "--db", db).stdout
    assert f"'{name}' scored {feature['q']:.4g} here" in text
    assert "It was selected with quality" in text
    assert f"selected in {feature['record']['n_selected']} of the" in text
    lines = text.splitlines()[-2:]
    assert [line.split()[0] for line in lines] == [
        each["problem"] for each in feature["contributions"]
    ]
    assert feature["said"] == feature["contributions"]  # the deprecated name
    (alone,) = explained(db, "t2", name, "--run", 3)["features"]
    assert alone == feature
    assert len(feature["steps"]) >= 1


def test_a_feature_that_neighbours_did_not_have(db):
    (feature,) = explained(db, "t2", "y", "--run", 3)["features"]
    assert [each["had"] for each in feature["contributions"]] == [False, False]
    assert (feature["expected"], feature["judged"]) == (0, False)
    text = run("explain", "t2", "y", "--run", 3, "--db", db).stdout
    assert "Memory did not propose it" in text and "did not have it" in text


def test_a_cold_run_and_a_first_problem(db):
    assert "Memory was not used" in run("explain", "t2", "--run", 4, "--db", db).stdout
    first = run("explain", "t0", "--db", db).stdout
    assert "No relevant experience" in first
    name = explained(db, "t0")["features"][0]["feature"]
    assert "by its univariate relevance" in run("explain", "t0", name, "--db", db).stdout


def test_a_program_is_shown_with_its_errors(tmp_path):
    write_tables(tmp_path, [[*NAMES, "target"]])
    table, db = tmp_path / "t0.csv", tmp_path / "m.duckdb"
    run("solve", table, "--target", "target", "--preset", "paper", "--budget", 60, "--db", db)
    (program,) = explained(db, "t0")["programs"]
    shown = run("explain", "t0", "--db", db).stdout
    text, errors = program["text"], program["errors"]
    assert f"moses learned: {program['output']} if {text}: {errors:g} error" in shown
    assert "carried by" not in shown  # no linear model was learned
    assert " -0 errors" not in shown
    with table.open() as file:
        rows = list(csv.DictReader(file))
    values = [{name: float(row[name]) for name in NAMES} for row in rows]
    told = [bool(eval(text, {}, row)) for row in values]
    wanted = [row["target"] == program["output"] for row in rows]
    assert errors == sum(a != b for a, b in zip(told, wanted, strict=True))
    assert program["rows"] == len(rows) and f"on the {len(rows)} rows it was learned" in shown


def test_the_limit_holds_and_says_so(db):
    few = run("explain", "t2", "--run", 3, "--limit", 1, "--db", db)
    assert "--limit N gives more" in few.stderr
    document = explained(db, "t2", "--run", 3, "--limit", 1)
    assert [each["fate"] == "selected" for each in document["features"]] == [True, False]


@pytest.mark.parametrize(
    ("asked", "code", "message"),
    [
        (["t9"], 2, "holds no problem named 't9': did you mean"),
        (["t2", "--space", "zz"], 2, "in space 'zz': give --space default."),
        (["t2", "aa"], 2, "'t2' has no feature 'aa': did you mean 'a'?"),
        (["t2", "--run", "1"], 2, "run 1 is not one of 't2'"),
        (["t2", "--run", "0"], 2, "--run"),
        (["t2", "--limit", "0"], 2, "--limit"),
    ],
)
def test_missing_names_are_reported_in_a_sentence(db, asked, code, message):
    result = run("explain", *asked, "--db", db, code=code)
    assert message in result.stderr and "Traceback" not in result.output


def test_reading_needs_a_file_and_leaves_it_alone(db, tmp_path):
    before = db.read_bytes()
    explained(db, "t2")
    assert db.read_bytes() == before
    assert run("explain", "t2", "--db", tmp_path / "none.duckdb", code=1).stderr
    assert not (tmp_path / "none.duckdb").exists()


def test_neighbours_show_features_in_common(db):
    rows = json.loads(run("neighbours", "t2", "--db", db, "--json").stdout)
    assert list(rows[0]) == ["rank", "problem", "distance", "common_features", "common_selected"]
    best = {
        name: {
            row["name"]
            for row in json.loads(run("features", "--problem", name, "--db", db, "--json").stdout)
        }
        for name in ("t0", "t1", "t2")
    }
    for row in rows:
        assert row["common_features"] == {"t0": 6, "t1": 7}[row["problem"]]
        assert row["common_selected"] == len(best["t2"] & best[row["problem"]])
    header = run("neighbours", "t2", "--db", db).stdout.splitlines()[0]
    assert header.split() == list(rows[0])
