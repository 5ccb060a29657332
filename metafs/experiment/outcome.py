"""The outcome of one search on one problem: its solution, and its cost until the target."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metafs.errors import ProblemError
from metafs.experiment.explanation import Why
from metafs.pipeline.fitting.selection import TOLERANCE, evaluations_to
from metafs.pipeline.solution import PHASES, Solution
from metafs.pipeline.task import TaskResult

COUNTED = tuple(phase for phase in PHASES if phase != "learn")
"""The phases that count for the speed-up in seconds: all but learning."""
NO_EXPERIENCE = "no relevant experience"
DOUBTFUL = "no experience that deserves trust"
IN_JSON = (
    *("arm", "seed", "order", "problem", "index", "position", "target", "reached", "evaluations"),
    *("n_evaluations", "fitness", "score", "non_nested_score", "scoring", "n_features"),
    *("n_selected", "n_transferred", "n_common", "nearest_distance", "mean_distance"),
    *("seconds_to_target", "seconds", "stopped", "note"),
)


@dataclass(frozen=True)
class Outcome:
    """One problem in one arm, seed and order."""

    arm: str
    seed: int
    order: int | None
    """Number of the stream order, 0 for the original; None for an arm without memory."""
    index: int
    """Place of the problem in the original order of the stream, from 0."""
    position: int
    """Place in the order of this run, from 0: the paper's iteration index."""
    target: float
    """Best fitness of the cold run of the same seed."""
    reached: bool
    evaluations: int
    """Evaluations up to the first set that reaches the target; all of them if none does."""
    solution: Solution
    """What the search found. The seconds of a cold run are those up to the target."""
    why: Why | None = None
    """What memory expected, in the pass that is explained."""

    @property
    def problem(self) -> str:
        """Name of the problem."""
        return self.solution.problem

    @property
    def fitness(self) -> float:
        """Fitness of the selected set; the learner's nested score if the selector has none."""
        return self.solution.fitness or 0.0

    @property
    def n_evaluations(self) -> int:
        """All evaluations; a cold run continues after its best set, because it has no target."""
        return self.solution.n_evaluations or 0

    @property
    def score(self) -> float | None:
        """Nested score of the learner."""
        return self.solution.score

    @property
    def non_nested_score(self) -> float | None:
        """Score of the learner on columns selected from all rows."""
        return self.solution.non_nested_score

    @property
    def scoring(self) -> str | None:
        """Scorer of both scores."""
        return self.solution.scoring

    @property
    def n_features(self) -> int:
        """Number of features to select from."""
        return self.solution.n_features

    @property
    def n_selected(self) -> int:
        """Number of selected features."""
        return self.solution.n_selected

    @property
    def n_transferred(self) -> int:
        """Number of features that memory proposed."""
        return len(self.solution.transferred)

    @property
    def n_common(self) -> int:
        """Number of features that were transferred and are selected."""
        return len(set(self.solution.transferred) & set(self.solution.features))

    @property
    def nearest_distance(self) -> float | None:
        """Distance to the nearest neighbour."""
        return min((distance for _, distance in self.solution.neighbours), default=None)

    @property
    def mean_distance(self) -> float | None:
        """Mean distance to all neighbours."""
        distances = [distance for _, distance in self.solution.neighbours]
        return float(np.mean(distances)) if distances else None

    @property
    def seconds(self) -> Mapping[str, float]:
        """Seconds by phase."""
        return self.solution.seconds

    @property
    def seconds_to_target(self) -> float:
        """Describe, recall, expect, select and record together."""
        return sum(self.seconds.get(phase, 0.0) for phase in COUNTED)

    @property
    def stopped(self) -> str | None:
        """Why the search stopped."""
        return self.solution.stopped

    @property
    def note(self) -> str | None:
        """Why memory was not used, for an arm that uses memory."""
        if self.order is None or self.solution.experience == "near":
            return None
        return DOUBTFUL if self.solution.experience == "far" else NO_EXPERIENCE

    def as_json(self) -> dict[str, Any]:
        """Return plain values, without the explanation."""
        values = {name: getattr(self, name) for name in IN_JSON} | {"seconds": dict(self.seconds)}
        return values | {"optimistic_score": self.non_nested_score}  # deprecated name


@dataclass(frozen=True)
class Failed:
    """A problem that could not be read or solved in some arm; it is left out of all arms."""

    arm: str
    index: int
    solution: Solution

    @property
    def problem(self) -> str:
        """Name of the problem."""
        return self.solution.problem

    @property
    def error(self) -> str:
        """Why it failed."""
        return self.solution.error or ""

    @property
    def details(self) -> str:
        """The traceback."""
        return self.solution.details or ""


def fitness_of(result: TaskResult, selector: str) -> float:
    """Return the fitness of the selected set, or the learner's score if none is reported."""
    if result.selection.fitness is not None:
        return result.selection.fitness
    if result.scores is not None:
        return result.scores.nested
    raise ProblemError(
        f"selector {selector!r} reports no fitness and no learner is scored, so nothing can be "
        "compared: leave out --no-learn, or use climb."
    )


def outcome(result: TaskResult, solution: Solution, *, target: float, **place: Any) -> Outcome:
    """Return the outcome of a search; `place` holds its arm, seed, order and position."""
    fitness = fitness_of(result, solution.selector or "")
    evaluations, reached = evaluations_to(
        target, result.selection.candidates, solution.n_evaluations or 0
    )
    return Outcome(
        target=target,
        reached=reached or fitness >= target - TOLERANCE,
        evaluations=evaluations,
        solution=replace(solution, fitness=fitness),
        **place,
    )
