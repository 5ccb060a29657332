"""``--groups``, ``--time`` and ``--weight``: the patients' case, resuming, and wrong input."""

import json

import numpy as np
import pandas as pd
import pytest

from .running import invoke, run

DROP = ("--drop", "when", "--drop", "w")
FOREST = ("--selector", "infogain", "--learner", "forest", "--target", "sick", "--json")


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """Return a table of 100 patients of random labels, with 8 rows each."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(100), 8)
    X = rng.normal(size=(100, 6))[who] + 0.02 * rng.normal(size=(800, 6))
    frame = pd.DataFrame(X.round(4), columns=[f"m{j}" for j in range(6)])
    frame.insert(0, "patient_id", who + 1000)
    frame["sick"] = rng.permutation(np.arange(100) % 2)[who]
    frame["when"] = pd.date_range("2024-01-01", periods=800).astype(str)
    frame["w"] = rng.integers(1, 4, 800)
    path = tmp_path_factory.mktemp("patients") / "patients.csv"
    frame.to_csv(path, index=False)
    return path


def solved(db, *arguments):
    result = run("solve", "--selector", "climb", *arguments, *FOREST, "--db", db)
    return json.loads(result.stdout.splitlines()[0])


def test_labels_of_patients_that_mean_nothing_score_1_without_groups_and_one_half_with(
    patients, tmp_path
):
    db = tmp_path / "m.duckdb"
    alone = solved(db, patients, *DROP, "--drop", "patient_id")
    assert alone["score"] > 0.99
    assert any("nearly equal another one" in note for note in alone["notes"])
    with_id = solved(db, patients, *DROP)
    assert any("give --groups patient_id" in note for note in with_id["notes"])
    grouped = solved(db, patients, *DROP, "--groups", "patient_id")
    assert grouped["status"] == "solved"  # the content is that of the first, but not the question
    assert abs(grouped["score"] - 0.5) < 0.12
    assert grouped["notes"] == []
    assert not any("patient_id" in name for name in grouped["features"])


def test_the_choice_of_a_pipeline_finds_nothing_in_them_either(patients, tmp_path):
    arguments = ("--target", "sick", "--json", "--db", tmp_path / "m.duckdb")
    choice = ("--selector", "auto", "--learner", "remembered", "--groups", "patient_id")
    result = run("solve", "--selector", "climb", patients, *DROP, *choice, *arguments)
    solution = json.loads(result.stdout.splitlines()[0])
    assert solution["features"] == [] and abs(solution["score"] - 0.5) < 0.15


def test_other_groups_times_and_weights_are_other_runs_and_the_same_are_skipped(patients, tmp_path):
    db = tmp_path / "m.duckdb"
    few = ("--learner", "naive-bayes", "--selector", "fisher", "--target", "sick", "--json")
    plain = ("--drop", "patient_id", "--drop", "when", "--drop", "w")
    asked = [
        plain,
        ("--groups", "patient_id", "--drop", "when", "--drop", "w"),
        ("--time", "when", "--drop", "patient_id", "--drop", "w"),
        ("--weight", "w", "--drop", "patient_id", "--drop", "when"),
        ("--groups", "patient_id", "--time", "when", "--weight", "w"),
    ]
    for expected in ("solved", "skipped"):
        for options in asked:
            result = run("solve", "--selector", "climb", patients, *options, *few, "--db", db)
            assert json.loads(result.stdout.splitlines()[0])["status"] == expected, options


def test_who_takes_no_weights_is_named_once(patients, tmp_path):
    arguments = ("--target", "sick", "--db", tmp_path / "m.duckdb", "--learner", "1nn")
    drop = ("--drop", "patient_id", "--drop", "when")
    result = run("solve", patients, *drop, "--weight", "w", "--selector", "relief", *arguments)
    said = "these take no weights and count all rows alike: selector 'relief', learner '1nn'."
    assert result.stderr.count(said) == 1


def test_stability_draws_whole_groups(patients):
    options = ("--target", "sick", *DROP, "--selector", "infogain", "--resamples", "4", "--json")
    alone, grouped = (
        json.loads(run("stability", patients, *options, *more).stdout)
        for more in (("--drop", "patient_id"), ("--groups", "patient_id"))
    )
    assert grouped["status"] == "measured"
    assert grouped["jensen_shannon"] != alone["jensen_shannon"]


@pytest.mark.parametrize("command", ["solve", "experiment", "stability"])
@pytest.mark.parametrize("option", ["--groups", "--time", "--weight"])
def test_a_mistyped_column_stops_the_command_with_code_2(patients, tmp_path, command, option):
    result = invoke(command, patients, "--target", "sick", option, "patientid")
    assert result.exit_code == 2
    assert f"no column 'patientid' (for {option}); did you mean 'patient_id'?" in result.stderr


@pytest.mark.parametrize(
    ("column", "option", "said"),
    [
        ("when", "--time", "'when' (--time) is missing in row 3"),
        ("w", "--weight", "'w' (--weight) is missing in row 3"),
    ],
)
def test_what_is_missing_fails_the_problem_by_a_sentence_and_the_rest_goes_on(
    tmp_path, column, option, said
):
    good = pd.DataFrame(
        {"a": np.arange(40.0) % 7, "when": np.arange(40), "w": 1.5, "y": np.arange(40) % 2}
    )
    good.to_csv(tmp_path / "good.csv", index=False)
    bad = good.astype(object)
    bad.loc[2, column] = None
    bad.to_csv(tmp_path / "bad.csv", index=False)
    chosen = ["--target", "y", option, column, "--selector", "fisher"]
    done = run("solve", tmp_path, *chosen, "--db", tmp_path / "m.duckdb", code=1)
    assert said in done.stderr and "Traceback" not in done.stderr
    assert "1 solved, 0 skipped, 1 failed" in done.stderr


def test_too_few_groups_give_a_selection_and_a_sentence_in_place_of_a_score(patients, tmp_path):
    frame = pd.read_csv(patients)[["m0", "m1", "sick"]].iloc[:400]
    frame["clinic"] = np.where(frame["sick"] == 1, "north", "south")
    frame.to_csv(tmp_path / "t.csv", index=False)
    solution = solved(tmp_path / "m.duckdb", tmp_path / "t.csv", "--groups", "clinic")
    assert solution["score"] is None and solution["features"]
    assert any("is in 1 group" in note for note in solution["notes"])
