"""Numbers that the command prints are right, or are not printed and it says why."""

import json

import numpy as np

from .running import run


def write_rare_class(path):
    rows = np.random.default_rng(0).normal(size=(120, 4)).round(4)
    lines = [",".join([*map(str, row), str(int(i == 7))]) for i, row in enumerate(rows)]
    path.write_text("\n".join(["a,b,c,d,y", *lines]) + "\n")


def test_a_class_with_one_row_has_no_score_and_a_note_says_why(tmp_path):
    table = tmp_path / "rare.csv"
    write_rare_class(table)
    command = ["solve", table, "--target", "y", "--task", "classes", "--budget", "50"]
    solution = json.loads(run(*command, "--db", tmp_path / "json.duckdb", "--json").stdout)
    assert (solution["status"], solution["score"], solution["optimistic_score"]) == (
        "solved",
        None,
        None,
    )
    (note,) = solution["notes"]
    assert note.startswith("no score: class '1' has 1 row")
    shown = run(*command, "--db", tmp_path / "table.duckdb")
    assert "1.000" not in shown.stdout
    assert f"note: rare: {note}.\n" in shown.stderr
