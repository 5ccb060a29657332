r"""Ranks of every feature, ready for one matrix product: centred, each of unit length.

With average ranks for equal values, the product of two such vectors is Spearman's correlation:

.. math:: z_j = \frac{R_j - \bar R}{\lVert R_j - \bar R \rVert}, \qquad \rho_{ij} = z_i^\top z_j

A constant feature has no ranks to speak of; its vector is zero.
"""

from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from metafs.data.typing import Array

_BLOCK = 2**16  # values worked on at once, so that a block stays in the cache
_ROWS = 512  # rows turned into columns at once, for the same reason
_TALL = 1000  # samples from which sorting by buckets is the faster way
_BUCKETS = 2**16 - 1


@dataclass(frozen=True, eq=False)
class Ranks:
    """The ranks and the spread of every feature of a table."""

    unit: Array
    """(n_features, n_samples): centred ranks of unit length, zero for a constant feature."""
    spread: Array
    """(n_features,): standard deviation over the largest one, zero for a constant feature."""
    varies: Array
    """(n_features,): whether the feature has two different values."""


def ranks_of(X: Array, *, n_jobs: int | None = None) -> Ranks:
    """Rank the columns of X, in threads if asked to.

    Examples
    --------
    >>> ranks = ranks_of(np.array([[1.0, 5.0, 7.0], [3.0, 3.0, 7.0], [9.0, 1.0, 7.0]]))
    >>> (ranks.unit @ ranks.unit.T).round(3) + 0.0
    array([[ 1., -1.,  0.],
           [-1.,  1.,  0.],
           [ 0.,  0.,  0.]])
    >>> ranks.spread.round(3)
    array([1.  , 0.48, 0.  ])
    """
    n_samples, n_features = X.shape
    unit = np.empty((n_features, n_samples))
    spread, length = np.empty(n_features), np.empty(n_features)
    largest = max(X.max(), -X.min()) or 1.0  # squares of values up to one cannot overflow
    step = max(1, _BLOCK // n_samples)

    def rank_block(start: int) -> None:
        block = slice(start, start + step)
        columns = _columns(X, block)
        ranks = centred_ranks(columns)
        length[block] = np.sqrt(np.einsum("ij,ij->i", ranks, ranks))
        divisor = np.where(length[block] > 0, length[block], 1.0)
        np.divide(ranks, divisor[:, None], out=unit[block])
        spread[block] = (columns / largest).std(axis=1)

    starts = range(0, n_features, step)
    Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(rank_block)(start) for start in starts)
    varies = length > 0
    spread[~varies] = 0.0
    return Ranks(unit, spread / (spread.max() or 1.0), varies)


def centred_ranks(rows: Array) -> Array:
    """Return the ranks inside each row, the average one for equal values, with mean zero.

    Examples
    --------
    >>> centred_ranks(np.array([[0.3, 0.1, 0.3, 0.2]]))
    array([[ 1. , -1.5,  1. , -0.5]])
    """
    n = rows.shape[1]
    order = (_ascending(rows) + np.arange(0, rows.size, n)[:, None]).ravel()
    values = rows.ravel()[order].reshape(rows.shape)
    heads = np.ones(rows.shape, dtype=bool)
    np.not_equal(values[:, 1:], values[:, :-1], out=heads[:, 1:])
    if heads.all():
        in_order = np.tile(np.arange(n) - (n - 1) / 2, len(rows))
    else:
        starts = np.flatnonzero(heads)
        sizes = np.diff(starts, append=rows.size)
        in_order = np.repeat(starts % n + (sizes - n) / 2, sizes)
    ranks = np.empty(rows.size)
    ranks[order] = in_order
    return ranks.reshape(rows.shape)


def _columns(X: Array, block: slice) -> Array:
    """Return columns of X as the rows of an array."""
    columns = np.empty((len(range(X.shape[1])[block]), X.shape[0]))
    for start in range(0, X.shape[0], _ROWS):
        rows = slice(start, start + _ROWS)
        columns[:, rows] = X[rows, block].T
    return columns


def _ascending(rows: Array) -> Array:
    """Return the order that sorts each row."""
    if rows.shape[1] < _TALL:
        return rows.argsort(axis=1)
    order = np.empty(rows.shape, dtype=np.intp)
    for row, in_row in zip(rows, order, strict=True):
        in_row[:] = _ascending_by_buckets(row)
    return order


def _ascending_by_buckets(values: Array) -> Array:
    """Return the order that sorts many values: by buckets of equal width, then inside these.

    Sorting small integers is linear in their number, and a merge sort has little left to do
    with what is nearly sorted. Where a few buckets hold nearly everything, that does not pay.
    """
    low, high = values.min(), values.max()
    if not 1e-300 < high / 2 - low / 2 < 1e300:
        return values.argsort()
    buckets = ((values - low) * (_BUCKETS / (high - low))).astype(np.uint16)
    coarse: Array = buckets.argsort(kind="stable")
    nearly = values[coarse]
    if np.count_nonzero(nearly[1:] < nearly[:-1]) > len(values) // 8:
        return values.argsort()
    return coarse[nearly.argsort(kind="stable")]
