"""Memories that the pages of these tests are drawn from, and a real browser."""

from datetime import datetime

import numpy as np
import pytest

import metafs
from metafs import Problem
from metafs_metadb import MetaDB, NeighbourRow, ProblemRow, RunRow, SelectionRows, TrialRow

NAMES = tuple(f"w{j}" for j in range(12))
HOSTILE = [
    "</script><script>window.hurt = 1</script>",
    "\u202eexe.gnp",
    "x" * 10_000,
    "\"'><img src=x onerror='window.hurt = 1'>",
    "שלום",
    "bell\x07 \x1b[31m\u2028$title ${data}",
    "<!--<script>",
]


def related(number):
    rng = np.random.default_rng(number)
    X = (rng.random((60, 12)) < 0.4).astype(float)
    useful = (number // 3) % 4
    y = np.where(X[:, useful] + X[:, useful + 1] >= 1, "yes", "no")
    return Problem.of(X, y, feature_names=NAMES, name=f"problem {number}")


@pytest.fixture(scope="session")
def solved(tmp_path_factory):
    """A memory of seven solved problems: by search, by choice, and one also without memory."""
    path = tmp_path_factory.mktemp("solved") / "m.duckdb"
    for each in metafs.solve(
        [related(n) for n in range(6)], db=path, space="words", check=2, selector="climb"
    ):
        assert each.status == "solved", each.error
    chosen = {"selector": "auto", "seconds": 30.0, "space": "words", "check": 1}
    for each in metafs.solve([related(6)], db=path, **chosen):
        assert each.status == "solved", each.error
    for each in metafs.solve(
        [related(5)], db=path, space="words", transfer="none", selector="climb"
    ):
        assert each.status == "solved", each.error
    return path


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """A memory whose problems, features and errors have names that would hurt a careless page."""
    path = tmp_path_factory.mktemp("hostile") / "m.duckdb"
    for number in range(len(HOSTILE)):
        record(MetaDB(path), number, HOSTILE[number], HOSTILE)
    failed = ProblemRow("words", "failed one", "f.csv", "print of f", 9, 3, "y")
    run = RunRow("climb", "none", datetime(2026, 1, 2), "0.1", status="failed", error=HOSTILE[0])
    MetaDB(path).record(failed, run)
    return path


def record(db, number, name, names):
    """Record a problem with a curve, weights and neighbours."""
    rng = np.random.default_rng(number)
    weights = rng.normal(size=len(names))
    order = np.argsort(-np.abs(weights))
    rank = np.empty(len(names), int)
    rank[order] = np.arange(1, len(names) + 1)
    near = [NeighbourRow(n, number - n + 1, 0.1 * (number - n + 1)) for n in range(1, number + 1)]
    db.record(
        ProblemRow("words", name, f"{number}.csv", f"print of {number}", 100, len(names), "y"),
        RunRow(
            "auto",
            "guided",
            datetime(2026, 1, 2),
            "0.1.0",
            score=0.7 + 0.01 * ((number * 5) % 7),
            all_features=0.72,
            no_skill=0.5,
            scoring="balanced_accuracy",
            n_selected=3,
            prior_used="guided",
            learner="logistic",
            pipeline={"selector": "infogain", "size": 3, "learner": "logistic"},
        ),
        selections=SelectionRows(
            names, rank=rank, q=np.abs(weights), selected=rank <= 3, weight=weights
        ),
        neighbours=near[-3:],
        trials=[
            TrialRow("infogain", k, "logistic", f, 0.5 + 0.02 * k, 0.1)
            for k in (1, 3)
            for f in (0, 1)
        ],
    )
