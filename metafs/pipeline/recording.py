"""Record the outcome of a problem in the MetaDB and return it as a `Solution`."""

import traceback
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from metafs.data.problem import Problem
from metafs.data.row_hashes import sketch
from metafs.data.typing import Array
from metafs.errors import MetafsError, describe, kind_and_place
from metafs.memory import NeighbourRow, RunRow, SelectionRows
from metafs.memory.memory import Memory
from metafs.pipeline.fitting.reference import Learned
from metafs.pipeline.fitting.selection import takes_prior
from metafs.pipeline.memory_savings import Saving, saving
from metafs.pipeline.plan import Plan
from metafs.pipeline.solution import Experience, Solution
from metafs.pipeline.steps import model_of
from metafs.pipeline.task import PreparedTask, Stopwatch, TaskResult, utc_now
from metafs.transfer.expectation import weight
from metafs.version import __version__

RUN_COLUMNS = tuple(each.name for each in fields(RunRow))
OF_COLUMNS = ("relevance", "document_frequency", "mean", "spread", "weight", "from_memory")


def run_row(solution: Solution) -> RunRow:
    """Return the run as the MetaDB keeps it: what a solution has under the names of its columns."""
    shared = {name: getattr(solution, name) for name in RUN_COLUMNS if hasattr(solution, name)}
    shared |= {"error": solution.stored_error, "duration_s": solution.seconds}
    shared["saving"] = None if solution.saving is None else asdict(solution.saving)
    return RunRow(**shared, metafs_version=__version__)


def skipped(problem: Problem, stored: Mapping[str, Any]) -> Solution:
    """Return the stored solution of a problem that was solved before."""
    names = [each.name for each in fields(Solution) if each.name in RUN_COLUMNS]
    return Solution(
        problem.name,
        "skipped",
        features=tuple(stored["features"]),
        notes=problem.notes,
        n_features=problem.n_features,
        **{name: stored[name] for name in names if name in stored},
    )


def failure(error: Exception, name: str) -> Solution:
    """Turn an exception into the solution of a failed problem, with the traceback as details."""
    if isinstance(error, MetafsError):
        message = " ".join(str(error).split())
        stored = error.without_data or message
    else:
        message, stored = describe(error), kind_and_place(error)
    details = "".join(traceback.format_exception(error))
    return Solution(name, "failed", error=message, details=details, stored_error=stored)


def fail(failed: Solution, problem: Problem | None, plan: Plan, memory: Memory | None) -> Solution:
    """Record a failure, if the problem could be read, and return it."""
    if memory is None or problem is None:
        return failed
    failed = replace(failed, n_features=problem.n_features, **method(plan))
    memory.record_failure(problem, run_row(failed))
    return failed


def finish(task: PreparedTask, result: TaskResult | Solution, memory: Memory | None) -> Solution:
    """Record the result of a task, or its failure, and return its solution."""
    if isinstance(result, Solution):
        return fail(result, task.problem, task.plan, memory)
    found = solution(task, result)
    clock = Stopwatch()
    if memory is not None:
        learned = result.learned
        found = replace(found, saving=_saving(result, found.seconds))
        with clock("record"):
            memory.record(
                task.problem,
                run_row(found),
                task.described,
                selections=selection_rows(task, result),
                candidates=result.selection.candidates,
                neighbours=neighbour_rows(task),
                reference=learned.reference if learned else None,
                belief=learned.belief if learned else None,
                row_hashes=sketch(task.row_hashes),
                trials=result.trials,
                learner_candidates=result.tried.candidates if result.tried else (),
            )
    seconds = {**found.seconds, **clock.seconds}
    return replace(found, seconds=seconds, saving=_saving(result, seconds))


def _saving(result: TaskResult, seconds: Mapping[str, float]) -> Saving | None:
    return None if result.cold is None else saving(*result.cold, result.selection, seconds)


def solution(task: PreparedTask, result: TaskResult) -> Solution:
    """Return the solution of a solved problem, which is yet to be recorded."""
    problem, selection, scores, prior = task.problem, result.selection, result.scores, task.prior
    names = problem.feature_names
    belief = result.learned.belief if result.learned else None
    chosen = np.flatnonzero(selection.selected)
    best_first = chosen[np.argsort(selection.ranking[chosen], kind="stable")]
    how = method(task.plan) | {
        "settings": task.plan.settings.digest_for(problem),
        "distance": task.described.distance if task.described else None,
        "started_at": task.started_at,
    }
    return Solution(
        problem=problem.name,
        status="solved",
        features=tuple(names[j] for j in best_first),
        fitness=selection.fitness,
        score=scores.nested if scores else None,
        non_nested_score=scores.non_nested if scores else None,
        scoring=scores.scoring if scores else None,
        all_features=scores.all_features if scores else None,
        no_skill=scores.chance if scores else None,
        pipeline=result.pipeline,
        **_without_memory(result),
        least_score=result.tried.least_score if result.tried else None,
        greatest_score=result.tried.greatest_score if result.tried else None,
        model=result.model or (model_of(task, selection) if result.learner else None),
        notes=problem.notes + task.notes + result.notes,
        n_evaluations=selection.n_evaluations,
        stopped=selection.stopped,
        neighbours=tuple((each.name, each.distance) for each in task.neighbours),
        transferred=() if prior is None else tuple(names[j] for j in prior.transferred),
        experience=experience_of(task),
        memory={"strength": belief.strength, "gain": belief.gain or 0.0} if belief else None,
        belief=belief.reason if belief else None,
        seconds={**task.seconds, **result.seconds},
        n_features=problem.n_features,
        learner=result.learner if scores else None,
        prior_used=None if prior is None else task.plan.settings.transfer,
        **how,
    )


def _without_memory(result: TaskResult) -> dict[str, Any]:
    """Return what was reached without memory, and what memory is worth with few labels."""
    reference = result.learned.reference if result.learned else None
    found: dict[str, Any] = {"transfers": tuple(reference.transfers) if reference else ()}
    if (alone := result.without_memory) is not None:
        found |= {
            "without_memory": alone.score,
            "features_without_memory": alone.n_features,
            "seconds_without_memory": alone.seconds,
        }
    return found


def method(plan: Plan) -> dict[str, Any]:
    """Return the fields of a solution that the plan determines."""
    settings = plan.settings
    params = {name: _plain(value) for name, value in plan.selector.get_params(deep=False).items()}
    target = params.get("target_score")
    return {
        "selector": settings.selector_name,
        "params": params,
        "distance": settings.distance,
        "transfer": settings.transfer,
        "seed": settings.seed if isinstance(settings.seed, int) else None,
        "target_score": target if isinstance(target, (int, float)) else None,
        "settings": settings.digest(),
        "started_at": utc_now(),
    }


def experience_of(task: PreparedTask) -> Experience | None:
    """Return whether memory had relevant experience; None if it was not asked."""
    rule, prior = task.plan.transfer, task.prior
    if rule is None or not rule.remembers or not takes_prior(task.plan.selector):
        return None
    if task.problem.space is None:
        return "nameless"
    if prior is None:
        return "none"
    return "far" if prior.doubtful and rule.guides else "near"


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
    return {} if learned is None else {name: getattr(learned, name) for name in OF_COLUMNS}


def neighbour_rows(task: PreparedTask) -> list[NeighbourRow]:
    """Return the neighbours that were asked, with the weight each had."""
    c = task.plan.settings.c
    return [
        NeighbourRow(each.problem_id, rank, each.distance, float(weight(each.distance, c)))
        for rank, each in enumerate(task.neighbours, start=1)
    ]


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
