"""The k nearest rows of every class, without ever holding the distances of all pairs.

The rows are sorted by class and divided into blocks. The distances between two blocks, a tile, are
computed once and used for the rows of both: each row keeps its k nearest rows per class so far.
Equally distant rows are taken in their order in the table. Distances are compared in steps of
2^-36, or wider ones if there are too many rows or features for a distance and a row number to share
53 bits, so that rounding errors do not decide.
"""

from collections.abc import Callable
from itertools import pairwise, product
from math import floor, log2
from threading import Lock

import numpy as np
from joblib import Parallel, delayed

from metafs.data.typing import Array

_SIDE = 256
"""Rows and columns of a tile, at most."""


def k_nearest(
    distances: Callable[[Array, int, slice, int], Array],
    farthest: float,
    y: Array,
    rows: Array,
    k: int,
    *,
    n_jobs: int | None = None,
) -> list[Array]:
    """Return for each class the k nearest of its members to each of the rows, the nearest first.

    Parameters
    ----------
    distances : callable
        ``distances(rows, c, others, c_others)``, of rows of one class to others of one class.
    farthest : float
        No distance is larger.
    y : ndarray of shape (n_samples,)
        Ascending classes 0, 1, ..., each with a member.
    rows : ndarray of int
        Ascending numbers of the rows whose neighbours are sought.
    k : int
        Neighbours sought in each class. Of fewer members all are taken.
    n_jobs : int, default=None
        Threads; the answer does not depend on their number.

    Returns
    -------
    list of ndarray of int
        One array of shape (len(rows), at most k) per class. A row is not its own neighbour: the
        place this leaves empty in a class of at most k members holds -1, at the end.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 5.0, 2.0, 4.0])
    >>> distances = lambda rows, c, others, c_others: abs(x[rows, None] - x[others])
    >>> hits, misses = k_nearest(distances, 5.0, np.array([0, 0, 0, 1, 1]), np.array([0, 2]), k=2)
    >>> hits.tolist(), misses.tolist()
    ([[1, 2], [1, 0]], [[3, 4], [4, 3]])
    """
    m = len(y)
    # A key is a whole number below 2^53: the distance in steps, and then the number of the row.
    steps_of_one = 2.0 ** min(36, 51 - floor(log2(max(farthest, 1.0) * m)))
    kept = [np.full((len(rows), min(k, count)), np.inf) for count in np.bincount(y)]
    kept_lock = Lock()
    mirrored = len(rows) == m

    def key(d: Array, number: Array) -> Array:
        return np.rint(d * steps_of_one) * m + number

    def bound(keys: Array) -> Array:
        return (np.floor(keys[:, -1] / m) + 1) / steps_of_one

    def compete(at: slice, others: slice) -> None:
        c, c_others = int(y[rows[at.start]]), int(y[others.start])
        d = distances(rows[at], c, others, c_others)
        itself = rows[at] - others.start
        inside = np.flatnonzero((itself >= 0) & (itself < d.shape[1]))
        d[inside, itself[inside]] = np.inf
        with kept_lock:
            keys = kept[c_others][at]
            i, j = places(d < bound(keys)[:, None])
            keep_smallest(keys, i, key(d[i, j], j + others.start))
            if mirrored and at != others:
                keys = kept[c][others]
                i, j = places(d < bound(keys))
                keep_smallest(keys, j, key(d[i, j], i + at.start))

    side = min(_SIDE, max(32, m // 8))  # half of a tile on the diagonal is wasted
    tiles = product(blocks(y[rows], side), blocks(y, side))
    Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(compete)(at, others)
        for at, others in tiles
        if not mirrored or at.start <= others.start
    )
    return [row_numbers(np.sort(keys, axis=1), m) for keys in kept]


def blocks(y: Array, length: int) -> list[slice]:
    """Cut ascending classes into slices of one class each, of at most this length."""
    ends = np.cumsum(np.bincount(y)).tolist()
    return [
        slice(start, min(start + length, end))
        for begin, end in pairwise([0, *ends])
        for start in range(begin, end, length)
    ]


def places(mask: Array) -> tuple[Array, Array]:
    """Return the rows and columns of what is true: `np.nonzero`, faster where it is little."""
    return np.divmod(np.flatnonzero(mask), mask.shape[1])


def keep_smallest(kept: Array, row: Array, keys: Array) -> None:
    """Let new keys, each for one row, replace larger ones of the k kept there, the largest last."""
    if not len(row):
        return
    order = np.argsort(row, kind="stable")
    n_new = np.bincount(row, minlength=len(kept))
    place = np.arange(len(row)) - np.repeat(np.cumsum(n_new) - n_new, n_new)
    new = np.full((len(kept), n_new.max()), np.inf)
    new[row[order], place] = keys[order]
    k = kept.shape[1]
    kept[:] = np.partition(np.hstack([kept, new]), k - 1, axis=1)[:, :k]


def row_numbers(keys: Array, m: int) -> Array:
    """Return the numbers of the rows that the keys end with, and -1 for an empty place."""
    found = np.isfinite(keys)
    numbers = np.full(keys.shape, -1, dtype=np.int64)
    numbers[found] = keys[found] % m
    return numbers
