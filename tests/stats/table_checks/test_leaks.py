"""Leaks: the share that a column explains against a slow reference, and when that is suspicious."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import datasets

from metafs.data.problem import Problem
from metafs.data.readers import ReadOptions, sources
from metafs.stats.table_checks.leaks import explained_by, leaks

RNG = np.random.default_rng(0)


def table(n=200, n_columns=4):
    X = RNG.normal(size=(n, n_columns))
    return X, (X[:, 0] + RNG.normal(size=n) > 0).astype(int)


def slow_nearest(x, y):
    """Predict each row of a fold from the other rows, one by one."""
    order = np.argsort(y, kind="stable")
    predicted = np.empty(len(y))
    for fold in range(5):
        test = order[fold::5]
        train = np.setdiff1d(order, test)
        for row in test:
            distance = np.abs(x[train] - x[row])
            # of two values equally near, the larger one
            nearest = x[train][distance == distance.min()].max()
            predicted[row] = np.bincount(y[train][x[train] == nearest]).argmax()
    return predicted


@pytest.mark.parametrize("seed", range(5))
def test_what_a_column_explains_is_that_of_the_reference(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 60)
    x = np.round(y + rng.normal(scale=0.5, size=60), 1)
    joint = np.zeros((3, 3))
    np.add.at(joint, (y, slow_nearest(x, y).astype(int)), 1 / 60)
    own, theirs = joint.sum(axis=1), joint.sum(axis=0)
    shared = sum(
        joint[i, j] * np.log(joint[i, j] / own[i] / theirs[j])
        for i in range(3)
        for j in range(3)
        if joint[i, j]
    )
    expected = shared / -(own * np.log(own)).sum()
    assert explained_by(x, y, classes=True) == pytest.approx(expected)


def test_a_copy_of_the_target_is_a_leak_and_so_is_a_copy_of_that():
    X, y = table()
    X[:, 2], X[:, 3] = 10 * y, -y
    notes = list(leaks(Problem.of(X, y, feature_names=["a", "b", "closed_at", "refund"])))
    assert ["closed_at" in notes[0], "refund" in notes[1]] == [True, True]
    assert "--drop closed_at" in notes[0]


def test_a_function_of_a_numeric_target_is_a_leak():
    X, _ = table()
    y = X[:, 0] + RNG.normal(size=200)
    X[:, 2] = np.exp(y)
    (note,) = leaks(Problem.of(X, y))
    assert "column 'x2' alone" in note


def test_a_category_that_is_missing_for_one_class_is_a_leak():
    X, y = table()
    X[:, 1] = np.where(y == 1, np.nan, 3.0)
    X[0, 1] = 4.0 if y[0] == 0 else np.nan
    (note,) = leaks(Problem.of(X, y))
    assert "column 'x1' alone" in note


def test_a_leak_is_found_in_a_sparse_table():
    X, y = table()
    X[RNG.random(X.shape) < 0.8] = 0
    X[:, 3] = y * 2.0
    (note,) = leaks(Problem.of(csr_array(X), y))
    assert "column 'x3' alone" in note


def test_a_good_column_an_easy_problem_and_few_rows_are_no_leak():
    X, y = table()
    X[:, 1] = y
    X[:4, 1] = 1 - y[:4]  # wrong of 2 % of the rows
    assert list(leaks(Problem.of(X, y))) == []
    easy = np.column_stack([y + RNG.normal(scale=0.3, size=200) for _ in range(30)])
    easy[:, 7] = y
    assert list(leaks(Problem.of(easy, y))) == []  # the others together know it as well
    assert list(leaks(Problem.of(np.column_stack([X[:40, 0], y[:40]]), y[:40]))) == []


def test_a_table_of_one_column_is_left_alone():
    _, y = table()
    assert list(leaks(Problem.of(y[:, None], y))) == []


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_ordinary_tables_raise_no_alarm(name):
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    assert list(leaks(Problem.of(X, y))) == []


def test_no_pair_of_digits_raises_an_alarm():
    for source in sources(["demo:digits"], ReadOptions()):
        assert list(leaks(source.read())) == []
