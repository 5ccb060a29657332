"""Prepare a problem where memory is: describe it, recall its neighbours, expect its features."""

from dataclasses import replace

from metafs.data.problem import Problem
from metafs.data.row_hashes import row_hashes
from metafs.memory.memory import Memory
from metafs.pipeline.choice.experience import experience
from metafs.pipeline.expecting import Expecting, own_prior
from metafs.pipeline.fitting.plugin_errors import naming_plugin
from metafs.pipeline.fitting.prefilter import informative_part
from metafs.pipeline.plan import Plan
from metafs.pipeline.settings import Settings
from metafs.pipeline.task import PreparedTask, Stopwatch
from metafs.stats.discretise import codes_kept

MOST_UNRELATED = 32
"""Problems that are asked for what their models learned although none is near."""


def prepare(
    problem: Problem,
    plan: Plan,
    memory: Memory | None,
    *,
    exclude_name: str | None = None,
    learning: bool = True,
) -> PreparedTask:
    """Describe a problem, recall its nearest solved problems, and derive a prior over its features.

    Problems called `exclude_name` are not recalled. The prior for the folds is only derived if a
    learner is to be scored, and the history for the folds for that or for a reference model.
    """
    settings, clock = plan.settings, Stopwatch()
    own = own_prior(plan, problem.n_features)
    recorded = memory is not None
    task = PreparedTask(problem, plan, prior=own, fold_prior=own, recorded=recorded)
    if memory is None or problem.space is None:
        return task
    seen = described_part(task.seen if settings.project is None else problem, settings)
    with clock("describe"), naming_plugin("distance", settings.distance, problem), codes_kept(seen):
        described = memory.near.describe(
            seen,
            described_by(settings),
            settings.project,
            whole=settings.whole_below is not None,
            fingerprint=problem.fingerprint,
        )
        hashes = row_hashes(problem)
    task = replace(task, described=described, seconds=clock.seconds, row_hashes=hashes)
    with memory.visit():
        task, expecting = _recalled(task, memory, clock, exclude_name, learning)
    if expecting is None:
        return task
    with clock("expect"):
        prior = expecting(None, task.history)
        fold_prior = expecting(problem.source, task.fold_history) if learning else None
    return replace(task, prior=prior, fold_prior=fold_prior)


def described_part(problem: Problem, settings: Settings) -> Problem:
    """Return the columns by which a problem is compared with others."""
    if settings.prefilter is None:
        return problem
    return informative_part(problem, settings.prefilter, settings.keep)


def described_by(settings: Settings) -> str:
    """Return the name under which problems are described, which names a prefilter too.

    Otherwise problems would be compared by all columns of the one and some of the other.
    """
    if settings.prefilter is None:
        return settings.distance
    return f"{settings.distance}[prefilter={settings.prefilter:g}]"


def _recalled(
    task: PreparedTask,
    memory: Memory,
    clock: Stopwatch,
    exclude_name: str | None,
    learning: bool,
) -> tuple[PreparedTask, Expecting | None]:
    """Read all that memory holds for a task; the second is None if it asks for no expectation."""
    problem, plan, described = task.problem, task.plan, task.described
    assert described is not None
    with clock("recall"):
        known = memory.acquainted(problem, task.row_hashes)
        models = plan.transfer is None or plan.transfer.models
        teaches = models and known.lacks_reference
        task = replace(task, teaches=teaches, sharing=known.sharing)
        if plan.transfer is None or not plan.transfer.remembers:
            return task, None
        n_asked = plan.settings.neighbours
        if models:
            n_asked = max(n_asked, memory.n_models(problem))
        if plan.settings.whole_below is None:
            near = memory.near.recall(problem, described, n_asked, exclude_name=exclude_name)
        else:
            below = plan.settings.whole_below
            near = memory.near.recall_below(
                problem, described, n_asked, below, exclude_name=exclude_name
            )
        asked = near[: plan.settings.neighbours]
        if models:  # few rows may share nothing with problems of the same columns
            n_least = max(len(near), min(n_asked, MOST_UNRELATED))
            near = memory.near.with_unrelated(problem, near, n_least, exclude_name=exclude_name)
        if plan.transfer.counts_unrelated:
            asked = memory.near.with_unrelated(
                problem, asked, plan.settings.neighbours, exclude_name=exclude_name
            )
        task = replace(task, neighbours=tuple(asked))
        if plan.contest is not None:
            tried = [each for each in memory.trials(problem) if each.name != exclude_name]
            fold_past = experience(tried, problem, near, exclude_source=problem.source)
            task = replace(
                task, past=tuple(experience(tried, problem, near)), fold_past=tuple(fold_past)
            )
    with clock("expect"):
        if models:
            task = replace(task, history=memory.model_history(problem, near, known))
        if models and (learning or task.teaches):
            history = memory.model_history(problem, near, known, exclude_source=problem.source)
            task = replace(task, fold_history=history)
        if task.teaches and known.sharing:
            history = memory.model_history(
                problem, near, known, exclude_source=problem.source, apart=True
            )
            task = replace(task, apart_history=history)
        if not plan.asks_memory(problem):
            return task, None
        sharing = known.sharing
        return task, Expecting(
            problem, plan, memory, exclude_name, task.neighbours, learning, sharing
        )
