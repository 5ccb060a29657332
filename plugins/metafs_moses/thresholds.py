r"""Thresholds: where a column is cut, so that the cuts tell most of the classes.

Of the parts of a column the one is cut next whose best cut gains most information, counted in rows,

.. math:: n H - n_l H_l - n_r H_r

if that is more than chance gives: more than :math:`\log_2 (n - 1) + k \log_2 3` bits for k
classes. Once there is no such part, the largest is cut in its middle: a column that tells nothing
by itself may do so together with others.

U. Fayyad, K. Irani, "Multi-interval discretization of continuous-valued attributes for
classification learning", IJCAI 1993; their bound is a little lower.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, issparse

from metafs.data.typing import Array, Matrix
from metafs_moses.literals import Literals


def literals_of_table(X: Matrix, y: Array, weights: Array, n_thresholds: int) -> Literals:
    """Return the literals of a table: each column cut at most so many times; y holds 0, 1, ..."""
    table = csc_array(X) if issparse(X) else X
    of_class = np.eye(int(y.max(initial=0)) + 1)[y] * weights[:, None]
    cuts, with_missing = list[tuple[int, float]](), list[int]()
    for column in range(X.shape[1]):
        values = table[:, [column]].toarray().ravel() if issparse(table) else table[:, column]
        known = ~np.isnan(values)
        if not known.all():
            with_missing.append(column)
        found = thresholds(values[known], of_class[known], n_thresholds)
        cuts += [(column, threshold) for threshold in found]
    return Literals.of(cuts, with_missing)


def binary_columns(X: Matrix) -> frozenset[int]:
    """Return the columns whose known values are zeros and ones.

    >>> sorted(binary_columns(np.array([[0.0, 2.0], [1.0, np.nan]])))
    [0]
    """
    values = csc_array(X) if issparse(X) else X
    if issparse(values):
        column = np.repeat(np.arange(X.shape[1]), np.diff(values.indptr))
        others = column[~np.isin(values.data, (0.0, 1.0)) & ~np.isnan(values.data)]
    else:
        others = np.flatnonzero(np.any((values != 0) & (values != 1) & ~np.isnan(values), axis=0))
    return frozenset(range(X.shape[1])) - frozenset(others.tolist())


def thresholds(values: Array, of_class: Array, most: int) -> list[float]:
    """Return up to so many thresholds of a column, in ascending order.

    Parameters
    ----------
    values : array of shape (n_rows,)
        Known values.
    of_class : array of shape (n_rows, n_classes)
        The weight of each row in the column of its class, and 0 elsewhere.
    most : int

    Examples
    --------
    >>> thresholds(np.array([1.0, 2.0, 3.0, 9.0]), np.eye(2)[[0, 0, 1, 1]], 1)
    [2.5]
    """
    distinct, inverse = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        return []
    counts = np.zeros((len(distinct) + 1, of_class.shape[1]))
    np.add.at(counts, inverse + 1, of_class)
    below = counts.cumsum(axis=0)
    parts = [_Part.of(below, 0, len(distinct))]
    cuts: list[int] = []
    while parts and len(cuts) < most:
        parts.sort(key=lambda part: (part.gain, part.weight))
        part = parts.pop()
        cuts.append(part.cut)
        ends = (part.start, part.cut), (part.cut, part.stop)
        parts += [_Part.of(below, a, b) for a, b in ends if b - a > 1]
    return [_between(distinct[cut - 1], distinct[cut]) for cut in sorted(cuts)]


@dataclass(frozen=True)
class _Part:
    """A run of values, the place of its next cut, and what that gains, 0 if by chance."""

    start: int
    stop: int
    cut: int
    gain: float
    weight: float

    @classmethod
    def of(cls, below: Array, start: int, stop: int) -> "_Part":
        cuts = np.arange(start + 1, stop)
        left, right = below[cuts] - below[start], below[stop] - below[cuts]
        whole = below[stop] - below[start]
        gains = disorder(whole) - disorder(left) - disorder(right)
        best, n = int(np.argmax(gains)), float(whole.sum())
        if gains[best] > by_chance(n, len(whole)):
            return cls(start, stop, int(cuts[best]), float(gains[best]), n)
        middle = int(np.argmin(np.abs(left.sum(axis=1) - right.sum(axis=1))))
        return cls(start, stop, int(cuts[middle]), 0.0, n)


def by_chance(n: float, n_classes: int) -> float:
    """Return how many bits the best of many cuts of n rows may gain by chance."""
    return float(np.log2(max(n - 1, 1)) + n_classes * np.log2(3.0))


def disorder(counts: Array) -> Array:
    """Return the entropy of the classes times the number of rows, in bits."""
    total = counts.sum(axis=-1)
    logs = np.log2(counts, out=np.zeros_like(counts), where=counts > 0)
    log_total = np.log2(total, out=np.zeros_like(total), where=total > 0)
    return np.asarray(total * log_total - (counts * logs).sum(axis=-1))


def _between(low: float, high: float) -> float:
    """Return a threshold that separates two values, also if there is nothing between them."""
    middle = float(low / 2 + high / 2)
    return middle if low <= middle < high else float(low)
