"""The steps of the loop that need only a prepared problem, and so run anywhere: select and learn.

Those that need memory, describe, recall and expect, are in `metafs.pipeline.preparing`.
"""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.errors import NoScore, ProblemError
from metafs.memory import INTERRUPTED
from metafs.pipeline.choice.choosing import Choice, choose, default_choice
from metafs.pipeline.choice.contest import Contest
from metafs.pipeline.choice.portfolio import memory_gain, shipped
from metafs.pipeline.choice.result import selection_of, trials_of
from metafs.pipeline.choice.rows import MOST_SECONDS_AT_LAST, at_last
from metafs.pipeline.engines.interruption import is_interrupted, waiting
from metafs.pipeline.events import Event, emit
from metafs.pipeline.fitting.function_qualities import function_qualities
from metafs.pipeline.fitting.learner_candidates import tried_by
from metafs.pipeline.fitting.parameters import of_rows
from metafs.pipeline.fitting.plugin_errors import naming_plugin
from metafs.pipeline.fitting.prefilter import selecting
from metafs.pipeline.fitting.reference import Learned, learned
from metafs.pipeline.fitting.scoring import (
    Scores,
    confidence_of,
    learn,
    qualities,
    selector_qualities,
)
from metafs.pipeline.fitting.selection import Selection
from metafs.pipeline.models.model import FittedModel, fitted_model, named_model
from metafs.pipeline.row_notes import row_notes
from metafs.pipeline.task import (
    PreparedTask,
    Stopwatch,
    TaskResult,
    WithoutMemory,
    utc_now,
)
from metafs.plugin.protocols import SupportsCandidates
from metafs.stats.discretise import codes_kept

SHARE_UNTIL_RECORD = 0.95
FOR_RECORD = 0.1
"""What is left of a time limit for recording: a part of it, and seconds."""


def search(task: PreparedTask, keep: Sequence[int] = ()) -> Selection:
    """Select features, starting from the prior."""
    problem = task.problem
    return selecting(task.plan.settings.prefilter)(
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
        with waiting():
            return _work_by_choice(task, plan.contest, keep)
    if learning:  # what cannot be learnt is refused before anything is searched
        learner_name, learner = plan.learner_for(problem)
        scoring = plan.scoring_for(problem)
    with clock("select"), naming_plugin("selector", settings.selector_name, problem):
        selection = search(task, keep)
    if not selection.selected.any():
        raise ProblemError(
            f"selector {settings.selector_name!r} selected no feature of {problem.name!r}: "
            "choose another with --selector, or change it with --param."
        )
    with clock("learn"):
        left = leave(task)
    if not learning:
        quality = quality_of(task, selection)
        return TaskResult(selection, None, quality, clock.seconds, learned=left)
    with clock("learn"), naming_plugin("learner", learner_name, problem):
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
                prefilter=settings.prefilter,
            )
        except NoScore as reason:
            notes = (f"no score: {str(reason).rstrip('.')}",)
        quality = quality_of(task, selection, scores.success if scores else 1.0)
        model, tried = None, None
        if task.saves_model:
            model = model_of(task, selection).complete()
        if task.recorded and isinstance(learner, SupportsCandidates):
            model = model or model_of(task, selection)
            tried = tried_by(model.estimator, problem, np.flatnonzero(selection.selected))
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
        tried=tried,
        model=model,
    )


def quality_of(task: PreparedTask, selection: Selection, success: float = 1.0) -> Array:
    """Return what is remembered as the quality of each feature."""
    if task.plan.settings.quality == "selector":
        return selector_qualities(selection.selected, selection.scores)
    if task.plan.settings.quality == "functions":
        _, learner = task.plan.learner_for(task.problem)
        return function_qualities(task.problem, selection, learner)
    confidence = confidence_of(task.plan.selector)
    rows = task.problem if task.plan.contest is None else task.seen
    return qualities(rows, selection.selected, success, confidence)


