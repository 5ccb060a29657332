"""Evaluate sets within a budget, a target and a deadline, and keep the best one."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

import numpy as np

from metafs.data.typing import Array
from metafs.plugin.protocols import (
    SetEvaluator,
    SupportsAbandoning,
    SupportsBatches,
    SupportsHints,
    SupportsSizePrice,
)

DECIMALS = 12
"""Fitness is rounded to this many decimals before comparison, to ignore rounding errors."""

AT_ONCE = 32
"""How many sets are evaluated together when only the first better one is wanted."""

AT_FIRST = 4
"""The same, at the beginning, for an expensive measure: one of the first is probably better."""

Evaluate = Callable[..., Array]
Candidate = tuple[int, tuple[int, ...], float]


class Position(NamedTuple):
    """A set of features and its fitness."""

    features: Array
    fitness: float

    def beats(self, other: "Position") -> bool:
        """Return whether its fitness is higher, beyond rounding errors."""
        return bool(np.round(self.fitness, DECIMALS) > np.round(other.fitness, DECIMALS))


class Evaluations:
    """Evaluates the sets of a search, keeps the best, and says when to stop.

    Parameters
    ----------
    evaluator : SetEvaluator
        Computes fitness; its optional abilities are used (``Supports...`` in
        `metafs.plugin.protocols`).
    kept : array of int
        The features that belong to every set.
    limit : int
        Maximum number of evaluations.
    target : float or None
        Fitness at which the search may stop.
    deadline : float
        Time, by the monotonic clock, after which no evaluation begins.
    """

    def __init__(
        self,
        evaluator: SetEvaluator,
        kept: Array,
        limit: int,
        target: float | None,
        deadline: float,
    ) -> None:
        self._of_sets: Evaluate = evaluator.of_sets
        self._abandons = isinstance(evaluator, SupportsAbandoning) and evaluator.abandons
        some = 1 if self._abandons else AT_ONCE
        self._at_once: Callable[[Array], int] = lambda base: some
        if isinstance(evaluator, SupportsBatches):
            self._at_once = evaluator.at_once
        self._hints: Callable[[Array], Array | None] = lambda base: None
        if isinstance(evaluator, SupportsHints):
            self._hints = evaluator.hints
        self.prices_size = not isinstance(evaluator, SupportsSizePrice) or evaluator.prices_size
        self.target = np.inf if target is None else float(np.round(target, DECIMALS))
        self.deadline = deadline
        self.limit = self.left = limit
        self.kept = kept
        nothing = np.zeros((1, 0), dtype=np.int64)
        self.nothing = self.best = Position(kept, float(self._of_sets(kept, nothing)[0]))
        self.candidates: list[Candidate] = []

    @property
    def spent(self) -> int:
        """The number of sets evaluated."""
        return self.limit - self.left

    @property
    def at_target(self) -> bool:
        """Whether a set has reached the target."""
        return bool(np.round(self.best.fitness, DECIMALS) >= self.target)

    @property
    def over(self) -> bool:
        """Whether the target is reached, the budget spent or the time up."""
        return self.at_target or not self.left or monotonic() >= self.deadline

    def start(self, starts: Sequence[Array]) -> None:
        """Evaluate starting sets, one evaluation each, until the target is reached.

        Kept features belong to them too.
        """
        for start in starts:
            if self.over:
                return
            self.best_of(self.nothing, start[None])

    def best_of(self, base: Position, edits: Array, *, exactly: bool = False) -> Position:
        """Evaluate base after each edit and return the best; the first that reaches the target.

        Candidates that cannot win may be abandoned, unless ``exactly`` is true.
        """
        edits = edits[: self.left]
        found = self._found(base, edits, exactly=exactly)
        rounded = np.round(found, DECIMALS)
        reached = np.flatnonzero(rounded >= self.target)
        best = int(reached[0]) if len(reached) else int(np.argmax(rounded))
        at = self._at(base, edits, found, best)
        self._count(best + 1, at, record=not self._abandons or at.beats(base))
        self.left -= 0 if len(reached) else len(edits) - best - 1
        return at

    def first_better(self, base: Position, edits: Array) -> tuple[Position, int]:
        """Evaluate base after each edit until one is better; return it and how many were tried.

        If none is better, return base.
        """
        edits, tried = edits[: self.left], 0
        most = self._at_once(base.features)
        together = min(AT_FIRST, most) if self._abandons else most
        while tried < len(edits):
            some = edits[tried : tried + together]
            together = min(2 * together, most)
            found = self._found(base, some)
            better = np.flatnonzero(np.round(found, DECIMALS) > np.round(base.fitness, DECIMALS))
            if len(better):
                at = self._at(base, some, found, int(better[0]))
                self._count(int(better[0]) + 1, at, record=at.beats(self.best))
                return at, tried + int(better[0]) + 1
            self.left -= len(some)
            tried += len(some)
            if monotonic() >= self.deadline:
                break
        return base, tried

    def hinted(self, base: Position, features: Array) -> Array:
        """Return the features sorted by the hints for base; unchanged if there are none."""
        if self.over or len(features) < 2:
            return features
        hints = self._hints(base.features)
        return features if hints is None else features[np.argsort(-hints[features], kind="stable")]

    def without(self, base: Position, features: Array) -> Position:
        """Evaluate base without some of its features and return it."""
        fitness = float(self._of_sets(base.features, features[None])[0])
        at = Position(np.setdiff1d(base.features, features), fitness)
        self._count(1, at, record=at.beats(self.best))
        return at

    def _found(self, base: Position, edits: Array, *, exactly: bool = False) -> Array:
        options = {"above": base.fitness} if self._abandons and not exactly else {}
        return self._of_sets(base.features, edits, **options)

    def _at(self, base: Position, edits: Array, found: Array, index: int) -> Position:
        return Position(np.setxor1d(base.features, edits[index]), float(found[index]))

    def _count(self, n: int, at: Position, *, record: bool) -> None:
        """Count evaluations, and record the position that the last one led to if asked."""
        self.left -= n
        if record and np.isfinite(at.fitness):
            self.candidates.append((self.spent, tuple(at.features.tolist()), at.fitness))
        if at.beats(self.best):
            self.best = at
