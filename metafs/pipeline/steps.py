"""The steps of the loop, as functions of plain values.

describe -> recall -> expect      need memory, and run where the MetaDB is
select -> learn                   need only the problem and the prior, and run anywhere
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from metafs.data.problem import Problem
from metafs.data.row_hashes import row_hashes
from metafs.data.typing import Array
from metafs.errors import NoScore, ProblemError
from metafs.memory import Neighbour, TrialRow
from metafs.memory.memory import Memory
from metafs.memory.projection import Described
from metafs.memory.weights import ModelHistory
from metafs.pipeline.blaming import blaming
from metafs.pipeline.choice.choosing import Choice, choose, default_choice
from metafs.pipeline.choice.contest import Contest
from metafs.pipeline.choice.expectation import Past
from metafs.pipeline.choice.experience import experience
from metafs.pipeline.choice.portfolio import memory_gain, shipped
from metafs.pipeline.choice.result import selection_of, trials_of
from metafs.pipeline.choice.rows import at_last, sampled
from metafs.pipeline.events import Event, emit
from metafs.pipeline.expecting import Expecting, own_prior
from metafs.pipeline.fit_parameters import of_rows
from metafs.pipeline.model import FittedModel, fitted_model, named_model
from metafs.pipeline.reference import Learned, learned
from metafs.pipeline.row_notes import row_notes
from metafs.pipeline.scoring import Scores, confidence_of, learn, qualities
from metafs.pipeline.selection import Selection, select
from metafs.pipeline.settings import Plan
from metafs.plugin.prior import Prior
from metafs.stats.discretise import codes_kept

SHARE_OF_CHOICE = 0.8
"""The part of a problem's time limit that choosing a pipeline and fitting it may take."""


def utc_now() -> datetime:
    """Return the time as the MetaDB keeps it: UTC, without saying so."""
    return datetime.now(UTC).replace(tzinfo=None)


@dataclass(frozen=True, eq=False)
class PreparedTask:
    """A problem with its neighbours and prior: everything that selecting and learning need."""

    problem: Problem
    plan: Plan
    described: Described | None = None
    """None if the problem has no space, so that it cannot be compared with others."""
    neighbours: tuple[Neighbour, ...] = ()
    prior: Prior | None = None
    fold_prior: Prior | None = None
    """The prior without neighbours of the same source: these may hold rows of the test folds."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    checked: bool = False
    """Whether to search cold as well, to measure what memory saved."""
    started_at: datetime = field(default_factory=utc_now)
    history: ModelHistory | None = None
    """What the models of near problems learned of the columns."""
    fold_history: ModelHistory | None = None
    """The same without problems of the same source, nor any that share rows."""
    row_hashes: Array = field(default_factory=lambda: np.zeros(0, dtype=np.uint64), repr=False)
    sharing: Mapping[int, str] = field(default_factory=dict)
    """Problems that memory knows to hold some of the rows, with their sources."""
    notes: tuple[str, ...] = ()
    """What may be wrong with the table."""
    past: tuple[Past, ...] = ()
    """What was tried on other problems of the space, if a pipeline is to be chosen."""
    fold_past: tuple[Past, ...] = ()
    """The same without problems of the same source."""
    teaches: bool = False
    """Whether a reference model is needed: memory has none of this content."""
    saves_model: bool = False
    """Whether the model is to be saved, and so has to be fitted here."""

    @cached_property
    def seen(self) -> Problem:
        """The rows by which the problem is described and pipelines are compared: all if few."""
        return sampled(self.problem, self.plan.settings.seed)


@dataclass(frozen=True)
class WithoutMemory:
    """What a pipeline that was chosen without memory reached on the same problem."""

    score: float
    n_features: int
    seconds: float


@dataclass(frozen=True, eq=False)
class TaskResult:
    """A problem's selection, what a learner reached with it, and each feature's quality."""

    selection: Selection
    scores: Scores | None
    quality: Array
    seconds: Mapping[str, float]
    cold: tuple[Selection, float] | None = None
    """What a cold search found, and its seconds, where memory was checked."""
    notes: tuple[str, ...] = ()
    """Why a figure is missing."""
    learned: Learned | None = None
    """What models on all columns learned; None if the problem cannot be recalled."""
    learner: str | None = None
    pipeline: Mapping[str, Any] | None = None
    """The selector, size and learner that were chosen, if they were not named."""
    trials: tuple[TrialRow, ...] = ()
    """Every pipeline that was tried, fold by fold."""
    without_memory: WithoutMemory | None = None
    """What is chosen without memory, where that was checked."""
    model: FittedModel | None = None
    """None if nothing was learnt, or if selector and learner were named and nobody asked for it."""
    frontier: tuple[tuple[int, float], ...] = ()
    """The best score for each number of features that was tried."""
    leaderboard: tuple[tuple[Mapping[str, Any], float], ...] = ()
    """The pipelines that were tried on all folds, with their scores, the best first."""


class Stopwatch:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Count what the block takes towards a phase."""
        started = perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + perf_counter() - started


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
    task = PreparedTask(problem, plan, prior=own, fold_prior=own)
    if memory is None or problem.space is None:
        return task
    seen = task.seen if settings.project is None else problem  # by its fingerprint it may wait
    with clock("describe"), blaming("distance", settings.distance, problem), codes_kept(seen):
        described = memory.describe(seen, settings.distance, settings.project)
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
        task = replace(task, teaches=known.lacks_reference, sharing=known.sharing)
        if plan.transfer is None or not plan.transfer.remembers:
            return task, None
        n_asked = max(plan.settings.neighbours, memory.n_models(problem))
        near = memory.recall(problem, described, n_asked, exclude_name=exclude_name)
        task = replace(task, neighbours=tuple(near[: plan.settings.neighbours]))
        if plan.contest is not None:
            tried = [each for each in memory.trials(problem) if each.name != exclude_name]
            fold_past = experience(tried, problem, near, exclude_source=problem.source)
            task = replace(
                task, past=tuple(experience(tried, problem, near)), fold_past=tuple(fold_past)
            )
    with clock("expect"):
        task = replace(task, history=memory.model_history(problem, near, known))
        if learning or task.teaches:
            history = memory.model_history(problem, near, known, exclude_source=problem.source)
            task = replace(task, fold_history=history)
        if not plan.asks_memory(problem):
            return task, None
        sharing = known.sharing
        return task, Expecting(
            problem, plan, memory, exclude_name, task.neighbours, learning, sharing
        )


