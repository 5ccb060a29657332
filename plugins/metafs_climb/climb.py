"""Hill climbing over sets of features, as published or guided by a prior.

Without a prior this is the published climb (`metafs_climb.published`). A prior that only gives
starting sets adds one evaluation for each. A prior that guides is combined with the univariate
relevance of each feature into a priority, and features are tried in that order
(`metafs_climb.guided`). The measure that is optimised stays the same.
"""

from collections.abc import Sequence
from numbers import Real
from time import monotonic
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from metafs.data.parameters import check_at_least
from metafs.data.row_values import fit_groups
from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.plugin.measures import check_measure_of_sets
from metafs.plugin.prior import Prior
from metafs.plugin.protocols import (
    SetEvaluator,
    SetMeasure,
    SupportsAbandoning,
    SupportsSingles,
)
from metafs.plugin.ranking import ranking
from metafs.plugin.selector import BaseSelector
from metafs.stats.discretise import categories_of
from metafs.stats.relevance import (
    agree,
    has_dominant_feature,
    information_of_each,
    priority,
    relevance_and_entropy,
)
from metafs_climb.content_order import ContentOrder, Renumbered
from metafs_climb.evaluations import Evaluations
from metafs_climb.evaluators import bound
from metafs_climb.guided import Comparisons, GuidedClimb, climb_with_baseline
from metafs_climb.mi_confidence import MIConfidence
from metafs_climb.published import PublishedClimb
from metafs_climb.starts import large_starts, likely_starts


