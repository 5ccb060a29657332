r"""The guided climb: features tried in the order of their priority, guarded by the published climb.

1. Evaluate a set to start from: the most promising features, as many as near problems selected, or
   the best of 4, 8, 16 and 32 of them if nobody knows. If the measure does not charge for a set's
   size, many features that tell most alone are tried together instead, first with all that near
   problems selected.
2. Climb. Where some feature alone tells much of the target, good sets are small and each choice
   counts: from the empty set, compare the most promising features and add the best, round by
   round. Elsewhere good sets are large and any improvement will do: from the best start, go
   through the features in the order of their priority, add each that helps, then go through the
   set and drop each that does not, until a pass changes nothing; then once through a tenth as many
   features as evaluations are left. A start's own features came in all at once and some do not
   belong there. If size has a price, each of them is tried between those that may join it, the
   least promising first. If it has none, what can be removable without harm is dropped too, the
   least promising first: a smaller set that is worth as much is nearer to sets that are worth more.
   A measure that knows what a set gets wrong hints at features that could mend it
   (`metafs_climb.hints`); where the climb stands, these come first.
3. Kick: take a few features out at random and go through the most promising ones again. A better
   set is kept.
4. Follow the guard, whenever it has moved. It compares very many features in a round, and what
   each added there is a good guess of what it adds now. So from the guard's set on, compare only
   the features that added most when they were last compared, and add the best; drop one where none
   helps. That leads to the end of the guard's path, or near it, at a fraction of its price.

The guard is the published climb from the empty set, on its own path, and the best set of both
counts. From the first kick on it gets as many evaluations as steps 3 and 4 do; so what it finds
after n evaluations is found here after at most 2n and those of steps 1 and 2. After some kicks and
pursuits in vain the search ends; if there is a target to reach it goes on, and for each further one
in vain the guard gets as many evaluations again.
"""

from typing import Any

import numpy as np

from metafs.data.typing import Array
from metafs_climb.evaluations import DECIMALS, Evaluations, Position
from metafs_climb.published import PublishedClimb

COMPARED = 20
"""The most promising features, of which a round adds the best."""
HEAD, LARGE_HEAD = 32, 128
"""The most promising features, which a pass goes through; the second where size has no price."""
ELIMINATED_TOGETHER = 16
"""Features of a set that are left out one by one before those that are not loss go together."""
PERTURBATION_SIZE = 3
"""Features that a kick takes out."""
PATIENCE, BUDGET_PER_FAILURE = 2, 2000
"""Kicks and pursuits in a row without a better set after which nothing more is hoped for; one more
for every so many evaluations of a large budget."""


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
        """Return base without as many of some features as can be removable together.

        Each is left out by itself. Then all those are that nobody loss; if they are loss
        together, only the half of them that was loss least, and so on.
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
    """A climb under way that tries first what is promising.

    Parameters
    ----------
    sets : Comparisons
        What is spent; its best set, so far, is one to start from.
    order : array of int
        The features that may join or leave, the most promising first.
    rng : Generator
        Draws what kicks take out.
    small_sets : bool
        Whether good sets are small, so that features are compared before one is added.
    """

    def __init__(
        self, sets: Comparisons, order: Array, rng: np.random.Generator, *, small_sets: bool
    ) -> None:
        self.sets, self.order, self.rng = sets, order, rng
        self.at = sets.nothing if small_sets else sets.best
        self.converged = False
        """Whether climbing has come to its end, and kicks follow."""
        self.failures = 0
        """Kicks and pursuits in a row that brought nothing."""
        self._advance = self._compare if small_sets else self._pass
        self._head = self._width = HEAD if sets.prices_size else LARGE_HEAD
        # A set that costs nothing for being large is not worth going through twice in one pass.
        together = np.isin(order, self.at.features) & sets.prices_size
        self._untried = order[together][::-1]

    def step(self) -> None:
        """Climb a little further, or kick."""
        (self._perturb if self.converged else self._advance)()

    def _compare(self) -> None:
        """Add the best of the most promising features."""
        outside = self._outside(self.at)[:COMPARED, None]
        at = self.sets.best_of(self.at, outside) if len(outside) else self.at
        if at.beats(self.at):
            self.at = at
        else:
            self.at, self.converged = max(self.at, self.sets.best, key=_fitness), True

    def _pass(self) -> None:
        """Go through the most promising features, then the set; if that changes nothing, wider."""
        doubted = self._untried[np.isin(self._untried, self.at.features)]
        self._untried = self._untried[:0]
        promising = self.sets.hinted(self.at, self._outside(self.at))[: self._width]
        at = self._through(self.at, spread(doubted, promising))
        at = self._eliminate(at)
        if not at.beats(self.at):
            wider = self.sets.left // 10
            self.converged, self._width = wider <= self._width, max(wider, self._width)
        self.at = at

    def _perturb(self) -> None:
        """Take features out and climb again; what was taken out comes last at first."""
        inside = self._inside(self.at)
        out = self.rng.permutation(inside)[: min(PERTURBATION_SIZE, max(1, len(inside) - 1))]
        at = self.sets.without(self.at, out)
        others = self._outside(at)
        others = self.sets.hinted(at, others[~np.isin(others, out)])[: self._head]
        at = self._through(at, np.concatenate([others, out]))
        self._keep(self._eliminate(at))

    def follow(self, at: Position) -> None:
        """Pursue another climb from its set, by what features added when last compared."""
        while not self.sets.over:
            further = self._further(at)
            if not further.beats(at):
                break
            at = further
        self._keep(at)

    def _further(self, at: Position) -> Position:
        """Add the best of what lately added most, else drop a feature, if either helps."""
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
        """Stand on a set if it is better."""
        if at.beats(self.at):
            self.at, self.failures = at, 0
        else:
            self.failures += 1

    def _through(self, at: Position, features: Array) -> Position:
        """Add or remove each feature in turn if that makes the set better."""
        while len(features) and not self.sets.over:
            at, tried = self.sets.first_better(at, features[:, None])
            features = self.sets.hinted(at, features[tried:])
        return at

    def _eliminate(self, at: Position) -> Position:
        """Drop each feature that costs more than it brings, or, if none costs, can be removable."""
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
    """Let the guided climb go ahead, the published one beside it, until nothing more is hoped for.

    Parameters
    ----------
    guided, published
        Two climbs that count on the same evaluations.
    until_target : bool
        Whether to go on as long as the budget lasts.
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
    """Return both, the first evenly between the others, and either in its own order.

    Examples
    --------
    >>> spread(np.array([8, 9]), np.array([1, 2, 3, 4]))
    array([1, 8, 2, 3, 9, 4])
    """
    middles = (2 * np.arange(len(features)) + 1) * len(among) // max(1, 2 * len(features))
    return np.insert(among, middles, features)


def _fitness(at: Position) -> float:
    return at.fitness
