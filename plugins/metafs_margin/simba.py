r"""Simba: weights of features by stochastic gradient ascent over the margin.

.. math:: \Delta_i = \tfrac12 \left(
          \frac{(x_i - \mathrm{nearmiss}(x)_i)^2}{\|x - \mathrm{nearmiss}(x)\|_w}
          - \frac{(x_i - \mathrm{nearhit}(x)_i)^2}{\|x - \mathrm{nearhit}(x)\|_w}
          \right) w_i, \qquad w \leftarrow w + u'(\theta^w(x)) \, \Delta

for T samples x, one after the other, with the nearest neighbours under w. At the end
:math:`w \leftarrow w^2 / \|w^2\|_\infty`. With the linear utility :math:`u' = 1`. Other utilities
see the margin under :math:`w / \|w\|_\infty`, so that a step does not depend on the length of w,
as the published one does not. The ascent is repeated from several starting points, and of its
results the one with the largest e(w) is kept.

R. Gilad-Bachrach, A. Navot, N. Tishby, "Margin based feature selection - theory and algorithms",
ICML 2004, algorithm 2; several starting points as in section 5.2, utilities as in section 6.

Where the paper leaves room: a term with a zero distance (equal rows of different classes) is 0, its
limit. The zero-one utility has no slope, so steps are made only on rows without a positive margin,
along the linear slope, and the restart with the most positive margins is kept. Only the first of
several restarts begins at the prior's weights; these have a floor, because steps are in proportion
to the weight and a weight of zero stays zero.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy.linalg.blas import sgemv
from sklearn.utils import check_random_state

from metafs.data.matrix import dense
from metafs.data.parameters import check_at_least
from metafs.data.typing import Array, Matrix
from metafs.plugin.prior import Prior
from metafs.plugin.ranking import RankingFromPrior
from metafs.stats.discretise import discretise_target
from metafs_margin.nearest import TIE, Groups, check_scale, rounding
from metafs_margin.relief import picks
from metafs_margin.theta import nearest_distances, theta
from metafs_margin.utility import Utility

FLOOR = 0.3
"""The starting weight of a feature without expectation; a weight of zero would stay zero."""

_UNDERFLOW = 1e-30  # beyond what float32 loses of a sum of squares below 1
_IN_CACHE = 2**17  # values of a table that are multiplied by several vectors before the next


def products(table: Array, vectors: Array) -> Array:
    """Return each vector times a table of float32, which is read from memory once for all."""
    found = np.zeros((len(vectors), table.shape[1]), dtype=np.float32)
    n_rows = max(1, _IN_CACHE // table.shape[1]) if len(vectors) > 1 else len(table)
    for start in range(0, len(table), n_rows):
        block = table[start : start + n_rows].T
        for each, vector in zip(found, vectors[:, start : start + n_rows], strict=True):
            each[:] = sgemv(1.0, block, vector, beta=1.0, y=each, overwrite_y=1)
    return found


class WeightedSearch:
    """Nearest hits and misses under weights that change from step to step.

    Several walks, each with its own sample and its own weights, are asked about at once, because
    reading the table is what costs: two single-precision products serve all of them. What they
    leave in doubt is decided in double precision.
    """

    def __init__(self, X: Array, groups: Groups) -> None:
        self.X, self.groups = X, groups
        centred = X - X.mean(axis=0)
        centred /= np.abs(centred).max() or 1.0
        self.columns = np.ascontiguousarray(centred.T, dtype=np.float32)
        self.squares = self.columns**2
        self.gamma = rounding(X.shape[1], np.float32)

    def nearest(self, places: Array, weights: Array) -> Iterator[tuple[int, int]]:
        """Yield the nearest hit and miss of each place, each under its own row of weights."""
        v = ((weights / np.abs(weights).max(axis=1, keepdims=True)) ** 2).astype(np.float32)
        norms = products(self.squares, v)
        low = products(self.columns, -2.0 * v * self.columns[:, places].T)
        low += np.float32(1.0 - 2.0 * self.gamma) * norms
        for place, w, row, norm in zip(places, weights, low, norms, strict=True):
            yield self._decide(place, w, row, norm)

    def _decide(self, place: int, w: Array, low: Array, norms: Array) -> tuple[int, int]:
        begin, end = self.groups.first[place], self.groups.last[place]
        low[place] = np.inf
        hit = self._closest(place, w, low, norms, slice(begin, end))
        low[begin:end] = np.inf
        return hit, self._closest(place, w, low, norms, slice(0, len(low)))

    def _closest(self, place: int, w: Array, low: Array, norms: Array, inside: slice) -> int:
        """Do for one place what `Groups.closest` does for many."""
        best = inside.start + low[inside].argmin()
        error = self.gamma * (4.0 * float(norms[best]) + 2.0 * float(norms[place])) + _UNDERFLOW
        upper = np.nextafter(np.float32(float(low[best]) + 1.01 * error), np.float32(np.inf))
        near = inside.start + np.flatnonzero(low[inside] <= upper)
        if len(near) > 1:
            squared = (self.X[near] - self.X[place]) ** 2 @ w**2
            near = near[squared <= (1.0 + TIE) * squared.min()]
            near = near[[self.groups.rows[near].argmin()]]
        return int(near[0])


def step(x: Array, hit: Array, miss: Array, w: Array, utility: Utility) -> Array:
    """Return what one sample adds to the weights; a neighbour at distance 0 has no part in it.

    Examples
    --------
    >>> x, hit, miss = np.array([0.0, 0.0]), np.array([0.0, 2.0]), np.array([4.0, 3.0])
    >>> step(x, hit, miss, np.ones(2), Utility())
    array([ 1.6, -0.1])
    """
    to_hit, to_miss = (x - hit) ** 2, (x - miss) ** 2
    d_hit, d_miss = np.sqrt((to_hit * w**2).sum()), np.sqrt((to_miss * w**2).sum())
    delta = np.zeros_like(w)
    if d_miss > 0:
        delta += to_miss / d_miss
    if d_hit > 0:
        delta -= to_hit / d_hit
    delta *= 0.5 * w
    if utility.name != "linear":
        delta *= utility.slope(theta(d_hit, d_miss) / np.abs(w).max())
    return delta


def ascend(search: WeightedSearch, w: Array, paths: Array, utility: Utility) -> Array:
    """Return the weights of each walk after its path, (n_walks, n_steps) places.

    Samples that have no hit or no miss are passed over.
    """
    groups, w = search.groups, w.copy()
    has_margin = (groups.last - groups.first > 1) & (len(groups.starts) > 2)
    for places in paths.T:
        walks = np.flatnonzero(has_margin[places])
        if len(walks):
            found = search.nearest(places[walks], w[walks])
            for walk, (hit, miss) in zip(walks, found, strict=True):
                x = search.X[places[walk]], search.X[hit], search.X[miss]
                w[walk] += step(*x, w[walk], utility)
    return w


def starting_weights(prior: Prior | None, n_walks: int, n_features: int) -> Array:
    """Return ones, but for the first walk, which begins with what a prior expects."""
    w = np.ones((n_walks, n_features))
    if prior is not None and prior.expected.max() > 0:
        w[0] = FLOOR + (1.0 - FLOOR) * prior.expected / prior.expected.max()
    return w


class Simba(RankingFromPrior):
    """Keep the features with the largest weights of a stochastic ascent over the margin.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half.
    n_steps : int, default=None
        Steps of one ascent (the paper's T), through random permutations of the samples. None
        takes as many as there are samples.
    n_restarts : int, default=5
        How many times to ascend, each through permutations of its own; the weights with the
        largest e(w) are kept. They share the reading of the table: where it is large, five
        take about as long as two would one after the other.
    utility : {"linear", "sigmoid", "zero-one"}, default="linear"
        What a sample's margin is worth; linear is the published method. Zero-one has no slope
        to follow: its steps are those of the linear utility, taken only on samples that have no
        positive margin, and only the choice among the restarts goes by the zero-one sum.
    beta : float, default=1.0
        Steepness of the sigmoid utility.
    random_state : int, RandomState instance or None, default=None
        The permutations. Same seed, same answer, for any n_jobs.
    n_jobs : int, default=None
        Threads over which the restarts are spread.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The weights w^2, the largest of them 1.
    ranking_ : ndarray of shape (n_features,)
        1 for the best.
    margin_ : float
        e(w) of the best restart, with the largest w scaled to 1.
    restarts_ : ndarray of shape (n_restarts,)
        e(w) of every restart.
    n_evaluations_ : int
        Steps taken, over all restarts.
    stopped_ : str
        Why the search ended.

    Notes
    -----
    A prior gives the first restart its weights to begin with, between 0.3 for a feature of which
    nothing is expected and 1 for the one of which most is; the others begin with ones, as
    published, so a wrong prior can only lose the comparison of e(w).

    Where memory knows of weights and is used, columns are prepared and scaled by the weights
    of a linear model with memory (`metafs.plugin.reference_view`).

    Of several classes the nearest miss is the nearest sample of any other; of equally near ones
    the earlier row counts. A neighbour at distance 0 has no part in a step, and a sample that is
    alone in its class takes none; with one class all scores are 1. A numeric target is
    discretised. The length of a step grows with the scale of the features, while the weights
    begin with ones: scale features to the order of 1.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(200, 5))
    >>> y = (X[:, 0] > 0.5) ^ (X[:, 3] > 0.5)
    >>> simba = Simba(2, random_state=0).fit(X, y)
    >>> simba.get_support()
    array([ True, False, False,  True, False])
    """

    _sees_reference = True

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        n_steps: int | None = None,
        n_restarts: int = 5,
        utility: str = "linear",
        beta: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(n_features_to_select)
        self.n_steps = n_steps
        self.n_restarts = n_restarts
        self.utility = utility
        self.beta = beta
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        if self.n_steps is not None:
            check_at_least("n_steps", self.n_steps)
        check_at_least("n_restarts", self.n_restarts)
        Utility(self.utility, self.beta)

    def _score_from(self, X: Matrix, y: Array, prior: Prior | None) -> Array:
        n_steps = X.shape[0] if self.n_steps is None else self.n_steps
        check_scale(X, "simba")
        utility = Utility(self.utility, self.beta)
        groups = Groups(discretise_target(y))
        X = dense(X, "simba")[groups.rows]
        search = WeightedSearch(X, groups)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        children = np.random.default_rng(seed).spawn(self.n_restarts)
        paths = groups.places[np.stack([picks(rng, n_steps, len(X)) for rng in children])]
        starts = starting_weights(prior, self.n_restarts, X.shape[1])

        def climb(walks: Array) -> tuple[Array, list[float]]:
            w = ascend(search, starts[walks], paths[walks], utility)
            w /= np.abs(w).max(axis=1, keepdims=True)
            margins = (theta(*nearest_distances(groups, X, each)) for each in w)
            return w, [float(utility.total(each)) for each in margins]

        n_threads = min(int(effective_n_jobs(self.n_jobs)), self.n_restarts)
        shares = np.array_split(np.arange(self.n_restarts), n_threads)
        found = Parallel(n_jobs=len(shares), prefer="threads")(map(delayed(climb), shares))
        w = np.concatenate([weights for weights, _ in found])
        self.restarts_ = np.concatenate([margins for _, margins in found])
        best = int(np.argmax(self.restarts_))
        self.margin_ = float(self.restarts_[best])
        self.n_evaluations_ = self.n_restarts * n_steps
        self.stopped_ = f"took {n_steps} steps from each of {self.n_restarts} starting points"
        return np.asarray(w[best] ** 2)
