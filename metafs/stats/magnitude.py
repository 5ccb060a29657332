"""Columns of very large numbers, brought to a size at which squares and sums stay finite.

Above 2^100 the squares of few numbers, and float32, in which trees keep theirs, are infinite, and
what is computed from them is not a number. Such a column is divided by a power of two, which is
exact: order, bins and what a learner that standardises makes of it stay as they are.
"""

import numpy as np
from scipy.sparse import diags_array, issparse

from metafs.data.typing import Array, Matrix

LARGEST = 2.0**100


def divisors(X: Matrix) -> Array | None:
    """Return the power of two by which to divide each column; None if no column is so large.

    Examples
    --------
    >>> divisors(np.array([[1.0, -(2.0**900)], [2.0, np.nan]])).tolist() == [1, 2.0**900]
    True
    >>> divisors(np.eye(2)) is None
    True
    """
    values = X.data if issparse(X) else X
    with np.errstate(invalid="ignore"):
        largest = max(
            np.fmax.reduce(values, None, initial=0.0), -np.fmin.reduce(values, None, initial=0.0)
        )
    if not LARGEST < largest < np.inf:
        return None
    if issparse(X):
        by_column = np.zeros(X.shape[1])
        np.fmax.at(by_column, X.tocoo().coords[1], np.abs(X.tocoo().data))
    else:
        by_column = np.fmax.reduce(np.abs(X), axis=0, initial=0.0)
    _, exponents = np.frexp(by_column)
    return np.where(by_column > LARGEST, np.ldexp(1.0, exponents - 1), 1.0)


def divided(X: Matrix, by: Array | None) -> Matrix:
    """Return the columns of X divided by these numbers, X itself if there are none."""
    if by is None:
        return X
    return X @ diags_array(1 / by) if issparse(X) else X / by


def of_usual_size(X: Matrix) -> Matrix:
    """Return X with columns of very large numbers scaled down, X itself if it has none.

    Examples
    --------
    >>> of_usual_size(np.array([[1.0, -2.0**1001], [2.0, 2.0**1000]]))
    array([[ 1. , -1. ],
           [ 2. ,  0.5]])
    """
    return divided(X, divisors(X))