def search(task: PreparedTask, keep: Sequence[int] = ()) -> Selection:
    """Select features, starting from the prior."""
    problem = task.problem
    return select(
        task.plan.selector_for(problem.categories, keep),
        problem.X,
        problem.y,
        prior=task.prior,
        meta_features=problem.meta_features,
        X_unlabelled=problem.X_unlabelled,
        keep=keep,
        categorical=problem.categories,
        **of_rows(problem),
    )


def work(task: PreparedTask, *, learning: bool = True) -> TaskResult:
    """Select features, then learn from them, if that is wanted."""
    with codes_kept(task.problem if task.plan.contest is None else task.seen):
        return _work(task, learning)


def _work(task: PreparedTask, learning: bool) -> TaskResult:
    problem, plan, clock = task.problem, task.plan, Stopwatch()
    settings = plan.settings
    keep = kept_columns(problem, settings.keep)
    if plan.contest is not None and learning:
        return _work_by_choice(task, plan.contest, keep)
    if learning:  # what cannot be learnt is refused before anything is searched
        learner_name, learner = plan.learner_for(problem)
        scoring = plan.scoring_for(problem)
    with clock("select"), blaming("selector", settings.selector_name, problem):
        selection = search(task, keep)
    if not selection.selected.any():
        raise ProblemError(
            f"selector {settings.selector_name!r} selected no feature of {problem.name!r}: "
            "choose another with --selector, or change it with --param."
        )
    with clock("learn"):
        left = leave(task)
    if not learning:
        quality = qualities(problem, selection.selected, confidence=confidence_of(plan.selector))
        return TaskResult(selection, None, quality, clock.seconds, learned=left)
    with clock("learn"), blaming("learner", learner_name, problem):
        scores: Scores | None = None
        notes: tuple[str, ...] = ()
        try:
            scores = learn(
                problem,
                selection.selected,
                plan.selector_for(problem.categories, keep, in_fold=True),
                learner,
                scoring=scoring,
                prior=task.fold_prior,
                keep=keep,
                n_folds=settings.folds,
                seed=settings.seed,
            )
        except NoScore as reason:
            notes = (f"no score: {str(reason).rstrip('.')}",)
        quality = qualities(
            problem,
            selection.selected,
            scores.success if scores else 1.0,
            confidence_of(plan.selector),
        )
        model = model_of(task, selection).complete() if task.saves_model else None
    asked = {
        f"selector {settings.selector_name!r}": plan.selector,
        f"learner {learner_name!r}": learner,
    }
    notes += row_notes(problem, asked, scoring)
    cold = search_cold(task, keep)
    return TaskResult(
        selection,
        scores,
        quality,
        clock.seconds,
        cold,
        notes,
        left,
        learner=learner_name,
        model=model,
    )


