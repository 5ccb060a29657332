r"""Hypothesis margins of samples: how much nearer the own class is than any other.

.. math:: \theta^w(x) = \tfrac12 \bigl(\|x - \mathrm{nearmiss}(x)\|_w
          - \|x - \mathrm{nearhit}(x)\|_w\bigr)

The nearest hit and miss are sought among the other samples, under the same weights. A sample
without hit (the only one of its class) or without miss (there is but one class) has margin 0.

R. Gilad-Bachrach, A. Navot, N. Tishby, "Margin based feature selection - theory and algorithms",
ICML 2004, definition 1.
"""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csc_array, issparse

from metafs.data.typing import Array, Matrix
from metafs_margin.nearest import TIE, Groups, squared_distances

_CELLS = 2**20  # values sorted at once


def theta(hit: Array, miss: Array) -> Array:
    """Return margins from distances; what rounding leaves of a margin that is none is 0.

    Examples
    --------
    >>> theta(np.array([1.0, 0.0, np.inf]), np.array([4.0, 3.0, 1.0]))
    array([1.5, 1.5, 0. ])
    """
    margins = np.zeros(np.shape(hit))
    both = np.isfinite(hit) & np.isfinite(miss)
    np.subtract(miss, hit, out=margins, where=both)
    margins[np.abs(margins) <= TIE * (hit + miss)] = 0.0
    return 0.5 * margins


def margins_of_weights(X: Array, y: Array, w: Array) -> Array:
    """Return the margin of each sample under weights w; y holds classes 0, 1, ..."""
    groups = Groups(y)
    X, w = X[groups.rows][:, w != 0], w[w != 0]
    hit, miss = nearest_distances(groups, X, w)
    return theta(hit, miss)[groups.places]


def nearest_distances(
    groups: Groups, X: Array, weights: Array | None = None, queries: Array | None = None
) -> tuple[Array, Array]:
    """Return the distance of each query to its nearest hit and miss, inf where there is none.

    X, queries and the answer are in the order of places.
    """
    asked = np.arange(len(groups)) if queries is None else queries
    hit, miss = np.full((2, len(asked)), np.inf)
    for distances, found in zip((hit, miss), groups.nearest(X, weights, queries), strict=True):
        there = found >= 0
        pairs = squared_distances(X, asked[there], found[there], weights)
        distances[there] = np.sqrt(pairs)
    return hit, miss


def margins_of_columns(X: Matrix, y: Array) -> Iterator[Array]:
    """Yield blocks of margins, (n_columns, n_samples), in which each column of X stands alone."""
    columns = csc_array(X) if issparse(X) else X
    step = max(1, _CELLS // max(len(y), 1))
    for start in range(0, X.shape[1], step):
        block = columns[:, start : start + step]
        values = (block.toarray() if issparse(block) else block).T
        yield theta(*nearest_on_lines(values, y))


def nearest_on_lines(values: Array, y: Array) -> tuple[Array, Array]:
    """Return the distances to the nearest hit and miss on each line, by sorting it.

    Examples
    --------
    >>> hit, miss = nearest_on_lines(np.array([[0.0, 1.0, 5.0]]), np.array([0, 0, 1]))
    >>> hit, miss
    (array([[ 1.,  1., inf]]), array([[5., 4., 4.]]))
    """
    order = np.argsort(values, axis=1)
    x, label = np.take_along_axis(values, order, axis=1), y[order]
    hit, miss = np.empty((2, *values.shape))
    np.put_along_axis(miss, order, _nearest_of_other_runs(x, label), axis=1)
    grouped = np.argsort(label, axis=1, kind="stable")
    np.put_along_axis(
        hit,
        np.take_along_axis(order, grouped, axis=1),
        _nearest_in_groups(np.take_along_axis(x, grouped, axis=1), np.cumsum(np.bincount(y))),
        axis=1,
    )
    return hit, miss


def _nearest_of_other_runs(x: Array, label: Array) -> Array:
    """Return distances on sorted lines to the ends of the runs of labels on either side."""
    n = x.shape[1]
    change = label[:, 1:] != label[:, :-1]
    edge = np.pad(x, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    before = np.zeros(x.shape, dtype=np.int64)
    np.multiply(change, np.arange(1, n), out=before[:, 1:])
    np.maximum.accumulate(before, axis=1, out=before)
    after = np.full(x.shape, n)
    after[:, :-1][change] = np.nonzero(change)[1] + 1
    after = np.minimum.accumulate(after[:, ::-1], axis=1)[:, ::-1]
    left: Array = x - np.take_along_axis(edge, before, axis=1)
    right: Array = np.take_along_axis(edge, after + 1, axis=1) - x
    return np.asarray(np.minimum(left, right))


def _nearest_in_groups(x: Array, ends: Array) -> Array:
    """Return distances to the nearest of the same group, where x is sorted inside each."""
    gap = np.full((len(x), x.shape[1] + 1), np.inf)
    np.subtract(x[:, 1:], x[:, :-1], out=gap[:, 1:-1])
    gap[:, ends] = np.inf
    return np.minimum(gap[:, :-1], gap[:, 1:])
