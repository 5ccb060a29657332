r"""A random forest with standard deviations of its predictions.

Each tree t puts a row into a leaf with mean :math:`\mu_t` and variance :math:`v_t`. The forest
predicts the mean of the :math:`\mu_t`, with the variance of the mixture of its leaves,

.. math:: c^2 \left( \frac1T \sum_t (v_t + \mu_t^2) - \Big( \frac1T \sum_t \mu_t \Big)^2 \right)

where :math:`c^2` makes the variances right on average for rows that a tree has not seen: it is the
mean squared error of the trees that left a row out of their sample, divided by the mean variance
they give it. c is kept between 1/4 and 4.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.utils.validation import check_is_fitted, validate_data

from metafs.data.parameters import check_at_least
from metafs.data.typing import Array

_LEAST, _MOST = 0.25, 4.0  # of c: few unseen rows may mislead


def leaf_moments(tree: Any, X: Array) -> tuple[Array, Array]:
    """Return mean and variance of the leaf into which each row of X falls."""
    leaves = tree.apply(X)
    return tree.tree_.value[leaves, 0, 0], tree.tree_.impurity[leaves]


class Forest(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """scikit-learn's random forest with standard deviations.

    Parameters
    ----------
    n_estimators : int, default=100
        How many trees.
    min_samples_leaf : int, default=5
        How many rows a leaf has at least: their variance is what a tree knows of the noise.
    max_rows : int, default=10000
        A tree sees at most this many rows, drawn with replacement: more of them cost time in
        proportion and make the forest's mean little better.
    random_state : int, RandomState instance or None, default=None
        The samples of the trees and the columns they try.
    n_jobs : int, default=None
        Over how many threads the trees are spread.

    Attributes
    ----------
    forest_ : RandomForestRegressor
        The fitted forest.
    calibration_ : float
        The factor c.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> map = Forest(random_state=0).fit(X, X[:, 0] > 0.5)
    >>> prediction, std = map.predict([[0.1, 0.5], [0.5, 0.5]], return_std=True)
    >>> prediction[0] < 0.1, std[0] < std[1]
    (np.True_, np.True_)
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        min_samples_leaf: int = 5,
        max_rows: int = 10_000,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_rows = max_rows
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees."""
        check_at_least("n_estimators", self.n_estimators)
        check_at_least("min_samples_leaf", self.min_samples_leaf)
        check_at_least("max_rows", self.max_rows)
        X, y = validate_data(self, X, y, dtype=np.float32, y_numeric=True)
        self.forest_ = RandomForestRegressor(
            self.n_estimators,
            min_samples_leaf=self.min_samples_leaf,
            max_samples=self.max_rows if len(X) > self.max_rows else None,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        ).fit(X, y, sample_weight)
        self.calibration_ = self._calibration(X, y)
        return self

    def _calibration(self, X: Array, y: Array) -> float:
        """Return c, 1 where no row was left out by any tree."""
        n_trees, means, squares = np.zeros((3, len(y)))
        for tree, used in zip(
            self.forest_.estimators_, self.forest_.estimators_samples_, strict=True
        ):
            unseen = np.bincount(used, minlength=len(y)) == 0
            if unseen.any():
                mean, variance = leaf_moments(tree, X[unseen])
                n_trees[unseen] += 1
                means[unseen] += mean
                squares[unseen] += variance + mean**2
        out_of_bag = n_trees > 0
        means, squares = (
            means[out_of_bag] / n_trees[out_of_bag],
            squares[out_of_bag] / n_trees[out_of_bag],
        )
        given = np.maximum(squares - means**2, 0.0).sum()
        error = ((y[out_of_bag] - means) ** 2).sum()
        return float(np.clip(np.sqrt(error / given), _LEAST, _MOST)) if given > 0 else 1.0

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Predict, with ``return_std`` also the standard deviation, noise included."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, reset=False)
        prediction: Array = self.forest_.predict(X)
        if not return_std:
            return prediction
        moments = [leaf_moments(tree, X) for tree in self.forest_.estimators_]
        mean = np.mean([mean for mean, _ in moments], axis=0)
        inside = np.mean([variance + (m - mean) ** 2 for m, variance in moments], axis=0)
        inside = np.maximum(inside, 0.0)  # rounding leaves less than nothing in a pure leaf
        return prediction, self.calibration_ * np.sqrt(inside)
