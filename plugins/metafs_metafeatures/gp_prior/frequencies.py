r"""Features in the frequency domain of the meta-features, without the high frequencies.

If weights are a function of the meta-features that has period :math:`T_r` and no frequency above
:math:`B_r` in each of them, they are a sum of few fixed functions, and so are the products with a
row of the table:

.. math:: w_j = \sum_{f} a_f \cos(2 \pi f \cdot u_j) + b_f \sin(2 \pi f \cdot u_j), \qquad
          w \cdot x = \sum_f a_f \tilde x_f + b_f \tilde x'_f, \quad
          \tilde x_f = \sum_j x_j \cos(2 \pi f \cdot u_j)

over the frequencies :math:`f_r = n_r / T_r` with whole :math:`|n_r| \le B_r T_r`, of which f and -f
are the same. There are :math:`\prod_r (2 \lfloor B_r T_r \rfloor + 1)` columns instead of as many
as there are features, and this is also the bound of theorem 2 on the VC-dimension.

"This dimensionality reduction is different from principle component analysis, since it is not based
on the joint statistics of the features but on a fixed prior information (the meta-features)."
E. Krupka, N. Tishby, "Incorporating prior knowledge on features into learning", AISTATS 2007,
section 4.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from metafs.data.checks import checked_meta_features
from metafs.data.parameters import check_between
from metafs.data.typing import Array
from metafs.errors import UsageError

MOST_COLUMNS = 20_000


def frequencies(bandwidths: Sequence[float], periods: Sequence[float]) -> Array:
    """Return one of each pair of opposite frequencies, of shape (n, k), the lowest first.

    Examples
    --------
    >>> frequencies([0.1, 0.0], [20.0, 5.0])
    array([[0.  , 0.  ],
           [0.05, 0.  ],
           [0.1 , 0.  ]])
    """
    most = [int(np.floor(b * t + 1e-9)) for b, t in zip(bandwidths, periods, strict=True)]
    n = int(np.prod([2.0 * m + 1 for m in most]))
    if n > MOST_COLUMNS:
        raise UsageError(
            f"these bandwidths leave {n:,} columns, at most {MOST_COLUMNS:,} can be: lower them."
        )
    whole = np.array(list(product(*(range(-m, m + 1) for m in most))))
    first = [next((each for each in row if each), 0) >= 0 for row in whole.tolist()]
    found = whole[first] / np.asarray(periods, dtype=np.float64)
    return np.asarray(found[np.lexsort((*found.T[::-1], (found**2).sum(axis=1)))])


class FrequencyReduction(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # no types there
    """Replace features by low frequencies of them in the space of their meta-features.

    Parameters
    ----------
    bandwidth : float or sequence of float, default=0.1
        The highest frequency that is kept in each meta-feature, in cycles to a unit of it.
    period : float or sequence of float, default=None
        The period in each meta-feature; None is twice its range, so that a function need not be the
        same at both ends.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_frequencies, k)
        The frequencies.
    basis_ : ndarray of shape (n_features, n_columns)
        Cosines, then sines without that of frequency 0, at the meta-features of each feature.

    Notes
    -----
    A meta-feature that is unknown (NaN) is taken to be the mean of the known ones.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(5, 100))
    >>> position = np.arange(100.0)[:, None]
    >>> low = FrequencyReduction(0.02).fit(X, meta_features=position)
    >>> low.transform(X).shape
    (5, 7)
    """

    def __init__(self, bandwidth: Any = 0.1, *, period: Any = None) -> None:
        self.bandwidth = bandwidth
        self.period = period

    def fit(self, X: Any, y: Any = None, *, meta_features: Any = None) -> Self:
        """Compute the basis; X is looked at for its width only.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The table.
        y : ignored
            As in scikit-learn.
        meta_features : array-like of shape (n_features, k), default=None
            Properties of the features; None is the number of the column.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        U, _ = checked_meta_features(meta_features, (), X.shape[1], "frequency reduction")
        if U is None:
            U = np.arange(X.shape[1], dtype=np.float64)[:, None]
        known = ~np.isnan(U)
        mean = np.where(known, U, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        U = np.where(known, U, mean)
        ranges = np.ptp(U, axis=0)
        periods = self._one_each("period", self.period, 2 * np.where(ranges > 0, ranges, 1.0))
        bandwidths = self._one_each("bandwidth", self.bandwidth, np.zeros(len(ranges)))
        self.frequencies_ = frequencies(bandwidths.tolist(), periods.tolist())
        angles = 2 * np.pi * U @ self.frequencies_.T
        self.basis_ = np.hstack([np.cos(angles), np.sin(angles[:, 1:])])
        return self

    def transform(self, X: Any) -> Array:
        """Return the low frequencies of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return np.asarray(safe_sparse_dot(X, self.basis_, dense_output=True))

    def weights(self, coef: Any) -> Array:
        """Return the weights of the features for weights of what `transform` returns."""
        check_is_fitted(self)
        return np.asarray(coef @ self.basis_.T)

    def _one_each(self, name: str, given: Any, default: Array) -> Array:
        if given is None:
            return default
        values = np.asarray(given, dtype=np.float64)
        for value in values.ravel().tolist():
            if name == "period" or value != 0:
                check_between(name, value)
        if values.shape not in ((), default.shape):
            raise UsageError(f"give one {name}, or one for each of {len(default)} meta-features.")
        return np.array(np.broadcast_to(values, default.shape))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
