"""The wrapper on what it cannot score, and on what it only just can."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from metafs.errors import ProblemError, UsageError
from metafs_climb import CVAccuracy


def some(n=60):
    rng = np.random.default_rng(0)
    return (rng.random((n, 12)) < 0.3).astype(float), np.arange(n) % 2


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda: CVAccuracy(n_folds=1), "n_folds must be at least 2"),
        (lambda: CVAccuracy(scoring="r2"), "give accuracy or balanced_accuracy"),
        (lambda: CVAccuracy(GaussianNB).of_set(*some(), [0]), "give a name such as logistic"),
        (lambda: CVAccuracy(7).of_set(*some(), [0]), "give a name such as logistic"),
        (lambda: CVAccuracy("logistik").of_set(*some(), [0]), "did you mean logistic"),
        (lambda: CVAccuracy(Ridge()).of_set(*some(), [0]), "predicts numbers, but the target"),
        (
            lambda: CVAccuracy(GaussianNB()).of_set(some()[0], np.linspace(0, 1, 60), [0]),
            "predicts classes, but the target holds numbers",
        ),
    ],
)
def test_a_wrong_parameter_is_a_sentence(wrong, sentence):
    with pytest.raises(UsageError, match=sentence):
        wrong()


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([[0.0], [1.0], [2.0]], [0, 1, 1], "cannot cut 3 rows"),
        ([[0.0], [1.0], [2.0], [4.0]], [1, 1, 1, 1], "only one class"),
        ([[0.0], [np.inf], [2.0], [4.0]], [1, 0, 1, 0], "infinite"),
    ],
)
def test_a_problem_without_folds_is_a_sentence(X, y, sentence):
    with pytest.raises(ProblemError, match=sentence):
        CVAccuracy().bind(X, y)


def test_what_a_learner_mutters_about_constant_columns_is_not_passed_on():
    X, y = np.full((20, 1), 3.0), np.arange(20) % 2
    assert CVAccuracy(GaussianNB()).of_set(X, y, [0]) == 0.5


def test_a_class_of_one_row_is_borne():
    X, y = some(20)
    y[:] = np.arange(20) % 2
    y[0] = 2
    assert 0 <= CVAccuracy().of_set(X, y, [0, 1]) <= 1
    with pytest.raises(ProblemError, match="class '1' has 1 row"):
        CVAccuracy().of_set(X, (y == 2).astype(int), [0])
