"""Choose a pipeline for a problem, and say what it is worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.pipeline.choice.answer import beats_no_skill, chosen, chosen_in_folds
from metafs.pipeline.choice.candidates import ALL, Candidate, sizes_between
from metafs.pipeline.choice.contest import Contest
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.choice.expectation import Past, expected
from metafs.pipeline.choice.race import bisected, race, score_smaller_sets
from metafs.pipeline.scoring import Scores
from metafs.plugin.prior import Prior
from metafs.stats.folds import folds

NO_SKILL = "nothing beats no skill on rows that were not learnt from"


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
    before = expected(candidates, past)
    race(evaluation, before)
    after = score_smaller_sets(evaluation, before)
    between = [] if sized else sizes_between(chosen(after, evaluation))
    candidates = [*candidates, *between]
    before = expected(candidates, past)
    candidate = chosen(bisected(between, evaluation, before), evaluation)
    inside = chosen_in_folds(
        evaluation, before if fold_past is None else expected(candidates, fold_past)
    )
    nested = [evaluation.score(each, fold) for fold, each in enumerate(inside)]
    scores = Scores(
        scoring,
        nested=float(np.mean(nested)),
        non_nested=evaluation.mean(candidate),
        chance=evaluation.no_skill,
        all_features=evaluation.mean(before.default) if before.default.selector == ALL else None,
        fold_columns=tuple(evaluation.columns(each, fold) for fold, each in enumerate(inside)),
    )
    notes: tuple[str, ...] = ()
    if not beats_no_skill(nested, evaluation):
        if not sized:
            columns = np.asarray(sorted(keep), dtype=np.int64)
            return Choice(
                None, columns, scores, evaluation, (f"{NO_SKILL}, so no feature is kept",)
            )
        notes = (f"{NO_SKILL}; as many features are kept as were asked for",)
    return Choice(candidate, evaluation.columns(candidate, None), scores, evaluation, notes)


def default_choice(
    problem: Problem, contest: Contest, prior: Prior | None, keep: Sequence[int], reason: str
) -> Choice:
    """Return the default pipeline, unscored, for a problem whose rows cannot be divided."""
    evaluation = Evaluation(
        problem, (), contest.selectors, contest.learners, "", prior, prior, keep
    )
    candidate = contest.candidates(problem)[0]
    note = f"no score: {reason.rstrip('.')}"
    return Choice(candidate, evaluation.columns(candidate, None), None, evaluation, (note,))
