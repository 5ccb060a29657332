"""Laws of regressors from meta-features to quality."""

import pickle
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from metafs.stats.regression import knows_how_sure
from metafs.testing.data import planted_numbers


def check_it_is_a_regressor(regressor: Any) -> None:
    """It is a scikit-learn regressor."""
    assert is_regressor(regressor)


def check_it_learns(regressor: Any) -> None:
    """It predicts planted qualities better than their mean does."""
    X, y = planted_numbers(n_samples=200)
    prediction = clone(regressor).fit(X[::2, :2], y[::2]).predict(X[1::2, :2])
    assert prediction.shape == y[1::2].shape
    assert np.mean((prediction - y[1::2]) ** 2) < np.var(y[1::2])


def check_same_answer_twice(regressor: Any) -> None:
    """Two fits on the same data predict the same."""
    X, y = planted_numbers()
    one, two = (clone(regressor).fit(X, y).predict(X) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def check_pickles(regressor: Any) -> None:
    """A fitted regressor survives pickling."""
    X, y = planted_numbers()
    fitted = clone(regressor).fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict(X), fitted.predict(X))


def check_standard_deviations(regressor: Any) -> None:
    """One that takes ``return_std`` gives each prediction, the same as without, a finite spread."""
    if knows_how_sure(regressor):
        X, y = planted_numbers()
        fitted = clone(regressor).fit(X[::2], y[::2])
        prediction, std = fitted.predict(X, return_std=True)
        np.testing.assert_array_equal(prediction, fitted.predict(X))
        assert np.shape(std) == prediction.shape
        assert np.isfinite(std).all() and np.min(std) >= 0


CHECKS = (
    check_it_is_a_regressor,
    check_it_learns,
    check_same_answer_twice,
    check_pickles,
    check_standard_deviations,
)
