"""Laws of learners."""

import pickle
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier, is_regressor

from metafs.data.target import holds_classes
from metafs.data.typing import Array
from metafs.testing.data import planted_classes, planted_numbers


def _tasks(learner: Any) -> list[tuple[Array, Array]]:
    """Return data of the targets that a learner can take: classes, numbers, or both."""
    classes = [] if is_regressor(learner) else [planted_classes(n_samples=200, noise=0.0)]
    numbers = [] if is_classifier(learner) else [planted_numbers(n_samples=200)]
    return [(X[:, :2], y) for X, y in classes + numbers]


def check_it_learns(learner: Any) -> None:
    """Trained on planted data it does better than guessing."""
    for X, y in _tasks(learner):
        prediction = clone(learner).fit(X[::2], y[::2]).predict(X[1::2])
        assert prediction.shape == y[1::2].shape
        if holds_classes(y):
            guessing = np.bincount(y[1::2]).max() / len(y[1::2])
            assert np.mean(prediction == y[1::2]) > guessing + 0.05
        else:
            assert np.mean((prediction - y[1::2]) ** 2) < np.var(y[1::2])


def check_same_answer_twice(learner: Any) -> None:
    """Two fits on the same data predict the same."""
    for X, y in _tasks(learner):
        one, two = (clone(learner).fit(X, y).predict(X) for _ in range(2))
        np.testing.assert_array_equal(one, two)


def check_sparse_is_accepted(learner: Any) -> None:
    """Sparse columns can be learnt from: wide problems stay sparse."""
    for X, y in _tasks(learner):
        prediction = clone(learner).fit(csr_array(X), y).predict(csr_array(X))
        assert prediction.shape == y.shape


def check_pickles(learner: Any) -> None:
    """A fitted learner survives pickling."""
    for X, y in _tasks(learner):
        fitted = clone(learner).fit(X, y)
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


CHECKS = (check_it_learns, check_same_answer_twice, check_sparse_is_accepted, check_pickles)
