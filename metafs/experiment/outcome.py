"""The outcome of one search on one problem: its cost until the target, and its result."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from metafs.errors import ProblemError
from metafs.experiment.why import Why
from metafs.pipeline.selection import TOLERANCE, evaluations_to
from metafs.pipeline.solution import PHASES, Solution
from metafs.pipeline.steps import PreparedTask, TaskResult
from metafs.plugin.prior import Prior

COUNTED = tuple(phase for phase in PHASES if phase != "learn")
"""The phases that count for the speed-up in seconds: all but learning."""
NO_EXPERIENCE = "no relevant experience"
DOUBTFUL = "no experience that deserves trust"


@dataclass(frozen=True)
class Outcome:
    """One problem in one arm, seed and order."""

    arm: str
    seed: int
    order: int | None
    """Number of the stream order, 0 for the original; None for an arm without memory."""
    problem: str
    index: int
    """Place of the problem in the original order of the stream, from 0."""
    position: int
    """Place in the order of this run, from 0: the paper's iteration index."""
    target: float
    """Best fitness of the cold run of the same seed."""
    reached: bool
    evaluations: int
    """Evaluations up to the first set that reaches the target; all of them if none does."""
    n_evaluations: int
    """All evaluations; a cold run continues after its best set, because it has no target yet."""
    fitness: float
    score: float | None = None
    non_nested_score: float | None = None
    scoring: str | None = None
    n_features: int = 0
    n_selected: int = 0
    n_transferred: int = 0
    n_common: int = 0
    """Features that were transferred and are selected."""
    nearest_distance: float | None = None
    mean_distance: float | None = None
    """Mean distance to all neighbours."""
    seconds_to_target: float = 0.0
    """Describe, recall, expect, select and record together."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """By phase."""
    stopped: str | None = None
    note: str | None = None
    why: Why | None = None
    """What memory expected, in the pass that is explained."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values, without the explanation."""
        values = asdict(self)
        del values["why"]
        return values | {"optimistic_score": self.non_nested_score}  # deprecated name


def fitness_of(result: TaskResult, selector: str) -> float:
    """Return the fitness of the selected set; refuse a selector that reports none."""
    selection = result.selection
    if selection.fitness is None or selection.n_evaluations is None:
        raise ProblemError(
            f"selector {selector!r} does not report fitness and number of evaluations, so nothing "
            "can be compared: use climb."
        )
    return selection.fitness


def outcome(
    task: PreparedTask,
    result: TaskResult,
    solution: Solution,
    *,
    target: float,
    seconds: Mapping[str, float] | None = None,
    **place: Any,
) -> Outcome:
    """Return the outcome of a search; `place` holds its arm, seed, order and position.

    `seconds` are those of another run, if this one did not stop at its target.
    """
    selection = result.selection
    fitness = fitness_of(result, task.plan.settings.selector_name)
    n_evaluations = int(selection.n_evaluations or 0)
    evaluations, reached = evaluations_to(target, selection.candidates, n_evaluations)
    distances = [distance for _, distance in solution.neighbours]
    seconds = dict(solution.seconds if seconds is None else seconds)
    return Outcome(
        problem=solution.problem,
        target=target,
        reached=reached or fitness >= target - TOLERANCE,
        evaluations=evaluations,
        n_evaluations=n_evaluations,
        fitness=fitness,
        score=solution.score,
        non_nested_score=solution.non_nested_score,
        scoring=solution.scoring,
        n_features=task.problem.n_features,
        n_selected=len(solution.features),
        n_transferred=len(solution.transferred),
        n_common=len(set(solution.transferred) & set(solution.features)),
        nearest_distance=min(distances, default=None),
        mean_distance=float(np.mean(distances)) if distances else None,
        seconds_to_target=sum(seconds.get(phase, 0.0) for phase in COUNTED),
        seconds=seconds,
        stopped=solution.stopped,
        note=None if place["order"] is None else _note(task.prior),
        **place,
    )


def _note(prior: Prior | None) -> str | None:
    """Return why memory was not used, for an arm that uses memory."""
    if prior is None:
        return NO_EXPERIENCE
    return DOUBTFUL if prior.doubtful else None
