"""Choose a pipeline for a problem, and say what it is worth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from time import perf_counter
from typing import Any

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.memory import INTERRUPTED
from metafs.pipeline.choice.answer import chosen, chosen_in_folds
from metafs.pipeline.choice.candidates import ALL, Candidate, sizes_between
from metafs.pipeline.choice.contest import Contest
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.choice.expectation import (
    Expectation,
    Past,
    expected,
    thresholds_for,
    updated,
)
from metafs.pipeline.choice.race import bisected, race, score_smaller_sets
from metafs.pipeline.choice.skill import beats_no_skill
from metafs.pipeline.engines.interruption import broken_off
from metafs.pipeline.fitting.scoring import Scores
from metafs.plugin.prior import Prior
from metafs.stats.folds import folds, n_independent
from metafs.stats.scorers import over_folds

NO_SKILL = "nothing beats no skill on rows that were not learnt from"
SETTLED = "no other pipeline promises enough"
TIME_UP = "the time limit was reached"
SHARE_OF_RACE = 0.9
"""The part of the time for choosing and for the last fit after which an alarm ends the race."""


@dataclass(frozen=True, eq=False)
class Choice:
    """The pipeline that was chosen for a problem, and all that were tried."""

    candidate: Candidate | None
    """None if nothing beats no skill."""
    columns: Array
    """The columns that are kept."""
    scores: Scores | None
    """None if the rows cannot be divided into folds."""
    evaluation: Evaluation
    notes: tuple[str, ...] = ()
    stopped: str = SETTLED
    """Why no other pipeline was tried."""

    @property
    def frontier(self) -> list[tuple[int, float]]:
        """The best mean score for each number of features that was scored on every fold."""
        best: dict[int, float] = {}
        for candidate, mean in self.evaluation.means.items():
            size = candidate.size or self.evaluation.problem.n_features
            best[size] = max(mean, best.get(size, -np.inf))
        return sorted(best.items())

    @property
    def leaderboard(self) -> list[tuple[Candidate, float]]:
        """Candidates that were scored on every fold with their mean score, the best first."""
        return sorted(self.evaluation.means.items(), key=lambda item: (-item[1], item[0].size or 0))


def choose(
    problem: Problem,
    candidates: Sequence[Candidate],
    *,
    selectors: Mapping[str, Any],
    learners: Mapping[str, Any],
    scoring: str,
    past: Sequence[Past] = (),
    fold_past: Sequence[Past] | None = None,
    prior: Prior | None = None,
    fold_prior: Prior | None = None,
    keep: Sequence[int] = (),
    n_folds: int = 5,
    seed: int | None = 0,
    seconds: float | None = None,
    sized: bool = False,
) -> Choice:
    """Run the race on a problem and return its answer.

    Parameters
    ----------
    problem : Problem
    candidates : sequence of Candidate
        The first is the default.
    selectors, learners : mapping
        By the names that candidates use.
    scoring : str
    past : sequence of Past
        What was tried on other problems.
    fold_past : sequence of Past, optional
        The same without problems that may hold rows of this one, for the nested score.
    prior, fold_prior : Prior, optional
        What memory expects of the columns, and the same for use inside folds.
    keep : sequence of int
        Columns that are always kept.
    n_folds, seed, seconds
        How rows are divided, and how long it may take to choose and to fit the last model.
    sized : bool
        Whether the number of features was asked for: then exactly so many are kept.

    Raises
    ------
    NoScore
        The rows cannot be divided into folds.
    """
    cut = folds(problem, n_folds, seed)
    until = None if seconds is None else perf_counter() + seconds
    evaluation = Evaluation(
        problem, cut, selectors, learners, scoring, prior, fold_prior, keep, seed, until
    )
    found = list(candidates)
    memory = prior is not None and prior.weights is not None
    thresholds = thresholds_for(n_independent(problem), memory=memory)
    notes: tuple[str, ...] = ()
    stopped = SETTLED
    alarm = None if seconds is None else perf_counter() + SHARE_OF_RACE * seconds

    @cache
    def before_scores(n_candidates: int) -> Expectation:
        return expected(found[:n_candidates], past, thresholds)

    compare = partial(_compare, evaluation, found, before_scores, sized=sized)
    reason = broken_off(compare, alarm)
    if reason == "interrupted":
        stopped = INTERRUPTED
        notes = (f"interrupted: the best of {len(evaluation.scored)} pipelines tried",)
    elif reason == "late" or evaluation.is_late:
        stopped = TIME_UP
    if found[0] not in evaluation.complete:
        notes = (f"{stopped}: the default pipeline, which is not scored yet",)
        return _unscored(evaluation, found[0], notes, stopped)
    before = before_scores(len(found))
    after = updated(before, evaluation.success, **evaluation.rows_of_a_fold)
    candidate = chosen(after, evaluation)
    notes += tuple(evaluation.failures.values())
    if fold_past is not None and list(fold_past) != list(past):
        before = expected(found, fold_past, thresholds)
    inside = chosen_in_folds(evaluation, before)
    nested = [evaluation.score(each, fold) for fold, each in enumerate(inside)]
    scores = Scores(
        scoring,
        nested=over_folds(scoring, nested),
        non_nested=evaluation.mean(candidate),
        chance=evaluation.no_skill,
        all_features=evaluation.mean(before.default) if before.default.selector == ALL else None,
        fold_columns=tuple(evaluation.columns(each, fold) for fold, each in enumerate(inside)),
    )
    remembered = [each for each in past if not each.shipped]
    if not beats_no_skill(before.default, nested, evaluation, remembered):
        if not sized:
            columns = np.asarray(sorted(keep), dtype=np.int64)
            notes += (f"{NO_SKILL}, so no feature is kept",)
            return Choice(None, columns, scores, evaluation, notes, stopped)
        notes += (f"{NO_SKILL}; as many features are kept as were asked for",)
    columns = evaluation.columns(candidate, None)
    return Choice(candidate, columns, scores, evaluation, notes, stopped)


def _compare(
    evaluation: Evaluation,
    found: list[Candidate],
    before_scores: Callable[[int], Expectation],
    *,
    sized: bool,
) -> None:
    """Score candidates on folds; sizes that turn out to be of interest are added to those found."""
    before = before_scores(len(found))
    race(evaluation, before)
    if before.default not in evaluation.complete:
        return  # there is no time for it
    after = score_smaller_sets(evaluation, before)
    between = [] if sized else sizes_between(chosen(after, evaluation))
    found += between
    bisected(between, evaluation, before_scores(len(found)))


def default_choice(
    problem: Problem,
    contest: Contest,
    reason: str,
    *,
    scoring: str,
    prior: Prior | None = None,
    keep: Sequence[int] = (),
) -> Choice:
    """Return the default pipeline, unscored, for a problem whose rows cannot be divided."""
    evaluation = Evaluation(
        problem, (), contest.selectors, contest.learners, scoring, prior, prior, keep
    )
    note = f"no score: {reason.rstrip('.')}"
    return _unscored(evaluation, contest.candidates(problem)[0], (note,), SETTLED)


def _unscored(
    evaluation: Evaluation, candidate: Candidate, notes: tuple[str, ...], stopped: str
) -> Choice:
    columns = evaluation.columns(candidate, None)
    return Choice(candidate, columns, None, evaluation, notes, stopped)
