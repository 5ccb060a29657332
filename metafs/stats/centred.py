"""Centred columns of a table, dense or sparse, with missing values at the mean."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import maxabs_scale

from metafs.data.typing import Array, Matrix

_CONSTANT = 1e-15  # a variance, in columns of size 1, that is the rounding of sums


class Centred:
    """Columns scaled to similar size and centred; missing values are at the mean.

    Sparse tables stay sparse.

    Attributes
    ----------
    variance : array of shape (n_features,)
        0 for a constant column.

    Examples
    --------
    >>> Centred(np.array([[2.0, 7.0], [0.0, 7.0]])).along(np.array([[1.0, 0.0]]))
    array([[0.5, 0. ]])
    """

    def __init__(self, X: Matrix) -> None:
        self._table = _of_like_size(X)
        self._mean = np.asarray(self._table.mean(axis=0)).ravel()
        self.variance: Array = np.asarray((self._table * self._table).mean(axis=0)).ravel()
        self.variance -= self._mean**2
        self.variance[self.variance < _CONSTANT] = 0.0

    def along(self, rows: Array) -> Array:
        """Return the sums of each column, weighted by each row of `rows`."""
        return np.asarray(rows @ self._table) - np.outer(rows.sum(axis=1), self._mean)


def _of_like_size(X: Matrix) -> Any:
    if np.isnan(X.data if issparse(X) else X).any():
        X = SimpleImputer(keep_empty_features=True).fit_transform(X)
    scaled = maxabs_scale(X)
    return scaled if issparse(X) else scaled - scaled.mean(axis=0)
