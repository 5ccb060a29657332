"""Record: what became of a problem, written into the MetaDB and told as a `Solution`."""

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metafs.data.problem import Problem
from metafs.data.row_hashes import sketch
from metafs.data.typing import Array
from metafs.errors import MetafsError, describe, kind_and_place
from metafs.memory import NeighbourRow, RunRow, SelectionRows
from metafs.memory.memory import Memory, problem_row
from metafs.pipeline.reference import Learned
from metafs.pipeline.saving import saving
from metafs.pipeline.selection import takes_prior
from metafs.pipeline.settings import Plan
from metafs.pipeline.solution import Experience, Solution
from metafs.pipeline.steps import Prepared, Stopwatch, Worked, utc_now
from metafs.transfer.expectation import TRANSFERS, weight
from metafs.version import __version__


@dataclass(frozen=True, eq=False)
class Failure:
    """A problem that could not be read or solved, and why."""

    name: str
    origin: str
    message: str
    details: str
    problem: Problem | None = None
    stored: str = ""
    """The message for the MetaDB, which quotes no data."""


def failure(error: Exception, name: str, origin: str, problem: Problem | None) -> Failure:
    """Turn whatever was raised into a sentence, and keep the traceback for who asks."""
    if isinstance(error, MetafsError):
        message = " ".join(str(error).split())
        stored = error.without_data or message
    else:
        message, stored = describe(error), kind_and_place(error)
    details = "".join(traceback.format_exception(error))
    return Failure(name, origin, message, details, problem, stored)


def finish(prepared: Prepared, worked: Worked | Failure, memory: Memory | None) -> Solution:
    """Record a problem that was worked on, and say what became of it."""
    if isinstance(worked, Failure):
        return fail(worked, prepared.plan, memory)
    clock = Stopwatch()
    if memory is not None:
        with clock("record"):
            memory.record(
                prepared.problem,
                run_row(prepared, worked),
                prepared.described,
                selections=selection_rows(prepared, worked),
                candidates=worked.selection.candidates,
                neighbours=neighbour_rows(prepared),
                reference=worked.learned.reference if worked.learned else None,
                belief=worked.learned.belief if worked.learned else None,
                row_hashes=sketch(prepared.row_hashes),
            )
    return solution(prepared, worked, clock.seconds)


def fail(failed: Failure, plan: Plan, memory: Memory | None) -> Solution:
    """Say why a problem failed, and record it unless it could not even be read.

    The MetaDB is passed on, so it gets only what cannot quote the data.
    """
    if memory is not None and failed.problem is not None:
        run = replace(_run(plan), status="failed", error=failed.stored)
        memory.record_failure(problem_row(failed.problem), run)
    return Solution(failed.name, "failed", error=failed.message, details=failed.details)


def skipped(problem: Problem, stored: Mapping[str, Any]) -> Solution:
    """Say of a problem that was solved before what the MetaDB holds of it."""
    return Solution(
        problem=problem.name,
        status="skipped",
        features=tuple(stored["features"]),
        fitness=stored["fitness"],
        score=stored["score"],
        optimistic_score=stored["optimistic_score"],
        scoring=stored["scoring"],
        notes=problem.notes,
        n_evaluations=stored["n_evaluations"],
        stopped=stored["stopped"],
    )


def solution(prepared: Prepared, worked: Worked, recorded: Mapping[str, float]) -> Solution:
    """Tell a solved problem."""
    selection, scores, prior = worked.selection, worked.scores, prepared.prior
    names = prepared.problem.feature_names
    belief = worked.learned.belief if worked.learned else None
    chosen = np.flatnonzero(selection.selected)
    best_first = chosen[np.argsort(selection.ranking[chosen], kind="stable")]
    seconds = {**prepared.seconds, **worked.seconds, **recorded}
    return Solution(
        problem=prepared.problem.name,
        status="solved",
        features=tuple(names[j] for j in best_first),
        fitness=selection.fitness,
        score=scores.honest if scores else None,
        optimistic_score=scores.optimistic if scores else None,
        scoring=scores.scoring if scores else None,
        notes=prepared.problem.notes + worked.notes,
        n_evaluations=selection.n_evaluations,
        stopped=selection.stopped,
        neighbours=tuple((each.name, each.distance) for each in prepared.neighbours),
        transferred=() if prior is None else tuple(names[j] for j in prior.transferred),
        experience=experience_of(prepared),
        memory=None
        if belief is None
        else {"strength": belief.strength, "gain": belief.gain or 0.0},
        belief=None if belief is None else belief.reason,
        saving=None if worked.cold is None else saving(*worked.cold, selection, seconds),
        seconds=seconds,
    )


def experience_of(prepared: Prepared) -> Experience | None:
    """Tell whether memory had anything relevant to say; None if it was not asked."""
    rule, prior = TRANSFERS[prepared.plan.settings.transfer], prepared.prior
    if rule is None or not rule.remembers or not takes_prior(prepared.plan.selector):
        return None
    if prepared.problem.space is None:
        return "nameless"
    if prior is None:
        return "none"
    return "far" if prior.doubtful else "near"


def run_row(prepared: Prepared, worked: Worked) -> RunRow:
    """Return the run as the MetaDB keeps it."""
    selection, scores, plan = worked.selection, worked.scores, prepared.plan
    seconds = {**prepared.seconds, **worked.seconds}
    return replace(
        _run(plan),
        settings=plan.settings.digest_for(prepared.problem),
        started_at=prepared.started_at,
        learner=plan.learner_for(prepared.problem)[0] if scores else None,
        distance=prepared.described.distance if prepared.described else None,
        fitness=selection.fitness,
        score=scores.honest if scores else None,
        optimistic_score=scores.optimistic if scores else None,
        scoring=scores.scoring if scores else None,
        n_evaluations=selection.n_evaluations,
        n_selected=int(selection.selected.sum()),
        stopped=selection.stopped,
        duration_s=seconds,
        prior_used=None if prepared.prior is None else plan.settings.transfer,
    )


def selection_rows(prepared: Prepared, worked: Worked) -> SelectionRows:
    """Return a row for every feature: its rank, q, quality and expectation."""
    selection, prior = worked.selection, prepared.prior
    return SelectionRows(
        names=prepared.problem.feature_names,
        rank=selection.ranking,
        q=selection.scores,
        quality=worked.quality,
        expected=None if prior is None else prior.expected,
        selected=selection.selected,
        **_of_columns(worked.learned),
    )


def _of_columns(learned: Learned | None) -> dict[str, Array | None]:
    names = ("relevance", "document_frequency", "mean", "spread", "weight", "from_memory")
    return {} if learned is None else {name: getattr(learned, name) for name in names}


def neighbour_rows(prepared: Prepared) -> list[NeighbourRow]:
    """Return the neighbours that were asked, with the weight each had."""
    return [
        NeighbourRow(each.problem_id, rank, each.distance, float(weight(each.distance)))
        for rank, each in enumerate(prepared.neighbours, start=1)
    ]


def _run(plan: Plan) -> RunRow:
    settings = plan.settings
    params = {name: _plain(value) for name, value in plan.selector.get_params(deep=False).items()}
    target = params.get("target_score")
    return RunRow(
        selector=settings.selector_name,
        transfer=settings.transfer,
        started_at=utc_now(),
        metafs_version=__version__,
        params=params,
        distance=settings.distance,
        seed=settings.seed if isinstance(settings.seed, int) else None,
        target_score=target if isinstance(target, (int, float)) else None,
        settings=settings.digest(),
    )


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
