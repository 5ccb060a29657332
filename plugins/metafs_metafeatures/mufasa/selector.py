r"""Mufasa over the columns of a table: search by properties of features instead of by features.

A set of features is drawn from :math:`p(v \mid u)`, which is defined by clusters of the features in
the space of their meta-features (`metafs_metafeatures.mufasa.clusters`); the point u walks towards
the best sets (`metafs_metafeatures.mufasa.walk`). Without meta-features every set is equally
likely: the search is then Rand Search. For generated features see `metafs_metafeatures.search`.

The score of a feature is how much better the sets with it were than all sets on average, shrunk
towards 0 if there are few of them:

.. math:: s_v = \frac{1}{1 + n_v} \sum_{j : v \in F_j} (q_j - \bar q), \qquad
          n_v = |\{j : v \in F_j\}|

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", Journal of
Machine Learning Research 9, 2008, section 6.1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from metafs.data.matrix import dense
from metafs.data.parameters import check_at_least, check_between
from metafs.data.typing import Array, Matrix
from metafs.errors import ProblemError, UsageError
from metafs.plugin.measures import check_measure_of_sets
from metafs.plugin.prior import Prior
from metafs.plugin.ranking import n_to_keep, ranking
from metafs.plugin.selector import BaseSelector
from metafs_metafeatures.mufasa.clusters import FeatureClusters, NoSpace, standardised
from metafs_metafeatures.mufasa.extraction import seeded
from metafs_metafeatures.mufasa.svm_accuracy import SVMAccuracy
from metafs_metafeatures.mufasa.walk import STEP, Schedule, walk

Candidate = tuple[int, tuple[int, ...], float]


def affordable(order: Array, costs: Array, budget: float, limit: int) -> Array:
    """Return the first features of an order that fit, each if the budget still pays for it.

    Examples
    --------
    >>> affordable(np.array([2, 0, 1]), np.array([1.0, 1.0, 5.0]), budget=5.5, limit=3)
    array([2])
    """
    spent = np.cumsum(costs[order])
    if len(order) <= limit and spent[-1] <= budget:
        return order
    taken: list[int] = []
    left = budget * (1 + 1e-12)
    for feature in order.tolist():
        if len(taken) == limit:
            break
        if costs[feature] <= left:
            taken.append(feature)
            left -= costs[feature]
    return np.array(taken, dtype=np.int64)


def tried_scores(candidates: list[Candidate], n_features: int) -> Array:
    """Return how much better the sets with each feature were than all sets, 0 if it was in none.

    Examples
    --------
    >>> tried_scores([(1, (0,), 0.5), (2, (1,), 0.9)], 3)
    array([-0.1,  0.1,  0. ])
    """
    excess, times = np.zeros((2, n_features))
    mean = np.mean([q for *_, q in candidates]) if candidates else 0.0
    for _, features, q in candidates:
        excess[list(features)] += q - mean
        times[list(features)] += 1
    scores: Array = excess / (1 + times)
    return scores


class Mufasa(BaseSelector):
    """Keep the best set of features that a walk through the space of meta-features meets.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features a set has, or which share of them; None is half, or, with a budget, as
        many as it pays for.
    feature_costs : array-like of shape (n_features,), default=None
        What each feature costs, above 0; None is 1 each.
    budget : float, default=None
        What the features of a set may cost together.
    n_steps : int, default=50
        Sets to try from one starting point (the paper's J).
    patience : int, default=None
        Steps without improvement after which a walk ends.
    step : float or sequence of float, default=0.15
        Standard deviation of the noise, as a share of the range of each meta-feature; one share
        for all, or one for each.
    decay : float, default=1.0
        What the noise is multiplied by after each step.
    n_guesses : int, default=1
        How many of these steps guess: points are drawn evenly, and the walk goes on from the best.
    temperature : float, default=0.0
        Above 0 the walk is simulated annealing; see `Schedule`.
    restarts : int, default=0
        Further starting points; the best set of all is kept.
    n_clusters : int, default=None
        Clusters of features by meta-features; None is the square root of the number of features.
    measure : set measure, default=None
        What to search for: an object with ``of_set(X, y, features)``. None is the 2-fold
        cross-validated accuracy of a linear SVM on standardised features, `SVMAccuracy`.
    max_evaluations : int, default=None
        Sets to try at most, over all starting points.
    max_seconds : float, default=None
        Time after which no further set is tried.
    random_state : int, RandomState instance or None, default=None
        Same seed, same answer.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How much better the sets with a feature were than all sets tried; 0 if it was in none.
    ranking_ : ndarray of shape (n_features,)
        1 for the best: the selected features by score, then the others by score.
    fitness_ : float
        The measure of the selected set.
    u_best_ : ndarray of shape (n_meta_features,) or None
        The meta-features around which the selected set was drawn; None without meta-features.
    candidates_ : list of (int, tuple of int, float)
        Evaluation number, features and fitness of every set tried.
    n_evaluations_ : int
        Sets tried; one that comes up again counts again, though it is measured once.
    stopped_ : str
        Why the search ended.

    Notes
    -----
    A prior is where the walk starts: the mean of the meta-features, weighted by what is expected
    of each feature. Without meta-features, or without expectations, it only decides between equals.

    A numeric target is discretised by the default measure.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> X = rng.normal(size=(60, 40))
    >>> X[:, 30:] += 2 * y[:, None]
    >>> place = np.arange(40.0)
    >>> mufasa = Mufasa(8, random_state=0).fit(X, y, meta_features=place)
    >>> (place[mufasa.get_support()] >= 29).all(), mufasa.n_evaluations_
    (np.True_, 50)
    """

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        feature_costs: ArrayLike | None = None,
        budget: float | None = None,
        n_steps: int = 50,
        patience: int | None = None,
        step: float | Sequence[float] = STEP,
        decay: float = 1.0,
        n_guesses: int = 1,
        temperature: float = 0.0,
        restarts: int = 0,
        n_clusters: int | None = None,
        measure: Any = None,
        max_evaluations: int | None = None,
        max_seconds: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.feature_costs = feature_costs
        self.budget = budget
        self.n_steps = n_steps
        self.patience = patience
        self.step = step
        self.decay = decay
        self.n_guesses = n_guesses
        self.temperature = temperature
        self.restarts = restarts
        self.n_clusters = n_clusters
        self.measure = measure
        self.max_evaluations = max_evaluations
        self.max_seconds = max_seconds
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        self._schedule()
        n_to_keep(self.n_features_to_select, 1)
        if self.budget is not None:
            check_between("budget", self.budget)
        if self.n_clusters is not None:
            check_at_least("n_clusters", self.n_clusters)
        check_measure_of_sets("mufasa", self.measure)

    def _schedule(self) -> Schedule:
        return Schedule(
            n_steps=self.n_steps,
            step=self.step,
            decay=self.decay,
            n_guesses=self.n_guesses,
            temperature=self.temperature,
            restarts=self.restarts,
            patience=self.patience,
            max_evaluations=self.max_evaluations,
            max_seconds=self.max_seconds,
        )

    def _fit(self, X: Matrix, y: Array, prior: Prior | None) -> None:
        self._fit_described(X, y, prior, None)

    def _fit_described(
        self, X: Matrix, y: Array, prior: Prior | None, meta_features: Array | None
    ) -> None:
        limit, costs, budget = self._limits(X.shape[1])
        measure = SVMAccuracy() if self.measure is None else self.measure
        X = dense(X, "mufasa")
        rng = seeded(self.random_state)
        space, start, original = self._space(X.shape[1], meta_features, prior, rng)
        known: dict[tuple[int, ...], float] = {}
        tried: list[tuple[int, ...]] = []
        candidates: list[Candidate] = []

        def draw(u: Array, rng: np.random.Generator) -> Any:
            return np.sort(affordable(space.order(u, rng), costs, budget, limit)).tolist()

        def quality(features: tuple[int, ...]) -> float:
            if features not in known:
                known[features] = float(measure.of_set(X, y, np.array(features)))
            tried.append(features)
            if np.isfinite(known[features]):
                candidates.append((len(tried), features, known[features]))
            return known[features]

        found = walk(space, draw, quality, self._schedule(), rng, start)
        if not np.isfinite(found.quality):
            raise ProblemError(
                "mufasa found no set that its measure could evaluate: use another measure."
            )
        self.stopped_ = found.stopped
        self.fitness_ = found.quality
        self.u_best_ = original(found.u)
        self.candidates_ = candidates
        self.n_evaluations_ = len(tried)
        self.scores_ = tried_scores(candidates, X.shape[1])
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[list(found.features)] = True
        expected = None if prior is None else prior.expected
        self.ranking_ = ranking(self.scores_, first=self.support_, expected=expected)

    def _limits(self, n_features: int) -> tuple[int, Array, float]:
        """Return how many features a set may have, what each costs and what all may cost."""
        costs = np.ones(n_features)
        if self.feature_costs is not None:
            wrong = f"feature_costs must be {n_features} numbers above 0, one for each feature."
            try:
                costs = np.asarray(self.feature_costs, dtype=np.float64)
            except (TypeError, ValueError):
                raise UsageError(wrong) from None
            if costs.shape != (n_features,) or not ((costs > 0) & (costs < 1e300)).all():
                raise UsageError(wrong)
        if self.budget is None:
            return n_to_keep(self.n_features_to_select, n_features), costs, np.inf
        if self.budget < costs.min():
            raise UsageError(
                f"the budget of {self.budget:g} is below the cheapest feature, which costs "
                f"{costs.min():g}: give at least that."
            )
        unlimited = self.n_features_to_select is None
        limit = n_features if unlimited else n_to_keep(self.n_features_to_select, n_features)
        return limit, costs, float(self.budget)

    def _space(
        self,
        n_features: int,
        meta_features: Array | None,
        prior: Prior | None,
        rng: np.random.Generator,
    ) -> Any:
        """Return the space to walk in, where to start, and how a point reads in given units."""
        if meta_features is None or not meta_features.shape[1]:
            return NoSpace(n_features), None, lambda u: None
        n_clusters = int(np.ceil(np.sqrt(n_features)))
        if self.n_clusters is not None:
            n_clusters = self.n_clusters
        U, middle, scale = standardised(meta_features)
        space = FeatureClusters.of(U, n_clusters, int(rng.integers(2**31)))
        start = None
        if prior is not None and prior.expected.any():
            start = np.average(U, axis=0, weights=prior.expected)
        return space, start, lambda u: middle + scale * u
