"""The command with the learner ``remembered``, the selector ``projected`` and unlabelled rows."""

import json

import numpy as np
import pytest

from .running import run

PIXELS = [f"pixel_{j // 8}_{j % 8}" for j in range(64)]


def write_digits(path, digits, n_labelled, n_unlabelled, seed):
    """Write rows of some digits, the last of each without target."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    lines = [",".join([*PIXELS, "digit"])]
    for digit in digits:
        rows = rng.permutation(np.flatnonzero(y == digit))[: n_labelled + n_unlabelled]
        for place, row in enumerate(rows.tolist()):
            cells = [f"{value:g}" for value in X[row]]
            lines.append(",".join([*cells, f"digit {digit}" if place < n_labelled else ""]))
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """What the command says of two problems of many labels, then of one with few."""
    folder = tmp_path_factory.mktemp("few")
    for number, digits in enumerate([(1, 3, 5), (3, 5, 8)]):
        write_digits(folder / f"past{number}.csv", digits, 40, 0, number)
    write_digits(folder / "few.csv", (1, 5, 8), 2, 30, 9)
    write_digits(folder / "one.csv", (1, 5, 8), 1, 30, 10)
    tables = [folder / f"{name}.csv" for name in ("past0", "past1", "few", "one")]
    options = ["--selector", "projected", "--learner", "remembered", "--folds", "2"]
    shared = ["--target", "digit", "--db", folder / "m.duckdb"]
    result = run("solve", "--selector", "climb", *tables, *shared, *options, "--json")
    return folder, {row["problem"]: row for row in map(json.loads, result.stdout.splitlines())}


def test_rows_with_an_empty_target_are_rows_of_the_problem(results):
    folder, rows = results
    assert [row["status"] for row in rows.values()] == ["solved"] * 4
    few = rows["few"]
    assert few["score"] is not None and few["memory"] is not None
    left_out = [note for note in few["notes"] if "one value in all rows" in note]
    table = np.genfromtxt(folder / "few.csv", delimiter=",", skip_header=1)[:, :-1]
    constant = np.ptp(table, axis=0) == 0
    assert len(left_out) == 1 and f"left out {constant.sum()} columns" in left_out[0]
    assert np.ptp(table[[0, 1, 32, 33, 64, 65]], axis=0).astype(bool).sum() < (~constant).sum()


def test_one_label_a_class_is_near_what_shares_its_columns(results):
    _, rows = results
    near = [each["problem"] for each in rows["one"]["neighbours"]]
    assert {"past0", "past1"} <= set(near)
    assert rows["one"]["score"] is None and "at least 2" in rows["one"]["notes"][-1]


def test_explain_tells_what_memory_carried(results):
    folder, rows = results
    shown = run("explain", "few", "--db", folder / "m.duckdb").stdout
    assert "projected, transfer guided" in shown and rows["few"]["belief"] in " ".join(
        shown.split()
    )


def test_demonstration_with_the_learner(tmp_path):
    stream = tmp_path / "two.toml"
    write_digits(tmp_path / "a.csv", (0, 1), 30, 0, 0)
    write_digits(tmp_path / "b.csv", (0, 2), 30, 0, 1)
    stream.write_text(
        "\n".join(f'[[problem]]\nsource = "{n}.csv"\ntarget = "digit"\n' for n in "ab")
    )
    result = run(
        "solve",
        "--selector",
        "climb",
        stream,
        "--db",
        tmp_path / "m.duckdb",
        "--learner",
        "remembered",
        "--json",
    )
    scores = [json.loads(line)["score"] for line in result.stdout.splitlines()]
    assert min(scores) > 0.9
