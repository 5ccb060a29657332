r"""Stochastic hill climbing over sets of features.

Let S be a set of features, d the number of features to add or remove at once, m the number of
evaluations left.

1. Start with :math:`S = \emptyset`, d = 1, m = M.
2. Randomly add or remove d features from S, giving sets :math:`S_1, \dots, S_h`, with
   :math:`h = \min(m / 10, |F|^d)`.
3. Set m = m - h and evaluate the sets.
4. If one is better than S, the best becomes S and d = 1; otherwise d = d + 1.
5. Go on with 2 unless d = D or m = 0. D is 5.

A prior may give sets to start from instead of the empty one, at one evaluation each, and may
name features to try before all others, in rounds of their own, as long as these succeed; what
is optimised stays the same.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021,
section 3.4.1.
"""

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from metafs.discretise import categories_of
from metafs.errors import UsageError
from metafs.hookspecs import hookimpl
from metafs.prior import Prior
from metafs.ranking import ranking
from metafs.selector import Selector
from metafs.typing import Array, Matrix
from metafs_climb.mi_confidence import MIConfidence
from metafs_climb.proposals import n_proposals, proposals

DECIMALS = 12
"""Fitness is compared after rounding, so that noise of the last bits is no improvement."""

Evaluate = Callable[[Array, Array], Array]
Candidate = tuple[int, tuple[int, ...], float]


def bound(
    measure: Any, X: Matrix, y: Array, categories: Mapping[int, tuple[str, ...]]
) -> tuple[Evaluate, Callable[[], Array]]:
    """Return how to evaluate sets near a base, and how to score every feature alone.

    A measure without ``bind`` is asked set by set. It need not know what the empty set is
    worth: that counts as worse than any other.
    """
    if not hasattr(measure, "of_set"):
        raise UsageError(
            f"climb cannot use {measure!r}: give a measure of sets, such as "
            'Registry().measures["margin"].'
        )
    if hasattr(measure, "bind"):
        evaluator = measure.bind(X, y, **({"categories": categories} if categories else {}))
        return evaluator.of_sets, getattr(evaluator, "of_each", lambda: measure(X, y))

    def of_sets(base: Array, edits: Array) -> Array:
        sets = (np.setxor1d(base, edit) for edit in edits)
        return np.array([measure.of_set(X, y, s) if len(s) else -np.inf for s in sets])

    return of_sets, lambda: measure(X, y)


class _Search:
    """One climb under way: the set it stands on, what it has spent and what it has tried."""

    def __init__(
        self, evaluate: Evaluate, kept: Array, max_evaluations: int, target_score: float | None
    ) -> None:
        self.evaluate = evaluate
        self.kept = kept
        self.left = max_evaluations
        self.n_evaluations = 0
        self.target = np.inf if target_score is None else np.round(target_score, DECIMALS)
        self.features = kept
        self.fitness = float(evaluate(kept, np.zeros((1, 0), dtype=np.int64))[0])
        self.candidates: list[Candidate] = []

    @property
    def at_target(self) -> bool:
        return bool(np.round(self.fitness, DECIMALS) >= self.target)

    def try_sets(self, base: Array, edits: Array) -> bool:
        """Evaluate base after each row of edits; move to the best of them if it is better."""
        found = self.evaluate(base, edits)
        rounded = np.round(found, DECIMALS)
        reached = np.flatnonzero(rounded >= self.target)
        best = int(reached[0]) if len(reached) else int(np.argmax(rounded))
        features, fitness = np.setxor1d(base, edits[best]), float(found[best])
        if np.isfinite(fitness):
            step = self.n_evaluations + best + 1
            self.candidates.append((step, tuple(features.tolist()), fitness))
        spent = best + 1 if len(reached) else len(edits)
        self.n_evaluations += spent
        self.left -= spent
        if rounded[best] <= np.round(self.fitness, DECIMALS):
            return False
        self.features, self.fitness = features, fitness
        return True


class Climb(Selector):
    """Keep the best set of features that a stochastic hill climb finds.

    Parameters
    ----------
    measure : set measure, default=None
        What to climb on: an object with ``of_set(X, y, features)``, and, to be fast,
        ``bind(X, y)``. None is `MIConfidence`.
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
        The measure of every feature taken alone.
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

    def _fit(self, X: Matrix, y: Array, prior: Prior | None) -> None:
        if self.max_evaluations < 1 or self.max_edits < 2:
            raise UsageError("climb needs max_evaluations of at least 1 and max_edits of 2.")
        deadline = np.inf if self.max_seconds is None else monotonic() + self.max_seconds
        measure = MIConfidence() if self.measure is None else self.measure
        categories = categories_of(X, self.categorical_features)
        evaluate, score_each = bound(measure, X, y, categories)
        kept = np.unique(np.asarray(self.keep_features or (), dtype=np.int64))
        search = _Search(evaluate, kept, self.max_evaluations, self.target_score)
        self.stopped_ = self._run(search, prior, deadline)

        self.scores_ = np.asarray(score_each(), dtype=np.float64)
        features = search.features
        self.fitness_ = search.fitness
        if not len(features):
            features = np.array([np.argmax(self.scores_)])
            self.fitness_ = float(evaluate(search.features, features[None])[0])
            self.stopped_ += "; no set was better than none, so the best feature alone is kept"
        self.n_evaluations_ = search.n_evaluations
        self.candidates_ = search.candidates
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[features] = True
        self.ranking_ = ranking(self.scores_, first=self.support_)

    def _run(self, search: _Search, prior: Prior | None, deadline: float) -> str:
        """Climb until there is a reason to stop, and return it."""
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        free = np.setdiff1d(np.arange(self.n_features_in_), search.kept)
        first = np.zeros(0, dtype=np.int64)
        if prior is not None:
            first = prior.first[np.isin(prior.first, free)]
            for start in (np.intersect1d(each, free) for each in prior.starts):
                if len(start) and search.left and not search.at_target:
                    search.try_sets(search.kept, start[None])
        d, expected_tried = 1, False
        while True:
            if search.at_target:
                return "target score reached"
            if not search.left:
                return f"budget of {self.max_evaluations} evaluations spent"
            if d == self.max_edits:
                return f"no better set within {d - 1} edits"
            if monotonic() >= deadline:
                return "time is up"
            h = n_proposals(search.left, len(free), d)
            if len(first) and not expected_tried:
                # What is expected is added, and what is there taken away, before all else.
                others = np.setdiff1d(search.features, np.union1d(first, search.kept))
                edits = np.concatenate([first, others])[:h, None]
                expected_tried = not search.try_sets(search.features, edits)
            elif h and search.try_sets(search.features, free[proposals(rng, h, d, len(free))]):
                d, expected_tried = 1, False
            else:
                d += 1

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        mask: Array = self.support_
        return mask


@hookimpl
def metafs_selectors() -> dict[str, Climb]:
    """Offer the selector ``climb``."""
    return {"climb": Climb()}
