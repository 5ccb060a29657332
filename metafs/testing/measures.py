"""Laws of quality measures."""

import pickle
from typing import Any

import numpy as np

from metafs.plugin.protocols import SetMeasure, SupportsBind
from metafs.testing.data import NAMES, planted_classes


def check_one_finite_score_a_feature(measure: Any) -> None:
    """It gives one finite score for each feature."""
    scores = np.asarray(measure(*planted_classes()))
    assert scores.shape == (len(NAMES),)
    assert np.isfinite(scores).all()


def check_larger_is_better(measure: Any) -> None:
    """A feature that equals the class scores above one that is unrelated to it."""
    X, y = planted_classes()
    X[:, 0] = y
    X[:, 1] = np.arange(len(y)) % 2
    scores = measure(X, y)
    assert scores[0] > scores[1]


def check_permuting_columns_permutes_scores(measure: Any) -> None:
    """The order of the columns does not matter."""
    X, y = planted_classes()
    order = np.random.default_rng(0).permutation(len(NAMES))
    np.testing.assert_allclose(measure(X[:, order], y), np.asarray(measure(X, y))[order])


def check_permuting_rows_changes_nothing(measure: Any) -> None:
    """The order of the samples does not matter."""
    X, y = planted_classes()
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_allclose(measure(X[order], y[order]), measure(X, y), atol=1e-9)


def check_pickles(measure: Any) -> None:
    """It survives pickling."""
    X, y = planted_classes()
    again = pickle.loads(pickle.dumps(measure))
    np.testing.assert_array_equal(again(X, y), measure(X, y))


def check_sets_do_not_care_for_order(measure: Any) -> None:
    """The value of a set does not depend on the order of its features."""
    if isinstance(measure, SetMeasure):
        X, y = planted_classes()
        value = measure.of_set(X, y, [0, 1, 5])
        assert np.isfinite(value)
        assert np.isclose(value, measure.of_set(X, y, [5, 0, 1]))


def check_bound_evaluator_agrees(measure: Any) -> None:
    """The evaluator of ``bind`` gives what ``of_set`` gives, for additions and removals."""
    if isinstance(measure, SupportsBind):
        X, y = planted_classes()
        edits = np.array([[2, 3], [0, 4], [0, 1]])
        found = measure.bind(X, y).of_sets(np.array([0, 1]), edits)
        expected = [measure.of_set(X, y, sorted({0, 1} ^ set(edit))) for edit in edits.tolist()]
        np.testing.assert_allclose(found, expected, atol=1e-12)


CHECKS = (
    check_one_finite_score_a_feature,
    check_larger_is_better,
    check_permuting_columns_permutes_scores,
    check_permuting_rows_changes_nothing,
    check_pickles,
    check_sets_do_not_care_for_order,
    check_bound_evaluator_agrees,
)
