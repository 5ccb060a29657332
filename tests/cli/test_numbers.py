"""Numbers that the command prints are right, or are not printed and it says why."""

import json

import numpy as np
import pytest

from .running import run


def write_rare_class(path):
    rows = np.random.default_rng(0).normal(size=(120, 4)).round(4)
    lines = [",".join([*map(str, row), str(int(i == 7))]) for i, row in enumerate(rows)]
    path.write_text("\n".join(["a,b,c,d,y", *lines]) + "\n")


def test_a_class_with_one_row_has_no_score_and_a_note_says_why(tmp_path):
    table = tmp_path / "rare.csv"
    write_rare_class(table)
    command = [
        "solve",
        "--selector",
        "climb",
        table,
        "--target",
        "y",
        "--task",
        "classes",
        "--budget",
        "50",
    ]
    solution = json.loads(run(*command, "--db", tmp_path / "json.duckdb", "--json").stdout)
    assert (solution["status"], solution["score"], solution["non_nested_score"]) == (
        "solved",
        None,
        None,
    )
    (note,) = solution["notes"]
    assert note.startswith("no score: class '1' has 1 row")
    shown = run(*command, "--db", tmp_path / "table.duckdb")
    assert "1.000" not in shown.stdout
    assert f"note: rare: {note}.\n" in shown.stderr


def write_table(path, columns, y):
    lines = [",".join([*columns, "y"])]
    lines += [",".join(map(str, row)) for row in zip(*columns.values(), y, strict=True)]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("transfer", ["none", "ranked"])
def test_the_order_of_columns_settles_no_tie(tmp_path, transfer):
    rng = np.random.default_rng(0)
    table = {name: rng.integers(0, 2, 24).tolist() for name in "abcdefgh"}
    table["b copy"] = table["b"]
    y = [one ^ other for one, other in zip(table["b"], table["g"], strict=True)]
    found = []
    for number, names in enumerate((list(table), list(table)[::-1])):
        path = tmp_path / f"{number}.csv"
        write_table(path, {name: table[name] for name in names}, y)
        command = [
            "solve",
            "--selector",
            "climb",
            path,
            "--target",
            "y",
            "--transfer",
            transfer,
            "--json",
        ]
        solution = json.loads(run(*command, "--db", tmp_path / f"{number}.duckdb").stdout)
        found.append([solution[key] for key in ("features", "fitness", "score", "n_evaluations")])
    assert found[0] == found[1]


@pytest.mark.parametrize("learner", ["logistic", "forest", "1nn"])
def test_values_near_the_largest_double_are_numbers(tmp_path, learner):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 60))
    write_table(tmp_path / "huge.csv", {"a": (a * 1e300).tolist(), "b": b.tolist()}, a > 0)
    command = [
        "solve",
        "--selector",
        "climb",
        tmp_path / "huge.csv",
        "--target",
        "y",
        "--learner",
        learner,
        "--json",
    ]
    options = ["--param", "measure=cv-accuracy"] if learner == "logistic" else []
    solution = json.loads(run(*command, *options, "--db", tmp_path / "m.duckdb").stdout)
    assert solution["status"] == "solved" and solution["score"] > 0.8
    assert "a" in solution["features"]
