r"""The guided climb: tries features by priority, with the published climb as a baseline search.

1. Starting sets. Evaluate the features of highest priority, as many as similar problems selected;
   if that number is unknown, the best of the first 4, 8, 16 and 32. If the measure does not
   penalise the size of a set, evaluate the features of highest univariate relevance instead, also
   together with everything that similar problems selected.
2. Climb. If a single feature explains much of the target, good sets are small: start with the
   empty set, compare the features of highest priority and add the best, round by round.
   Otherwise good sets are large: start with the best starting set, go through the features by
   priority and add each that improves the set, then go through the set and drop each that does
   not help, until a pass changes nothing; then make one pass through a tenth as many features as
   evaluations are left. The features of a starting set were added all at once, and some do not
   belong there. If size is penalised, each of them is tried between the features that may join,
   lowest priority first. If it is not, backward elimination drops every feature that can be
   removed without loss, lowest priority first: among sets of equal fitness the smaller one is
   closer to better sets. A measure that knows which rows a set gets wrong gives hints
   (`metafs_climb.hints`); hinted features are tried first.
3. Perturbation. Remove a few features at random and go through the features of highest priority
   again. Keep the result if it is better.
4. Follow the baseline whenever it has moved. The baseline compares very many features in a round,
   and what a feature added there predicts what it adds now. So start from the baseline's set,
   compare only the features that added most when they were last compared, and add the best; drop
   one if none helps. This reaches the end of the baseline's path, or nearly, at a fraction of its
   cost.

The baseline is the published climb from the empty set. It keeps its own path, and the result is
the best set of both searches. From the first perturbation on it gets as many evaluations as steps
3 and 4, so what it finds after n evaluations is found here after at most 2n plus those of steps 1
and 2. The search ends after several perturbations and follow-ups without improvement. With a target
score it goes on, and each further failure gives the baseline as many evaluations again.
"""

from typing import Any

import numpy as np

from metafs.data.typing import Array
from metafs_climb.evaluations import DECIMALS, Evaluations, Position
from metafs_climb.published import PublishedClimb

COMPARED = 20
"""How many features of highest priority a round compares before it adds the best."""
HEAD, LARGE_HEAD = 32, 128
"""How many features of highest priority a pass tries; the second if size is not penalised."""
ELIMINATED_TOGETHER = 16
"""How many features backward elimination tries one by one before it drops several together."""
PERTURBATION_SIZE = 3
"""How many features a perturbation removes."""
PATIENCE, BUDGET_PER_FAILURE = 2, 2000
"""The search ends after PATIENCE failed perturbations and follow-ups in a row, or one for every
BUDGET_PER_FAILURE evaluations of a larger budget."""


