r"""Fisher score: how far apart the class means lie, in units of class spread.

.. math:: F_j = \sum_c n_c (\mu_{cj} - \mu_j)^2 \big/ \sum_c n_c \sigma_{cj}^2

Where rows have weights, :math:`n_c`, means and variances count them.

A constant feature scores 0. A feature that differs between classes and never inside one would
score infinity; it gets the finite limit 1/eps, above all other scores.
A numeric target is discretised.

R. O. Duda, P. E. Hart, D. G. Stork, "Pattern Classification", Wiley, 2001.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from metafs.data.matrix import table_and_target
from metafs.data.typing import Array, Matrix
from metafs.plugin.weighted_ranking import WeightedRankingSelector
from metafs.stats.discretise import check_n_bins, discretise_target
from metafs.stats.magnitude import of_usual_size

_ROWS = 1_000_000  # values processed at once, to avoid a second copy of X


def fisher_scores(X: Matrix, y: Array, sample_weight: Array | None = None) -> Array:
    """Return F for each column of X, dense or CSR; y holds classes 0, 1, ..."""
    X, weight = of_usual_size(X), np.ones(len(y)) if sample_weight is None else sample_weight
    n_c = np.bincount(y, sample_weight)
    sums, squares = class_sums(X, y, weight, len(n_c))
    mu_c = sums / n_c[:, None]
    between = (n_c[:, None] * (mu_c - sums.sum(axis=0) / n_c.sum()) ** 2).sum(axis=0)
    within = spread_inside(X, y, n_c, mu_c, sample_weight)
    # A spread that is only rounding error, as of 0.1 three times, counts as 0.
    eps = np.finfo(np.float64).eps
    noise = 100 * len(y) * eps**2 * squares
    within[within <= noise] = 0.0
    between[between <= noise] = 0.0
    scores: Array = np.zeros_like(between)
    np.divide(between, np.maximum(within, eps * between), out=scores, where=between > 0)
    return scores


def class_sums(X: Matrix, y: Array, weight: Array, n_classes: int) -> tuple[Array, Array]:
    """Return the sum of each column inside each class, and the sum of its squares."""
    members = csr_array((weight, (y, np.arange(len(y)))), shape=(n_classes, len(y)))
    sums = members @ X
    if issparse(X):
        of_value = np.repeat(weight, np.diff(X.indptr))
        squares = np.bincount(X.indices, of_value * X.data**2, X.shape[1])
        return sums.toarray(), squares
    return sums, np.einsum("ij,ij->j", X, X) if (weight == 1).all() else weight @ X**2


def spread_inside(
    X: Matrix, y: Array, n_c: Array, mu_c: Array, weight: Array | None = None
) -> Array:
    """Return for each column the sum of squared distances to the mean of the row's class."""
    n_features = X.shape[1]
    if not issparse(X):
        within = np.zeros(n_features)
        step = max(1, _ROWS // max(n_features, 1))
        for start in range(0, len(y), step):
            apart = X[start : start + step] - mu_c[y[start : start + step]]
            if weight is None:
                within += np.einsum("ij,ij->j", apart, apart)
            else:
                within += weight[start : start + step] @ apart**2
        return within
    of_row = np.repeat(y, np.diff(X.indptr))
    cell = of_row * n_features + X.indices
    of_value = None if weight is None else np.repeat(weight, np.diff(X.indptr))
    n_stored = np.bincount(cell, of_value, mu_c.size).reshape(mu_c.shape)
    apart = (X.data - mu_c.ravel()[cell]) ** 2
    if of_value is not None:
        apart *= of_value
    zeros = (n_c[:, None] - n_stored) * mu_c**2
    return np.asarray(np.bincount(X.indices, apart, n_features) + zeros.sum(axis=0))


@dataclass(frozen=True)
class Fisher:
    """Fisher score of every feature.

    Parameters
    ----------
    n_bins : int, default=4
        Number of bins for a numeric target.

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, 4.0], [8.0, 5.0], [9.0, 4.0]])
    >>> Fisher()(X, np.array(["a", "a", "b", "b"]))
    array([64.,  0.])
    """

    n_bins: int = 4

    def __call__(self, X: Any, y: Any) -> Array:
        """Return the Fisher score of every feature; missing values are refused."""
        X, y = table_and_target(X, y, "fisher")
        return fisher_scores(X, discretise_target(y, n_bins=self.n_bins))


class FisherSelector(WeightedRankingSelector):
    """Keep the features with the largest Fisher score.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half.
    n_bins : int, default=4
        Number of bins for a numeric target.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Fisher scores.
    ranking_ : ndarray of shape (n_features,)
        1 for the best.
    n_evaluations_ : int
        The number of features, each scored once.
    stopped_ : str
        Why the search ended.

    Examples
    --------
    >>> X = [[0.0, 5.0], [1.0, 4.0], [8.0, 5.0], [9.0, 4.0]]
    >>> FisherSelector().fit(X, ["a", "a", "b", "b"]).scores_
    array([64.,  0.])
    """

    def __init__(self, n_features_to_select: float | None = None, *, n_bins: int = 4) -> None:
        super().__init__(n_features_to_select)
        self.n_bins = n_bins

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        check_n_bins(self.n_bins)

    def _score_weighted(self, X: Matrix, y: Array, sample_weight: Array | None) -> Array:
        return fisher_scores(X, discretise_target(y, n_bins=self.n_bins), sample_weight)
