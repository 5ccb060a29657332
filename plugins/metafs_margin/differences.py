r"""Differences between rows, feature by feature, and their distances.

Numbers differ by their distance in units of the feature's range, categories by 0 or 1; a
constant feature never differs:

.. math:: diff_j(x, z) = \frac{|x_j - z_j|}{\max_j - \min_j}
          \quad\text{or}\quad [x_j \neq z_j], \qquad d(x, z) = \sum_j diff_j(x, z)

A missing value stands for a draw V from the known values of its class c, and its differences are
the expected ones: :math:`E_{V \sim c}\, diff_j(x, V)`, or, where both are missing, the mean over
two draws. For categories these are :math:`1 - P(x_j \mid c)` and
:math:`1 - \sum_v P(v \mid c)\, P(v \mid c')`. Where a class has no known value, those of all
classes take their place.

I. Kononenko, "Estimating attributes: analysis and extensions of RELIEF", ECML, 1994.
"""

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from metafs.data.typing import Array
from metafs.stats.sample_weights import unit_range


class Differences:
    """The differences between the rows of one table.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers and codes of categories; NaN is missing.
    y : ndarray of shape (n_samples,)
        Classes 0, 1, ..., of which missing values are draws.
    categorical : sequence of int
        The columns that hold categories.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [5.0, 1.0], [10.0, 2.0]])
    >>> differences = Differences(X, np.array([0, 0, 1]), categorical=[1])
    >>> differences.distances(slice(0, 1), 0, slice(1, 3), 1)
    array([[1.5, 2. ]])
    """

    def __init__(self, X: Array, y: Array, categorical: Sequence[int] = ()) -> None:
        values = unit_range(X)
        for j in categorical:
            values[:, j] = category_codes(X[:, j])
        missing = np.isnan(values)
        values[missing] = 0.0
        varies: Array = np.any(values, axis=0)
        two_valued = varies & ((values == 0) | (values == 1)).all(axis=0)
        in_categories = np.isin(np.arange(X.shape[1]), categorical)
        numbers = varies & ~two_valued & ~in_categories
        many = varies & ~two_valued & in_categories

        def part(of: Array, which: Array) -> Array:
            return np.compress(which, of, axis=1)  # unlike of[:, which], row by row in memory

        self._values = values
        self._many = np.flatnonzero(many)
        self._numbers = values if numbers.all() else part(values, numbers)
        self._categories = part(values, many)
        self._categories[part(missing, many)] = np.nan
        self._signs = (2 * part(values, two_valued) - 1).astype(np.float32)
        self._signs[part(missing, two_valued)] = 0
        holes = varies & missing.any(axis=0)
        self._holes = np.flatnonzero(holes)
        if len(self._holes):
            self._missing = part(missing, holes)
            given = np.where(self._missing, np.nan, part(values, holes))
            self._expected = expected_differences(given, y, in_categories[holes])
            # The difference to a missing value that `distances` uses.
            self._assumed = part(values, holes)
            self._assumed[:, two_valued[holes]] = 0.5
            self._assumed[:, many[holes]] = 1.0

    def distances(self, rows: Array | slice, c: int, others: slice, c_others: int) -> Array:
        """Return the distances of rows, all of class c, to others, all of class c_others."""
        d: Array = cdist(self._numbers[rows], self._numbers[others], "cityblock")
        n_categories, n_signs = self._categories.shape[1], self._signs.shape[1]
        if n_categories:
            d += n_categories * cdist(self._categories[rows], self._categories[others], "hamming")
        if n_signs:  # a sum of whole numbers: exact in single precision too
            d += (n_signs - self._signs[rows] @ self._signs[others].T) / 2
        if len(self._holes):
            hole, hole_others = self._missing[rows], self._missing[others]
            surplus = self._expected[c_others, rows] - self._assumed[rows]
            surplus_others = self._expected[c, others] - self._assumed[others]
            d += surplus @ hole_others.T.astype(np.float64)
            d += hole.astype(np.float64) @ (~hole_others * surplus_others).T
        return d

    def of_pairs(self, rows: Array, c: int, others: Array, c_others: int) -> Array:
        """Return how each row, of class c, differs from its own others, of class c_others.

        Rows has shape (r,) and others (r, k); the differences have shape (r, k, n_features).
        """
        diff: Array = self._values[others]
        diff -= self._values[rows][:, None]
        np.abs(diff, out=diff)
        if len(self._many):
            diff[..., self._many] = np.minimum(diff[..., self._many], 1.0)
        if len(self._holes):
            of_row = self._missing[rows][:, None]
            known = np.where(of_row, self._expected[c, others], diff[..., self._holes])
            of_others = self._expected[c_others, rows][:, None]
            diff[..., self._holes] = np.where(self._missing[others], of_others, known)
        return diff


def category_codes(column: Array) -> Array:
    """Number the known values of a column 0, 1, ...; what is missing stays so.

    Examples
    --------
    >>> category_codes(np.array([7.0, 2.0, np.nan, 7.0]))
    array([ 1.,  0., nan,  1.])
    """
    known = ~np.isnan(column)
    codes = np.full(len(column), np.nan)
    codes[known] = np.unique(column[known], return_inverse=True)[1]
    return codes


def expected_differences(given: Array, y: Array, categorical: Array) -> Array:
    """Return how much each value is expected to differ from a draw of each class.

    Parameters
    ----------
    given : ndarray of shape (n_samples, n_features)
        Values of which some are NaN, and not all of any column.
    y : ndarray of shape (n_samples,)
        Classes 0, 1, ...
    categorical : ndarray of bool, shape (n_features,)
        Which columns hold the codes 0, 1, ... of categories.

    Returns
    -------
    ndarray of shape (n_classes, n_samples, n_features)
        For a missing value, the mean over the draws of its own class.

    Examples
    --------
    >>> given = np.array([[0.0], [np.nan], [1.0], [0.5]])
    >>> expected_differences(given, np.array([0, 0, 1, 1]), np.array([False]))[:, :, 0]
    array([[0.  , 0.  , 1.  , 0.5 ],
           [0.75, 0.75, 0.25, 0.25]])
    """
    n_classes = y.max() + 1
    expected = np.empty((n_classes, *given.shape))
    for j, column in enumerate(given.T):
        known = ~np.isnan(column)
        members = [known & (y == c) for c in range(n_classes)]
        members = [own if own.any() else known for own in members]
        for c, draws in enumerate(members):
            mean = share_of_others if categorical[j] else mean_distance
            of_value = expected[c, :, j]
            of_value[known] = mean(column[known], column[draws])
            for own, of_class in enumerate(members):
                of_value[~known & (y == own)] = of_value[of_class].mean()
    return expected


def mean_distance(x: Array, draws: Array) -> Array:
    """Return the mean of ``|x - v|`` over the draws v, for each x."""
    draws = np.sort(draws)
    sums = np.concatenate([[0.0], np.cumsum(draws)])
    below = np.searchsorted(draws, x)
    total: Array = x * (2 * below - len(draws)) + sums[-1] - 2 * sums[below]
    return total / len(draws)


def share_of_others(codes: Array, draws: Array) -> Array:
    """Return the share of the draws that are another category, for each code."""
    counts = np.bincount(draws.astype(np.int64), minlength=int(codes.max()) + 1)
    return np.asarray(1 - counts[codes.astype(np.int64)] / len(draws))
