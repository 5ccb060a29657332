"""Record the outcome of a problem in the MetaDB and return it as a `Solution`."""

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
from metafs.pipeline.steps import PreparedTask, Stopwatch, TaskResult, utc_now
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
    """Turn an exception into a sentence, with the traceback as details."""
    if isinstance(error, MetafsError):
        message = " ".join(str(error).split())
        stored = error.without_data or message
    else:
        message, stored = describe(error), kind_and_place(error)
    details = "".join(traceback.format_exception(error))
    return Failure(name, origin, message, details, problem, stored)


def finish(task: PreparedTask, result: TaskResult | Failure, memory: Memory | None) -> Solution:
    """Record the result of a task and return its solution."""
    if isinstance(result, Failure):
        return fail(result, task.plan, memory)
    clock = Stopwatch()
    if memory is not None:
        with clock("record"):
            memory.record(
                task.problem,
                run_row(task, result),
                task.described,
                selections=selection_rows(task, result),
                candidates=result.selection.candidates,
                neighbours=neighbour_rows(task),
                reference=result.learned.reference if result.learned else None,
                belief=result.learned.belief if result.learned else None,
                row_hashes=sketch(task.row_hashes),
            )
    return solution(task, result, clock.seconds)


def fail(failed: Failure, plan: Plan, memory: Memory | None) -> Solution:
    """Return the solution of a failed problem, and record the failure if the problem was read.

    A MetaDB may be shared with others, so the stored message quotes no data.
    """
    if memory is not None and failed.problem is not None:
        run = replace(_run(plan), status="failed", error=failed.stored)
        memory.record_failure(problem_row(failed.problem), run)
    return Solution(failed.name, "failed", error=failed.message, details=failed.details)


def skipped(problem: Problem, stored: Mapping[str, Any]) -> Solution:
    """Return the stored solution of a problem that was solved before."""
    return Solution(
        problem=problem.name,
        status="skipped",
        features=tuple(stored["features"]),
        fitness=stored["fitness"],
        score=stored["score"],
        non_nested_score=stored["non_nested_score"],
        scoring=stored["scoring"],
        notes=problem.notes,
        n_evaluations=stored["n_evaluations"],
        stopped=stored["stopped"],
    )


def solution(task: PreparedTask, result: TaskResult, recorded: Mapping[str, float]) -> Solution:
    """Return the solution of a solved problem."""
    selection, scores, prior = result.selection, result.scores, task.prior
    names = task.problem.feature_names
    belief = result.learned.belief if result.learned else None
    chosen = np.flatnonzero(selection.selected)
    best_first = chosen[np.argsort(selection.ranking[chosen], kind="stable")]
    seconds = {**task.seconds, **result.seconds, **recorded}
    return Solution(
        problem=task.problem.name,
        status="solved",
        features=tuple(names[j] for j in best_first),
        fitness=selection.fitness,
        score=scores.nested if scores else None,
        non_nested_score=scores.non_nested if scores else None,
        scoring=scores.scoring if scores else None,
        notes=task.problem.notes + result.notes,
        n_evaluations=selection.n_evaluations,
        stopped=selection.stopped,
        neighbours=tuple((each.name, each.distance) for each in task.neighbours),
        transferred=() if prior is None else tuple(names[j] for j in prior.transferred),
        experience=experience_of(task),
        memory=None
        if belief is None
        else {"strength": belief.strength, "gain": belief.gain or 0.0},
        belief=None if belief is None else belief.reason,
        saving=None if result.cold is None else saving(*result.cold, selection, seconds),
        seconds=seconds,
    )


def experience_of(task: PreparedTask) -> Experience | None:
    """Return whether memory had relevant experience; None if it was not asked."""
    rule, prior = TRANSFERS[task.plan.settings.transfer], task.prior
    if rule is None or not rule.remembers or not takes_prior(task.plan.selector):
        return None
    if task.problem.space is None:
        return "nameless"
    if prior is None:
        return "none"
    return "far" if prior.doubtful else "near"


def run_row(task: PreparedTask, result: TaskResult) -> RunRow:
    """Return the run as the MetaDB keeps it."""
    selection, scores, plan = result.selection, result.scores, task.plan
    seconds = {**task.seconds, **result.seconds}
    return replace(
        _run(plan),
        settings=plan.settings.digest_for(task.problem),
        started_at=task.started_at,
        learner=plan.learner_for(task.problem)[0] if scores else None,
        distance=task.described.distance if task.described else None,
        fitness=selection.fitness,
        score=scores.nested if scores else None,
        non_nested_score=scores.non_nested if scores else None,
        scoring=scores.scoring if scores else None,
        n_evaluations=selection.n_evaluations,
        n_selected=int(selection.selected.sum()),
        stopped=selection.stopped,
        duration_s=seconds,
        prior_used=None if task.prior is None else plan.settings.transfer,
    )


def selection_rows(task: PreparedTask, result: TaskResult) -> SelectionRows:
    """Return a row for every feature: its rank, q, quality and expectation."""
    selection, prior = result.selection, task.prior
    return SelectionRows(
        names=task.problem.feature_names,
        rank=selection.ranking,
        q=selection.scores,
        quality=result.quality,
        expected=None if prior is None else prior.expected,
        selected=selection.selected,
        **_of_columns(result.learned),
    )


def _of_columns(learned: Learned | None) -> dict[str, Array | None]:
    names = ("relevance", "document_frequency", "mean", "spread", "weight", "from_memory")
    return {} if learned is None else {name: getattr(learned, name) for name in names}


def neighbour_rows(task: PreparedTask) -> list[NeighbourRow]:
    """Return the neighbours that were asked, with the weight each had."""
    return [
        NeighbourRow(each.problem_id, rank, each.distance, float(weight(each.distance)))
        for rank, each in enumerate(task.neighbours, start=1)
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
