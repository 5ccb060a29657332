r"""Nearest hits and misses: of each sample the nearest of its own class and of any other.

Distances come from matrix products,

.. math:: \|x - z\|_w^2 = \|x\|_w^2 + \|z\|_w^2 - 2 \sum_i w_i^2 x_i z_i,
          \qquad \|z\|_w^2 = \sum_i w_i^2 z_i^2

which are fast and not exact: in n dimensions and with unit roundoff u they are wrong by up to
:math:`\gamma (2 \|z\|_w^2 + \|x\|_w^2)`, :math:`\gamma \approx n u`. Rows that this leaves in
doubt are compared again by their differences in float64, so the answer is that of the plain
definition. Distances that differ only by rounding are equal, and of equals the earlier row
is the nearest.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from metafs.data.typing import Array, Matrix
from metafs.errors import ProblemError

TIE = 1e-12
"""Squared distances whose relative difference is smaller are equal."""

LEAST, MOST = 1e-60, 1e60
"""Where the largest value of a table must lie for squares of squares to be numbers still."""

_CELLS = 2**21  # distances worked on at once

Exact = Callable[[Array, Array], Array]


def check_scale(X: Matrix, method: str) -> None:
    """Refuse values of which squares, and products of a few, are infinite or vanish."""
    largest = float(max(X.max(), -X.min()))
    if largest and not LEAST < largest < MOST:
        raise ProblemError(
            f"the values, of size {largest:.0e}, are too {'small' if largest < 1 else 'large'} "
            f"for {method}, which squares them: scale the features."
        )


def rounding(n_terms: int, dtype: type) -> float:
    """Return gamma: the relative error of a sum of this many products, in any order.

    Examples
    --------
    >>> round(rounding(1000, np.float32), 6)
    6.1e-05
    """
    unit = (n_terms + 16) * float(np.finfo(dtype).eps) / 2
    return unit / max(1 - 2 * unit, 0.1)


def squared_distances(X: Array, one: Array, other: Array, weights: Array | None = None) -> Array:
    """Return the squared distances of pairs of rows, from their differences."""
    found = np.empty(len(one))
    step = max(1, _CELLS // max(X.shape[1], 1))
    for start in range(0, len(one), step):
        apart = X[one[start : start + step]] - X[other[start : start + step]]
        if weights is not None:
            apart *= weights
        found[start : start + step] = np.einsum("ij,ij->i", apart, apart)
    return found


class Groups:
    """The rows of a table ordered by class; a *place* is a row's position in that order.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Classes 0, 1, ..., each of them present.

    Attributes
    ----------
    rows : ndarray of shape (n_samples,)
        The row at each place; rows of one class keep their order.
    places : ndarray of shape (n_samples,)
        The place of each row.
    starts : ndarray of shape (n_classes + 1,)
        Where each class begins, and the end.
    """

    def __init__(self, y: Array) -> None:
        self.rows = np.argsort(y, kind="stable")
        self.places = np.empty_like(self.rows)
        self.places[self.rows] = np.arange(len(y))
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(y))])
        self.first = self.starts[y[self.rows]]
        self.last = self.starts[y[self.rows] + 1]

    def __len__(self) -> int:
        return len(self.rows)

    def nearest(
        self, X: Array, weights: Array | None = None, queries: Array | None = None
    ) -> tuple[Array, Array]:
        """Return the places of the nearest hit and miss of each query, -1 where there is none.

        X is in the order of places, and queries are ascending places; None asks for all.
        """
        queries = np.arange(len(self)) if queries is None else queries
        hits, misses = np.full((2, len(queries)), -1)
        if len(self.starts) == 2:  # one class: without misses hits are of no use
            return hits, misses
        screen = Screen(X, weights)
        for part, low, (begin, end) in screen.blocks(self, queries):

            def exact(query: Array, place: Array, part: slice = part) -> Array:
                return squared_distances(X, queries[part][query], place, weights)

            norms, own, gamma = screen.norms, screen.norms[queries[part]], screen.gamma
            if end - begin > 1:
                inside = low[:, begin:end], norms[begin:end]
                hits[part] = self.closest(*inside, own, gamma, exact, begin)
            low[:, begin:end] = np.inf
            misses[part] = self.closest(low, norms, own, gamma, exact)
        return hits, misses

    def closest(
        self, low: Array, norms: Array, own: Array, gamma: float, exact: Exact, begin: int = 0
    ) -> Array:
        """Return the nearest place of each query, given squared distances up to rounding.

        Parameters
        ----------
        low : ndarray of shape (n_queries, n_places)
            ``(1 - 2 gamma) |z|^2 - 2 <x, z>`` of each query x and place z, infinite where z is
            out of the question.
        norms, own : ndarray of shape (n_places,) and (n_queries,)
            ``|z|^2`` and ``|x|^2``.
        gamma : float
            Relative error of norms and products.
        exact : callable
            Squared distances of queries to places, pair by pair.
        begin : int
            The place of the first column.
        """
        at = np.arange(len(low))
        best = low.argmin(axis=1)
        lowest = low[at, best].astype(np.float64)
        error = gamma * (4.0 * norms[best] + 2.0 * own)
        smallest = np.maximum(lowest + own + error, 0.0)
        upper = (lowest + error + TIE * smallest).astype(low.dtype)
        near = np.flatnonzero(low <= np.nextafter(upper, np.inf, dtype=low.dtype)[:, None])
        query, place = np.divmod(near, low.shape[1])
        place += begin
        ends = np.searchsorted(query, at, side="right")
        starts = np.concatenate([[0], ends[:-1]])
        doubt = (ends - starts > 1) & (gamma * (8.0 * norms.max() + 4.0 * own) > TIE * smallest)
        row = self.rows[place]
        if doubt.any():
            pairs = np.flatnonzero(doubt[query])
            value = np.zeros(len(query))
            value[pairs] = exact(query[pairs], place[pairs])
            least = np.minimum.reduceat(value, starts)
            row = np.where(value <= least[query] * (1.0 + TIE), row, len(self))
        return self.places[np.minimum.reduceat(row, starts)]


class Screen:
    """Squared distances of all rows of a table up to rounding, by one product per block."""

    def __init__(self, X: Array, weights: Array | None = None) -> None:
        centred = X - X.mean(axis=0)
        if weights is not None:
            centred *= weights
        self.gamma = rounding(X.shape[1], np.float64)
        self.norms = np.einsum("ij,ij->i", centred, centred)
        low_norms = (1.0 - 2.0 * self.gamma) * self.norms
        self.right = np.column_stack([centred, low_norms]).T
        self.left = np.column_stack([-2.0 * centred, np.ones(len(X))])

    def blocks(
        self, groups: Groups, queries: Array
    ) -> Iterator[tuple[slice, Array, tuple[int, int]]]:
        """Yield blocks of queries of one class, what `Groups.closest` wants, and the class."""
        step = max(1, _CELLS // len(groups))
        bounds = np.searchsorted(queries, groups.starts)
        for c, (start, stop) in enumerate(pairwise(bounds)):
            for begin in range(start, stop, step):
                part = slice(begin, min(begin + step, stop))
                low = self.left[queries[part]] @ self.right
                low[np.arange(len(low)), queries[part]] = np.inf
                yield part, low, (groups.starts[c], groups.starts[c + 1])
