r"""Leaving out whole groups of problems: for memories with few keys, which everybody has.

With few keys there are no short posting lists, and bounding everybody one by one takes time in
proportion to the memory. But then square roots of probabilities are points on a sphere of few
dimensions, and

.. math:: JSD(p, q) \ge 1 - \sum_k \sqrt{p_k q_k} = \tfrac12 \lVert \sqrt p - \sqrt q \rVert^2

Related problems lie close together. Each belongs to the ball of its nearest centre; a ball with
centre c and radius r holds nobody nearer to q than |c - q| - r, so most balls stay shut.
"""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from metafs_metadb.divergence import Best, Distributions, Floats, Ints, spans
from metafs_metadb.hellinger import rounding

Points = NDArray[np.float32]

MOST_KEYS = 512
FEWEST_PROBLEMS = 2048
MOST_OPENED = 1 / 16  # of all problems; beyond that, bounding everybody is cheaper
N_SAMPLE = 8192
N_ROUNDS = 2  # of k-means; better centres only save time
N_PROBES = 16
CHUNK = 2048
FEW = 1024  # rows of a product so small that BLAS starts no threads for it
# Squared distances are at most 4 and come from products of at most MOST_KEYS terms.
SLACK = 4 * rounding(MOST_KEYS)


class Balls:
    """Problems grouped around centres; about as many groups as members in each."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self._centres = arrays["ball_centres"]
        self._rows = arrays["ball_rows"]
        self._sizes = arrays["ball_sizes"]
        self._radius = arrays["ball_radius"]
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._squares = np.einsum("ij,ij->i", self._centres, self._centres)

    @classmethod
    def build(cls, rows: Distributions, n_keys: int) -> Self:
        """Find centres and let each problem belong to its nearest."""
        n = len(rows)
        n_balls = max(int(np.sqrt(n)), 1)
        roots = rows.roots(n_keys)
        rng = np.random.default_rng(0)
        sample = np.sort(rng.choice(n, min(n, N_SAMPLE), replace=False))
        centres = _centres(roots[sample], n_balls, rng)
        ball, lengths = _nearest_centre(roots, centres)
        radius = np.zeros(n_balls)
        np.maximum.at(radius, ball, lengths)
        arrays: dict[str, NDArray[Any]] = {
            "ball_centres": centres,
            "ball_rows": np.argsort(ball, kind="stable"),
            "ball_sizes": np.bincount(ball, minlength=n_balls),
            "ball_radius": radius,
        }
        return cls(arrays)

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return all that a search needs, to be written down."""
        return self._arrays

    def search(
        self, keys: Ints, q: Floats, best: Best, evaluate: Callable[[Ints], None]
    ) -> Ints | None:
        """Have everything evaluated that may belong to the best.

        Returns None when that is done, or the rows evaluated so far when too many balls would
        have to be opened.
        """
        root = np.zeros(self._centres.shape[1], np.float32)
        root[keys] = np.sqrt(q)
        mass = float(q.sum())
        squares = self._squares + mass - 2 * (self._centres @ root)
        to_centre = np.sqrt(np.maximum(squares - SLACK, 0.0))
        order = np.argsort(to_centre, kind="stable")
        enough = int(np.searchsorted(np.cumsum(self._sizes[order]), best.k + N_PROBES))
        first = order[: enough + 1]
        members = self._members(first)
        probes, rest = np.split(members, [4 * (best.k + N_PROBES)])
        evaluate(probes)
        # |sqrt p - sqrt q|^2 <= 2 JSD - (1 - mass): keys nobody here has keep q off alike.
        reach = np.sqrt(np.maximum(2 * best.to_beat - (1 - mass) + SLACK, 0.0)) + SLACK
        hopeful = np.setdiff1d(np.flatnonzero(to_centre - self._radius <= reach), first)
        if self._sizes[hopeful].sum() > MOST_OPENED * len(self._rows):
            return probes
        evaluate(np.concatenate([rest, self._members(hopeful)]))
        return None

    def _members(self, balls: Ints) -> Ints:
        return np.asarray(self._rows[spans(self._starts[balls], self._sizes[balls])])


def _centres(roots: csr_array, n_balls: int, rng: np.random.Generator) -> Points:
    """Return centres: points as far from each other as can be, then rounds of k-means."""
    n = roots.shape[0]
    centres = _far_apart(roots.toarray(), n_balls, int(rng.integers(n)))
    for _ in range(N_ROUNDS):
        ball, _ = _nearest_centre(roots, centres)
        members = csr_array((np.ones(n, np.float32), (ball, np.arange(n))), (n_balls, n))
        counts = np.bincount(ball, minlength=n_balls)[:, np.newaxis]
        means = (members @ roots).toarray() / np.maximum(counts, 1)
        centres = np.asarray(np.where(counts > 0, means, centres), np.float32)
    return centres


def _far_apart(points: Points, n_chosen: int, first: int) -> Points:
    """Return points of which each is the farthest from those before it: no group is missed."""
    chosen = [first]
    nearness = np.full(len(points), -1.0, np.float32)
    while len(chosen) < n_chosen:
        for begin in range(0, len(points), FEW):
            part = slice(begin, begin + FEW)
            np.maximum(nearness[part], points[part] @ points[chosen[-1]], out=nearness[part])
        chosen.append(int(np.argmin(nearness)))
    return points[chosen]


def _nearest_centre(roots: csr_array, centres: Points) -> tuple[Ints, Floats]:
    """Return for each row the number of its nearest centre, and how far that is."""
    squares = np.einsum("ij,ij->i", centres, centres)
    balls, lengths = [], []
    for begin in range(0, roots.shape[0], CHUNK):
        some = roots[begin : begin + CHUNK].toarray()
        ball = np.argmin(squares - 2 * (some @ centres.T), axis=1)
        balls.append(ball)
        lengths.append(np.linalg.norm(some - centres[ball], axis=1))
    return np.concatenate(balls), np.concatenate(lengths)