def model_of(task: PreparedTask, selection: Selection) -> FittedModel:
    """Return the model of a named learner on what was selected, yet to be fitted."""
    _, learner = task.plan.learner_for(task.problem)
    return named_model(task.problem, np.flatnonzero(selection.selected), learner, task.prior)


def _work_by_choice(task: PreparedTask, contest: Contest, keep: Sequence[int]) -> TaskResult:
    """Choose a pipeline and fit it; where rows cannot be divided into folds, take the default."""
    due = _due(task)
    seconds = None if due is None else due - perf_counter()
    problem, clock = task.seen, Stopwatch()
    with clock("learn"):
        left = leave(task)
    with clock("select"), naming_plugin("pipeline", task.plan.settings.selector_name, problem):
        try:
            choice = _choose(task, contest, keep, due)
        except NoScore as reason:
            choice = default_choice(
                problem,
                contest,
                str(reason),
                scoring=task.plan.scoring_for(problem),
                prior=task.prior,
                keep=keep,
            )
        selection = selection_of(choice)
    with clock("learn"), naming_plugin("learner", "auto", problem):
        rows, notes = _rows_at_last(task, choice, due)
        emit(Event(problem.name, "fitting"))
        model = fitted_model(choice, rows)
        if task.saves_model:
            model.complete()
    scores = choice.scores
    quality = quality_of(task, selection, scores.success if scores else 1.0)
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
        tried=tried_by(model.estimator, rows, choice.columns) if choice.candidate else None,
        without_memory=_without_memory(task, contest, keep, seconds) if scores else None,
        model=model,
        frontier=tuple(choice.frontier),
        leaderboard=tuple((each.as_json(), score) for each, score in choice.leaderboard),
    )


def _without_memory(
    task: PreparedTask, contest: Contest, keep: Sequence[int], seconds: float | None
) -> WithoutMemory | None:
    """Choose without memory, within as many seconds, if the task is to be checked."""
    if not task.checked or not task.neighbours or is_interrupted():
        return None
    started = perf_counter()
    cold = replace(task, prior=None, fold_prior=None, past=(), fold_past=())
    choice = _choose(cold, contest, keep, None if seconds is None else started + seconds)
    if choice.scores is None or choice.stopped == INTERRUPTED:
        return None
    seconds = perf_counter() - started
    return WithoutMemory(choice.scores.nested, len(choice.columns), seconds)


def _rows_at_last(
    task: PreparedTask, choice: Choice, due: float | None
) -> tuple[Problem, tuple[str, ...]]:
    """Return the rows that the chosen pipeline learns from: all, unless that takes too long."""
    candidate = None if choice.stopped == INTERRUPTED else choice.candidate
    most = MOST_SECONDS_AT_LAST
    if due is not None and candidate is not None:
        evaluation = choice.evaluation
        slower = evaluation.expected_seconds(candidate) / evaluation.rough_seconds(candidate)
        most = min(most, (due - perf_counter()) / max(slower, 1.0))
    return at_last(
        task.problem,
        task.seen,
        candidate,
        choice.evaluation.learners,
        task.plan.settings.seed,
        most,
    )


def _choose(
    task: PreparedTask, contest: Contest, keep: Sequence[int], due: float | None = None
) -> Choice:
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
        seconds=None if due is None else due - perf_counter(),
        sized=isinstance(contest.size, int),
    )


def _due(task: PreparedTask) -> float | None:
    """Return when the model has to be there, by `perf_counter`; None without a time limit."""
    seconds = task.plan.settings.seconds
    if seconds is None:
        return None
    spent = task.spent
    if spent is None:
        spent = (utc_now() - task.started_at).total_seconds()
    return perf_counter() + SHARE_UNTIL_RECORD * seconds - FOR_RECORD - spent


def leave(task: PreparedTask) -> Learned | None:
    """Return what models on all columns learned; None if the problem cannot be recalled."""
    if task.described is None:
        return None
    return learned(
        task.seen,
        fit=task.teaches,
        history=task.history,
        fold_history=task.fold_history,
        apart_history=task.apart_history,
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
