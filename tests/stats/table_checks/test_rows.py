"""Many classes and shared rows."""

import numpy as np

from metafs.data.problem import Problem
from metafs.stats.table_checks.rows import classes_alike, many_classes, shared_rows


def test_a_class_for_nearly_each_row_is_noted():
    X = np.zeros((30, 1))
    (note,) = many_classes(Problem.of(X, [f"who {j}" for j in range(30)], target="name"))
    assert "the target 'name' has 30 classes in 30 rows" in note and "--target" in note
    assert list(many_classes(Problem.of(X, [f"who {j // 3}" for j in range(30)]))) == []
    assert list(many_classes(Problem.of(X, np.linspace(0, 1, 30)))) == []
    assert list(many_classes(Problem.of(X[:10], [f"who {j}" for j in range(10)]))) == []


def test_classes_written_in_two_ways_are_noted():
    X = np.zeros((6, 1))
    two_ways = Problem.of(X, ["Yes", "yes", "No", "no way", "No  way", "No"], target="paid")
    (note,) = classes_alike(two_ways)
    assert "'paid' has 5 classes, of which only 3 differ" in note
    assert list(classes_alike(Problem.of(X, ["yes", "no", "y es"] * 2))) == []
    assert list(classes_alike(Problem.of(X, np.linspace(0, 1, 6)))) == []


def test_only_other_sources_are_noted():
    problem = Problem.of([[0], [1]], [0, 1], source="b.csv")
    (note,) = shared_rows(problem, ["c.csv", "a.csv", "a.csv"])
    assert note.startswith("some rows are also in 'a.csv' and other sources:")
    assert list(shared_rows(problem, ["b.csv", ""])) == []