class Comparisons(Evaluations):
    """Evaluations that remember what each feature added when it was last compared with others."""

    def __init__(
        self, evaluator: Any, kept: Array, limit: int, target: float | None, deadline: float
    ) -> None:
        super().__init__(evaluator, kept, limit, target, deadline)
        self.added: dict[int, float] = {}

    def best_of(self, base: Position, edits: Array, *, exactly: bool = False) -> Position:
        """Evaluate base after each edit and return the best; the first that reaches the target."""
        at = super().best_of(base, edits, exactly=exactly)
        if edits.shape[1] == 1:
            features = edits[: len(self._latest), 0]
            sign = np.where(np.isin(features, base.features), -1, 1)
            added = sign * (self._latest - base.fitness)
            self.added.update(zip(features.tolist(), added.tolist(), strict=True))
        return at

    def eliminate_backward(self, base: Position, features: Array) -> Position:
        """Return base without as many of these features as can be removed together without loss.

        Each feature is first removed alone. Then all features whose removal lost nothing are
        removed together; if that lowers the fitness, only the better half of them, and so on.
        """
        at = self.best_of(base, features[:, None], exactly=True)
        if self.over:
            return at if at.beats(base) else base
        loss = np.round([self.added[feature] for feature in features.tolist()], DECIMALS)
        removable = features[np.argsort(loss, kind="stable")][: np.sum(loss <= 0)]
        while len(removable) and not self.over:
            at = self.without(base, removable)
            if not base.beats(at):
                if not self.best.beats(at):
                    self.best = at
                return at
            removable = removable[: len(removable) // 2]
        return base

    def _found(self, base: Position, edits: Array, *, exactly: bool = False) -> Array:
        self._latest = super()._found(base, edits, exactly=exactly)
        return self._latest


class GuidedClimb:
    """A climb that tries the features of highest priority first.

    Parameters
    ----------
    sets : Comparisons
        Counts the evaluations; its best set so far is the starting set.
    order : array of int
        The features that may join or leave, highest priority first.
    rng : Generator
        Draws the features that perturbations remove.
    small_sets : bool
        Whether good sets are expected to be small: features are then compared before one is added.
    """

    def __init__(
        self, sets: Comparisons, order: Array, rng: np.random.Generator, *, small_sets: bool
    ) -> None:
        self.sets, self.order, self.rng = sets, order, rng
        self.at = sets.nothing if small_sets else sets.best
        self.converged = False
        """Whether the climb has ended, so that perturbations follow."""
        self.failures = 0
        """Perturbations and follow-ups in a row without improvement."""
        self._advance = self._compare if small_sets else self._pass
        self._head = self._width = HEAD if sets.prices_size else LARGE_HEAD
        # Without a penalty on size, going through the set twice in one pass gains nothing.
        together = np.isin(order, self.at.features) & sets.prices_size
        self._untried = order[together][::-1]

    def step(self) -> None:
        """Climb one step further, or perturb."""
        (self._perturb if self.converged else self._advance)()

    def _compare(self) -> None:
        """Add the best of the features of highest priority."""
        outside = self._outside(self.at)[:COMPARED, None]
        at = self.sets.best_of(self.at, outside) if len(outside) else self.at
        if at.beats(self.at):
            self.at = at
        else:
            self.at, self.converged = max(self.at, self.sets.best, key=_fitness), True

    def _pass(self) -> None:
        """Go through the features by priority, then through the set; widen if nothing changes."""
        doubted = self._untried[np.isin(self._untried, self.at.features)]
        self._untried = self._untried[:0]
        candidates = self.sets.hinted(self.at, self._outside(self.at))[: self._width]
        at = self._through(self.at, spread(doubted, candidates))
        at = self._eliminate(at)
        if not at.beats(self.at):
            wider = self.sets.left // 10
            self.converged, self._width = wider <= self._width, max(wider, self._width)
        self.at = at

    def _perturb(self) -> None:
        """Remove features at random and climb again; the removed ones are tried last."""
        inside = self._inside(self.at)
        out = self.rng.permutation(inside)[: min(PERTURBATION_SIZE, max(1, len(inside) - 1))]
        at = self.sets.without(self.at, out)
        others = self._outside(at)
        others = self.sets.hinted(at, others[~np.isin(others, out)])[: self._head]
        at = self._through(at, np.concatenate([others, out]))
        self._keep(self._eliminate(at))

    def follow(self, at: Position) -> None:
        """Continue another climb from its set, by what features added when last compared."""
        while not self.sets.over:
            further = self._further(at)
            if not further.beats(at):
                break
            at = further
        self._keep(at)

    def _further(self, at: Position) -> Position:
        """Add the best of the features that last added most, else drop one, if either helps."""
        outside = self._outside(at)
        lately = np.array([self.sets.added.get(feature, 0.0) for feature in outside.tolist()])
        likely = outside[np.argsort(-lately, kind="stable")][:HEAD]
        some = [likely[first : first + COMPARED] for first in range(0, len(likely), COMPARED)]
        for features in [*some, self._inside(at)]:
            if len(features) and not self.sets.over:
                found = self.sets.best_of(at, features[:, None])
                if found.beats(at):
                    return found
        return at

    def _keep(self, at: Position) -> None:
        """Move to a set if it is better; otherwise count a failure."""
        if at.beats(self.at):
            self.at, self.failures = at, 0
        else:
            self.failures += 1

    def _through(self, at: Position, features: Array) -> Position:
        """Add or remove the features one by one, each if that makes the set better."""
        while len(features) and not self.sets.over:
            at, tried = self.sets.first_better(at, features[:, None])
            features = self.sets.hinted(at, features[tried:])
        return at

    def _eliminate(self, at: Position) -> Position:
        """Drop each feature whose removal helps or, if size is not penalised, does no harm."""
        if self.sets.prices_size:
            return self._through(at, self._inside(at))
        features = self.order[np.isin(self.order, at.features)][::-1]
        while len(features) and not self.sets.over:
            at = self.sets.eliminate_backward(at, features[:ELIMINATED_TOGETHER])
            features = features[ELIMINATED_TOGETHER:]
        return at

    def _inside(self, at: Position) -> Array:
        return np.setdiff1d(at.features, self.sets.kept)

    def _outside(self, at: Position) -> Array:
        return self.order[~np.isin(self.order, at.features)]


def climb_with_baseline(
    guided: GuidedClimb, published: PublishedClimb, *, until_target: bool
) -> None:
    """Run the guided climb, with the published one as a baseline, until neither improves.

    Parameters
    ----------
    guided, published
        Two climbs that share one count of evaluations.
    until_target : bool
        Whether to go on until the target is reached or the budget is spent.
    """
    sets, moved = guided.sets, False
    patience = max(PATIENCE, sets.limit // BUDGET_PER_FAILURE)
    owed = 0
    while not sets.over:
        if published.ended or owed < published.h:
            if published.at.beats(guided.at):
                guided.at = published.at
            if guided.failures >= patience and not until_target:
                return
            converged, before = guided.converged, sets.left
            if converged and moved:
                guided.follow(published.at)
                moved = False
            else:
                guided.step()
            if converged:
                owed += (1 + max(0, guided.failures - patience)) * (before - sets.left)
        else:
            before, stood = sets.left, published.at
            published.round()
            owed -= before - sets.left
            moved = moved or published.at is not stood


def spread(features: Array, among: Array) -> Array:
    """Return both lists merged, the first spread evenly among the second, each in its own order.

    Examples
    --------
    >>> spread(np.array([8, 9]), np.array([1, 2, 3, 4]))
    array([1, 8, 2, 3, 9, 4])
    """
    middles = (2 * np.arange(len(features)) + 1) * len(among) // max(1, 2 * len(features))
    return np.insert(among, middles, features)


def _fitness(at: Position) -> float:
    return at.fitness
