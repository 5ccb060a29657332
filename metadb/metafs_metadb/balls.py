r"""Search by balls on the Hellinger sphere: for memories where every key is in many problems.

Square roots of probabilities are points on the unit sphere, and they bound the divergence:

.. math:: JSD(p, q) \ge 1 - \sum_k \sqrt{p_k q_k} = \tfrac12 \lVert \sqrt p - \sqrt q \rVert^2

(term by term, as the binary entropy H(t) is at most 2 sqrt(t (1-t))). A rotation onto principal
axes, cut after the first h, leaves the length of the remaining part; these h + 1 numbers are
never further apart than the points. Problems lie in balls around centres: a ball with centre c
and radius r has nobody nearer than |c - q| - r, so most balls are never opened, and of the opened
ones only the problems within sqrt(2 JSD) of the k-th best are evaluated exactly.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from metafs_metadb.divergence import Best, Distributions, Floats, Ints, spans

Points = NDArray[np.float32]

MOST_AXES = 96
N_SAMPLE = 8192
N_ROUNDS = 4  # of k-means; better centres only save time
N_PROBES = 32
CHUNK = 4096  # rows a product: small enough that BLAS starts no threads for it
SLACK = 2e-5  # single precision, and probabilities that sum to one only almost


class Balls:
    """Problems as points, kept ball by ball."""

    def __init__(self, rows: Distributions, n_keys: int) -> None:
        n = len(rows)
        roots = csr_array(
            (np.sqrt(rows.p).astype(np.float32), rows.keys, rows.starts), shape=(n, n_keys)
        )
        rng = np.random.default_rng(0)
        sample = np.sort(rng.choice(n, min(n, N_SAMPLE), replace=False))
        self._axes = _principal_axes(roots[sample].toarray())
        points = np.vstack(
            [self._place(roots[i : i + CHUNK].toarray()) for i in range(0, n, CHUNK)]
        )
        n_balls = max(int(np.sqrt(n)), 1)
        self._centres = _centres(points[sample], n_balls, rng)
        ball = _nearest_centre(points, self._centres)
        self._row = np.argsort(ball, kind="stable")
        self._points = points[self._row]
        self._starts = np.searchsorted(ball[self._row], np.arange(n_balls + 1))
        lengths = np.linalg.norm(self._points - self._centres[ball[self._row]], axis=1)
        self._radius = np.zeros(n_balls)
        np.maximum.at(self._radius, ball[self._row], lengths)

    def search(self, keys: Ints, q: Floats, best: Best, evaluate: Callable[[Ints], None]) -> None:
        """Offer `best` every problem that may belong to it."""
        root = np.zeros(len(self._axes), np.float32)
        root[keys] = np.sqrt(q)
        # Keys that nobody here has keep q away from every problem alike.
        foreign = max(1.0 - float(q.sum()), 0.0)
        point = self._place(root[np.newaxis])[0]
        to_centre = np.linalg.norm(self._centres - point, axis=1)
        at_least = np.maximum(to_centre - self._radius, 0.0)
        sizes = np.diff(self._starts)
        by_centre = np.argsort(to_centre, kind="stable")
        n_first = int(np.searchsorted(np.cumsum(sizes[by_centre]), best.k + N_PROBES)) + 1
        opened = by_centre[:n_first]
        self._open(opened, point, foreign, best, evaluate)
        reach = np.sqrt(max(2 * best.to_beat - foreign, 0.0) + SLACK) + SLACK
        hopeful = np.flatnonzero((at_least <= reach) & (sizes > 0))
        self._open(np.setdiff1d(hopeful, opened), point, foreign, best, evaluate)

    def _open(
        self,
        balls: Ints,
        point: Points,
        foreign: float,
        best: Best,
        evaluate: Callable[[Ints], None],
    ) -> None:
        """Evaluate what may be near in these balls, nearest first."""
        places, squares = self._squares(np.sort(balls), point)
        hopeful = np.flatnonzero(squares + foreign - SLACK <= 2 * best.to_beat)
        order = hopeful[np.argsort(squares[hopeful])]
        begin, step = 0, best.k + N_PROBES
        while begin < len(order):
            if squares[order[begin]] + foreign - SLACK > 2 * best.to_beat:
                break
            evaluate(self._row[places[order[begin : begin + step]]])
            begin, step = begin + step, 2 * step

    def _squares(self, balls: Ints, point: Points) -> tuple[Ints, Points]:
        """Return the places of the problems in these balls, and their squared lengths to q."""
        if not len(balls):
            return np.empty(0, np.int64), np.empty(0, np.float32)
        # Neighbouring balls are one stretch of memory, and one product.
        gaps = np.flatnonzero(np.diff(balls) > 1)
        begins = self._starts[balls[np.append(0, gaps + 1)]]
        ends = self._starts[balls[np.append(gaps, -1)] + 1]
        products = [
            self._points[i : min(i + CHUNK, end)] @ point
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
            for i in range(begin, end, CHUNK)
        ]
        squares = 1 + point @ point - 2 * np.concatenate(products)
        return spans(begins, ends - begins), squares

    def _place(self, roots: Points) -> Points:
        heads = roots @ self._axes
        squares = np.einsum("ij,ij->i", roots, roots) - np.einsum("ij,ij->i", heads, heads)
        return np.column_stack([heads, np.sqrt(np.maximum(squares, 0.0))])


def _principal_axes(roots: Points) -> Points:
    """Return the directions along which the points differ most, as columns."""
    _, vectors = np.linalg.eigh(roots.T @ roots)
    return np.ascontiguousarray(vectors[:, ::-1][:, :MOST_AXES])


def _centres(points: Points, n_balls: int, rng: np.random.Generator) -> Points:
    """Return the centres that a few rounds of k-means end with."""
    centres = points[rng.choice(len(points), n_balls, replace=False)]
    for _ in range(N_ROUNDS):
        ball = _nearest_centre(points, centres)
        members = csr_array(
            (np.ones(len(points), np.float32), (ball, np.arange(len(points)))),
            shape=(n_balls, len(points)),
        )
        counts = np.bincount(ball, minlength=n_balls)[:, np.newaxis]
        centres = np.where(counts > 0, members @ points / np.maximum(counts, 1), centres)
        centres = centres.astype(np.float32)
    return centres


def _nearest_centre(points: Points, centres: Points) -> Ints:
    squares = np.einsum("ij,ij->i", centres, centres)
    found: list[NDArray[Any]] = [
        np.argmin(squares - 2 * (points[i : i + CHUNK] @ centres.T), axis=1)
        for i in range(0, len(points), CHUNK)
    ]
    return np.concatenate(found)