def model_of(task: PreparedTask, selection: Selection) -> FittedModel:
    """Return the model of a named learner on what was selected, yet to be fitted."""
    _, learner = task.plan.learner_for(task.problem)
    return named_model(task.problem, np.flatnonzero(selection.selected), learner, task.prior)


def _work_by_choice(task: PreparedTask, contest: Contest, keep: Sequence[int]) -> TaskResult:
    """Choose a pipeline and fit it; where rows cannot be divided into folds, take the default."""
    problem, clock = task.seen, Stopwatch()
    with clock("select"), blaming("pipeline", task.plan.settings.selector_name, problem):
        try:
            choice = _choose(task, contest, keep)
        except NoScore as reason:
            choice = default_choice(problem, contest, task.prior, keep, str(reason))
        selection = selection_of(choice)
    with clock("learn"):
        left = leave(task)
        with blaming("learner", "auto", problem):
            rows, notes = at_last(task.problem, problem, choice.candidate, task.plan.settings.seed)
            emit(Event(problem.name, "fitting"))
            model = fitted_model(choice, rows)
            if task.saves_model:
                model.complete()
    scores = choice.scores
    quality = qualities(problem, selection.selected, scores.success if scores else 1.0)
    return TaskResult(
        selection,
        scores,
        quality,
        clock.seconds,
        notes=(
            choice.notes
            + notes
            + row_notes(problem, contest.named(), task.plan.scoring_for(problem))
        ),
        learned=left,
        learner=choice.candidate.learner if choice.candidate else None,
        pipeline=choice.candidate.as_json() if choice.candidate else None,
        trials=trials_of(choice),
        without_memory=_without_memory(task, contest, keep) if scores is not None else None,
        model=model,
        frontier=tuple(choice.frontier),
        leaderboard=tuple((each.as_json(), score) for each, score in choice.leaderboard),
    )


def _without_memory(
    task: PreparedTask, contest: Contest, keep: Sequence[int]
) -> WithoutMemory | None:
    """Choose without memory, if the task is to be checked."""
    if not task.checked or not task.neighbours:
        return None
    started = perf_counter()
    cold = replace(task, prior=None, fold_prior=None, past=(), fold_past=())
    choice = _choose(cold, contest, keep)
    if choice.scores is None:
        return None
    seconds = perf_counter() - started
    return WithoutMemory(choice.scores.nested, len(choice.columns), seconds)


def _choose(task: PreparedTask, contest: Contest, keep: Sequence[int]) -> Choice:
    problem, settings = task.seen, task.plan.settings
    known = [(task.prior, task.past), (task.fold_prior, task.fold_past)]
    past, fold_past = (
        [*shipped(problem, memory_gain=memory_gain(problem, prior)), *tried]
        for prior, tried in known
    )
    return choose(
        problem,
        contest.candidates(problem),
        selectors=contest.selectors,
        learners=contest.learners,
        scoring=task.plan.scoring_for(problem),
        past=past,
        fold_past=fold_past,
        prior=task.prior,
        fold_prior=task.fold_prior,
        keep=keep,
        n_folds=settings.folds,
        seed=settings.seed,
        seconds=None if settings.seconds is None else _seconds_left(task, settings.seconds),
        sized=isinstance(contest.size, int),
    )


def _seconds_left(task: PreparedTask, seconds: float) -> float:
    """Return the time for the choice: a problem is also prepared, and leaves a reference model."""
    return SHARE_OF_CHOICE * seconds - sum(task.seconds.values())


def leave(task: PreparedTask) -> Learned | None:
    """Return what models on all columns learned; None if the problem cannot be recalled."""
    if task.described is None:
        return None
    return learned(
        task.seen,
        fit=task.teaches,
        history=task.history,
        fold_history=task.fold_history,
        seed=task.plan.settings.seed,
    )


def search_cold(task: PreparedTask, keep: Sequence[int]) -> tuple[Selection, float] | None:
    """Search without memory, if the task is to be checked; return the selection and its seconds."""
    if not task.checked or task.prior is None:
        return None
    clock = Stopwatch()
    with clock("select"):
        cold = search(replace(task, prior=None), keep)
    return cold, clock.seconds["select"]


def kept_columns(problem: Problem, keep: tuple[str, ...]) -> list[int]:
    """Return the indices of the columns that are always selected."""
    place = {name: index for index, name in enumerate(problem.feature_names)}
    for name in keep:
        if name not in place:
            raise ProblemError(f"{problem.name!r} has no column {name!r} to keep.")
    return [place[name] for name in keep]
