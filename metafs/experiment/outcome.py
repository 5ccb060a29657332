"""What one search on one problem cost until its target, and what it found."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from metafs.errors import ProblemError
from metafs.experiment.why import Why
from metafs.pipeline.selection import TOLERANCE, evaluations_to
from metafs.pipeline.solution import PHASES, Solution
from metafs.pipeline.steps import Prepared, Worked
from metafs.plugin.prior import Prior

COUNTED = tuple(phase for phase in PHASES if phase != "learn")
"""The phases that lie between a problem and its set of features, and that of keeping it."""
NO_EXPERIENCE = "no relevant experience"
DOUBTFUL = "no experience that deserves trust"


@dataclass(frozen=True)
class Outcome:
    """One problem in one arm, seed and order."""

    arm: str
    seed: int
    order: int | None
    """Number of the stream order, 0 for its own; None for an arm that does not remember."""
    problem: str
    index: int
    """Place of the problem in the stream's own order, from 0."""
    position: int
    """Its place in the order of this run, from 0: the paper's iteration index."""
    target: float
    """Best fitness of the cold run of the same seed."""
    reached: bool
    evaluations: int
    """Up to the first set that reaches the target; all of them if none does."""
    n_evaluations: int
    """All of them; a cold run goes on after its target, because it does not know it."""
    fitness: float
    score: float | None = None
    optimistic_score: float | None = None
    scoring: str | None = None
    n_features: int = 0
    n_selected: int = 0
    n_transferred: int = 0
    n_common: int = 0
    """Features that were transferred and are selected."""
    nearest_distance: float | None = None
    mean_distance: float | None = None
    """To all neighbours that were asked."""
    seconds_to_target: float = 0.0
    """Describe, recall, expect, select and record together."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """By phase."""
    stopped: str | None = None
    note: str | None = None
    why: Why | None = None
    """What memory said, in the pass that is explained."""

    def as_json(self) -> dict[str, Any]:
        """Return plain values, without what memory said."""
        values = asdict(self)
        del values["why"]
        return values


def fitness_of(worked: Worked, selector: str) -> float:
    """Return the fitness of the selected set, or say that the selector tells none."""
    selection = worked.selection
    if selection.fitness is None or selection.n_evaluations is None:
        raise ProblemError(
            f"selector {selector!r} does not tell fitness and number of evaluations, so nothing "
            "can be compared: use climb."
        )
    return selection.fitness


def outcome(
    prepared: Prepared,
    worked: Worked,
    solution: Solution,
    *,
    target: float,
    seconds: Mapping[str, float] | None = None,
    **place: Any,
) -> Outcome:
    """Tell what a search came to; `place` says in which arm, seed, order and position.

    `seconds` are those of another run, if this one did not stop at its target.
    """
    selection = worked.selection
    fitness = fitness_of(worked, prepared.plan.settings.selector_name)
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
        optimistic_score=solution.optimistic_score,
        scoring=solution.scoring,
        n_features=prepared.problem.n_features,
        n_selected=len(solution.features),
        n_transferred=len(solution.transferred),
        n_common=len(set(solution.transferred) & set(solution.features)),
        nearest_distance=min(distances, default=None),
        mean_distance=float(np.mean(distances)) if distances else None,
        seconds_to_target=sum(seconds.get(phase, 0.0) for phase in COUNTED),
        seconds=seconds,
        stopped=solution.stopped,
        note=None if place["order"] is None else _note(prepared.prior),
        **place,
    )


def _note(prior: Prior | None) -> str | None:
    """Say of an arm that remembers when memory was of no use."""
    if prior is None:
        return NO_EXPERIENCE
    return DOUBTFUL if prior.doubtful else None