class Climb(BaseSelector):
    """Keep the best set of features that a stochastic hill climb finds.

    Parameters
    ----------
    measure : set measure, default=None
        The objective: an object with ``of_set(X, y, features)`` and, for speed, ``bind(X, y)``.
        None is `MIConfidence`.
    max_evaluations : int, default=1000
        Sets to evaluate at most (the paper's M).
    max_seconds : float, default=None
        Time after which no further round begins.
    target_score : float, default=None
        Fitness at which the search may stop.
    max_edits : int, default=5
        The distance at which the search gives up (the paper's D).
    keep_features : sequence of int, default=None
        Columns that belong to every set; the search adds to them.
    categorical_features : sequence of int, default=None
        Columns that hold codes 0, 1, ... of categories rather than amounts.
    random_state : int, RandomState instance or None, default=None
        Same seed, same answer.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The measure of every single feature; its mutual information with the target, in bits, if
        the measure is too expensive for that (one that abandons candidates).
    ranking_ : ndarray of shape (n_features,)
        1 for the best: the selected features by score, then the others by score.
    fitness_ : float
        The measure of the selected set.
    candidates_ : list of (int, tuple of int, float)
        Evaluation number, features and fitness of every start and the best of every round.
    n_evaluations_ : int
        Sets evaluated in the search. The scores of single features are not part of it.
    stopped_ : str
        Why the search ended.

    Notes
    -----
    Missing values count as a value of their own; a numeric target is discretised.

    The order of columns plays no part, unless some are equal: the first of these counts.

    A selection is never empty: where no set is better than the empty one, the feature with
    the best score is kept, and `stopped_` says so.

    Examples
    --------
    >>> X = [[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 1]] * 10
    >>> climb = Climb(random_state=0).fit(X, [0, 1, 1, 0] * 10)
    >>> climb.get_support()
    array([ True,  True, False])
    >>> climb.stopped_
    'no better set within 4 edits'
    """

    _allow_nan = True

    def __init__(
        self,
        measure: Any = None,
        *,
        max_evaluations: int = 1000,
        max_seconds: float | None = None,
        target_score: float | None = None,
        max_edits: int = 5,
        keep_features: Sequence[int] | None = None,
        categorical_features: Sequence[int] | None = None,
        random_state: Any = None,
    ) -> None:
        self.measure = measure
        self.max_evaluations = max_evaluations
        self.max_seconds = max_seconds
        self.target_score = target_score
        self.max_edits = max_edits
        self.keep_features = keep_features
        self.categorical_features = categorical_features
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        check_at_least("max_evaluations", self.max_evaluations)
        check_at_least("max_edits", self.max_edits, 2)
        if not isinstance(self.target_score, Real | None):
            raise UsageError(f"target_score must be a number, not {self.target_score!r}.")
        check_measure_of_sets("climb", self.measure)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        prior: Any = None,
        meta_features: Any = None,
        task: str = "auto",
        groups: Any = None,
    ) -> Self:
        """Select features of X by what they tell of y.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,)
            The target: classes, or numbers, which are discretised.
        prior : Prior or array-like of shape (n_features,), default=None
            What is expected of each feature; None is the method as published.
        meta_features : array-like of shape (n_features, k), default=None
            Properties of the features.
        task : {"auto", "classes", "numbers"}, default="auto"
            What y holds; `metafs.data.target` decides it for "auto".
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never divided by a measure that cross-validates.
        """
        named = type(self).__name__
        self._groups = None if groups is None else fit_groups(groups, _num_samples(X), named)
        super().fit(X, y, prior=prior, meta_features=meta_features, task=task)
        del self._groups
        return self

    def _fit(self, X: Matrix, y: Array, prior: Prior | None) -> None:
        deadline = np.inf if self.max_seconds is None else monotonic() + self.max_seconds
        measure = MIConfidence() if self.measure is None else self.measure
        categories = categories_of(X, self.categorical_features)
        evaluator = bound(measure, X, y, categories, self._groups)
        # From here on features go by number; columns come back where results are kept.
        order = ContentOrder(X, y)
        kept = order.numbers(np.unique(np.asarray(self.keep_features or (), dtype=np.int64)))
        numbered, prior = Renumbered(evaluator, order), order.prior(prior)
        sets = Comparisons(numbered, kept, self.max_evaluations, self.target_score, deadline)
        relevance = None
        if prior is not None and prior.guides:
            found = relevance_and_entropy(X, y, categories)
            relevance, entropies = (each[order.columns] for each in found)
            doubtful = prior.doubtful or not agree(relevance, prior.expected)
            if doubtful:
                prior = Prior(np.zeros(len(relevance)), guides=True)  # univariate relevance alone
            priorities = priority(relevance, entropies, prior.expected)
            self.stopped_ = self._climb_guided(
                sets, prior, relevance, priorities, small_sets=has_dominant_feature(relevance, y)
            )
            if doubtful:
                self.stopped_ += " (memory was not used: its expectations are doubtful)"
        else:
            self.stopped_ = self._climb_as_published(sets, prior)

        if isinstance(evaluator, SupportsAbandoning) and evaluator.abandons:
            # An evaluation is too expensive to be spent on every feature.
            known = relevance is not None
            self.scores_ = found[0] if known else information_of_each(X, y, categories)
        else:
            self.scores_ = _score_each(evaluator, measure, X, y)
        features, self.fitness_ = order.columns_of(sets.best.features), sets.best.fitness
        if not len(features):
            features = order.columns[[np.argmax(self.scores_[order.columns])]]
            self.fitness_ = float(evaluator.of_sets(np.zeros(0, np.int64), features[None])[0])
            self.stopped_ += "; no set was better than the empty one, so the best feature is kept"
        self.n_evaluations_ = sets.spent
        self.candidates_ = [
            (step, tuple(order.columns_of(np.array(numbers, np.int64)).tolist()), fitness)
            for step, numbers, fitness in sets.candidates
        ]
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[features] = True
        self.ranking_ = ranking(self.scores_, first=self.support_)

    def _climb_as_published(self, sets: Evaluations, prior: Prior | None) -> str:
        """Run the published climb and return why it stopped."""
        free, rng = self._free(sets.kept), self._rng()
        if prior is not None:
            sets.start(_within(prior.starts, free))
        climb = PublishedClimb(sets, free, rng, self.max_edits, sets.best)
        while not sets.over and not climb.ended:
            climb.round()
        return self._why(sets) or f"no better set within {self.max_edits - 1} edits"

    def _climb_guided(
        self,
        sets: Comparisons,
        prior: Prior,
        relevance: Array,
        priorities: Array,
        *,
        small_sets: bool,
    ) -> str:
        """Run the guided climb and return why it stopped."""
        free, rng = self._free(sets.kept), self._rng()
        published = PublishedClimb(sets, free, rng, self.max_edits, sets.nothing)
        order = free[np.argsort(-priorities[free], kind="stable")]
        if sets.prices_size:
            starts = likely_starts(order, prior.size, several=not small_sets)
        else:
            starts = _within(prior.starts, free)
            if not small_sets:
                starts = large_starts(free[np.argsort(-relevance[free], kind="stable")], starts)
        sets.start(starts)
        # Spawned, not drawn, so that the baseline takes the same path as the published climb alone.
        guided = GuidedClimb(sets, order, rng.spawn(1)[0], small_sets=small_sets)
        climb_with_baseline(guided, published, until_target=self.target_score is not None)
        return self._why(sets) or "no better set after perturbations"

    def _why(self, sets: Evaluations) -> str | None:
        """Return why the search must stop; None if it need not."""
        if sets.at_target:
            return "target score reached"
        if not sets.left:
            return f"budget of {self.max_evaluations} evaluations spent"
        return "time is up" if sets.over else None

    def _free(self, kept: Array) -> Array:
        return np.setdiff1d(np.arange(self.n_features_in_), kept)

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))


def _within(starts: Sequence[Array], free: Array) -> list[Array]:
    """Return the free features of each start; starts without any are left out."""
    within = [np.intersect1d(start, free) for start in starts]
    return [start for start in within if len(start)]


def _score_each(evaluator: SetEvaluator, measure: SetMeasure, X: Matrix, y: Array) -> Array:
    """Score every feature alone by the measure."""
    each = evaluator.of_each() if isinstance(evaluator, SupportsSingles) else measure(X, y)
    return np.asarray(each, dtype=np.float64)
