r"""How much two rows differ, feature by feature, and how far apart they lie.

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

from metafs.sample_weights import unit_range
from metafs.typing import Array


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
        many = np.flatnonzero(in_categories & varies & ~two_valued)
        numbers = varies & ~two_valued & ~in_categories

        self._values = values
        self._many = many
        self._numbers = values if numbers.all() else values[:, numbers]
        self._set_agreement(missing, np.flatnonzero(two_valued))
        self._holes = np.flatnonzero(missing.any(axis=0) & varies)
        if len(self._holes):
            given = np.where(missing, np.nan, values)[:, self._holes]
            self._expected = expected_differences(given, y, in_categories[self._holes])
            self._missing = missing[:, self._holes]
            assumed = values[:, self._holes]
            assumed[:, two_valued[self._holes]] = 0.5
            assumed[:, np.isin(self._holes, many)] = 1.0
            self._surplus = self._expected - assumed

    def _set_agreement(self, missing: Array, two_valued: Array) -> None:
        """Code features of few values so that a product of rows counts agreements, exactly.

        Two values become 1 and -1, whose product halved is ½ where rows agree and -½ where they
        differ; more become indicators. A missing value is 0 throughout.
        """
        signs = 2 * self._values[:, two_valued] - 1
        signs[missing[:, two_valued]] = 0
        indicators = [
            (self._values[:, [j]] == np.arange(self._values[:, j].max() + 1)) & ~missing[:, [j]]
            for j in self._many
        ]
        self._right = np.hstack([signs, *indicators], dtype=np.float32, casting="same_kind")
        self._left = self._right.copy()
        self._left[:, : len(two_valued)] /= 2
        self._most_agreement = len(two_valued) / 2 + len(self._many)

    def distances(self, rows: Array | slice, c: int, others: slice, c_others: int) -> Array:
        """Return the distances of rows, all of class c, to others, all of class c_others."""
        if self._numbers.shape[1]:
            d: Array = cdist(self._numbers[rows], self._numbers[others], "cityblock")
        else:
            d = np.zeros((len(self._left[rows]), len(self._left[others])))
        if self._right.shape[1]:
            d += self._most_agreement - self._left[rows] @ self._right[others].T
        if len(self._holes):
            known = ~self._missing[others]
            d += self._surplus[c_others, rows] @ (~known).T.astype(np.float64)
            d += self._missing[rows].astype(np.float64) @ (known * self._surplus[c, others]).T
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
