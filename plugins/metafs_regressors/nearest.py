"""Nearest rows by squared distance, searched among all rows.

A gradient needs the neighbours of a few rows, over and over and each time under other weights, so
a tree would never be used twice. The order of the neighbours and what the distances of a row have
in common change no weighted mean; only `other_neighbours` computes them.
"""

import numpy as np

from metafs.data.typing import Array

_CELLS = 2**18  # distances worked on at once, so that they stay near the processor
_GROUPS = 128  # columns whose minima bound what is near


def smallest(values: Array, k: int) -> Array:
    """Return the flat positions of the k smallest values of each row, in no order.

    Rounded to single precision, values keep their order or become equal, and the k-th smallest
    among minima of groups of them is at least the k-th smallest of all. So whatever is not above
    it may be among the k, and little else is.

    Examples
    --------
    >>> smallest(np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]]), 2)
    array([[1, 2],
           [4, 5]])
    """
    m, n = values.shape
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32)
    bounding, groups = rounded, max(_GROUPS, 4 * k)
    if n >= 4 * groups:
        bounding = rounded[:, : n - n % groups].reshape(m, -1, groups).min(axis=1)
    bounds = np.sort(bounding, axis=1)[:, k - 1]
    found = np.flatnonzero(rounded <= bounds[:, None])
    if len(found) == m * k:
        return found.reshape(m, k)
    row = found // n
    place = np.arange(len(found)) - np.searchsorted(row, np.arange(m))[row]
    table, position = np.full((m, place.max() + 1), np.inf), np.zeros((m, place.max() + 1), int)
    table[row, place] = values.ravel()[found]
    position[row, place] = found
    return np.take_along_axis(position, np.argpartition(table, k - 1, axis=1)[:, :k], axis=1)


def neighbours(A: Array, B: Array, k: int, own: Array | None = None) -> tuple[Array, Array]:
    """Return the k nearest rows of B for each row of A, in no order, and their distances.

    The distances of a row lack its own squared length, which changes no estimate. ``own`` is the
    row of B that each row of A is itself; it is not a neighbour.
    """
    step = max(1, _CELLS // len(B))
    if len(A) > step:
        cuts = range(step, len(A), step)
        owns = [None] * (len(cuts) + 1) if own is None else np.split(own, cuts)
        parts = [neighbours(A_p, B, k, o) for A_p, o in zip(np.split(A, cuts), owns, strict=True)]
        near, squared = map(np.concatenate, zip(*parts, strict=True))
        return near, squared
    squared = (-2.0 * A) @ B.T
    squared += np.einsum("ij,ij->i", B, B)
    if own is not None:
        squared[np.arange(len(A)), own] = np.inf
    found = smallest(squared, k)
    return found % len(B), squared.take(found)


def other_neighbours(Z: Array, rows: Array, k: int) -> tuple[Array, Array]:
    """Return the k nearest other rows of Z for some of its rows, nearest first, and d_w of each."""
    near, distance = neighbours(Z[rows], Z, k, rows)
    order = np.argsort(distance, axis=1)
    distance = np.take_along_axis(distance, order, axis=1)
    distance += np.einsum("ij,ij->i", Z[rows], Z[rows])[:, None]
    return np.take_along_axis(near, order, axis=1), np.maximum(distance, 0.0)
