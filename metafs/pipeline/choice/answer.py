"""The answer of a race: the smallest set as good as the best, and what it is worth."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import norm, t

from metafs.data.typing import Array
from metafs.pipeline.choice.candidates import GRID, Candidate
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.choice.expectation import Expectation, updated
from metafs.stats.folds import n_independent
from metafs.stats.scorers import best_possible

FEWEST = 50
"""With fewer rows it cannot be told whether anything beats no skill."""
SURE = 0.95
"""The level of the test against no skill."""
OVERLAP = 1.5
"""By how much the standard error over folds grows because their training rows overlap."""
TOLERANCE = 0.02
"""A smaller set is at most one standard error worse than the best, and at most by this success."""


def chosen(expectation: Expectation, evaluation: Evaluation) -> Candidate:
    """Return the candidate with the fewest features within one standard error of the best."""
    scored = evaluation.scored
    best = expectation.best(scored)
    behind = expectation.mean[best] - expectation.mean
    good = behind <= np.minimum(np.sqrt(expectation.variance_from(best)), TOLERANCE)

    def order(place: int) -> tuple[int, float]:
        size = expectation.candidates[place].size
        return evaluation.problem.n_features if size is None else size, float(behind[place])

    places = [i for i, each in enumerate(expectation.candidates) if each in scored and good[i]]
    return expectation.candidates[min(places, key=order)]


def nested_scores(evaluation: Evaluation, before: Expectation) -> list[float]:
    """Return the score on each fold of what is chosen without it."""
    found = []
    for fold in range(len(evaluation.folds)):
        others = {
            candidate: {other: s for other, s in scores.items() if other != fold}
            for candidate, scores in evaluation.success.items()
        }
        expectation = updated(before, others, **evaluation.rows_of_a_fold)
        found.append(evaluation.score(chosen(expectation, evaluation), fold))
    return found


def refined(candidate: Candidate, evaluation: Evaluation) -> Candidate:
    """Return the smallest set by the same selector that the folds cannot tell from the chosen one.

    Sizes were tried on a coarse grid: the smallest of it that is within one standard error is found
    first, then those between it and the next smaller one.
    """
    if candidate.size is None:
        return candidate
    size, step = candidate.size, 1
    while step < size:
        if _as_good(replace(candidate, size=step), candidate, evaluation):
            size = step
            break
        step *= GRID
    between = sorted({round(s) for s in np.geomspace(max(size // GRID, 1), size, 5)} - {size})
    for fewer in between:
        if _as_good(replace(candidate, size=fewer), candidate, evaluation):
            return replace(candidate, size=fewer)
    return replace(candidate, size=size)


def _as_good(smaller: Candidate, larger: Candidate, evaluation: Evaluation) -> bool:
    """Tell whether a candidate is at most one standard error worse than another."""
    apart = np.array(
        [
            evaluation.score(larger, fold) - evaluation.score(smaller, fold)
            for fold in range(len(evaluation.folds))
        ]
    )
    span = best_possible(evaluation.scoring) - evaluation.no_skill
    return bool(apart.mean() <= min(_standard_error(apart, evaluation), TOLERANCE * span))


def _standard_error(apart: Array, evaluation: Evaluation) -> float:
    """Return the standard error of a mean over folds, whose training rows overlap."""
    rows = evaluation.rows_of_a_fold
    overlap = 1 / len(apart) + rows["n_test"] / rows["n_train"]
    return float(apart.std(ddof=1) * np.sqrt(overlap))


def beats_no_skill(nested: Sequence[float], evaluation: Evaluation) -> bool:
    """Tell whether what is chosen without a fold predicts its rows better than guessing does.

    With few rows that cannot be told, and a problem that somebody asks about is taken to be one
    that can be learnt.
    """
    if n_independent(evaluation.problem) < FEWEST:
        return True
    apart = np.asarray(nested) - evaluation.no_skill
    surely = t.ppf(SURE, len(apart) - 1) * _standard_error(apart, evaluation)
    if evaluation.problem.is_classification:  # what guessing varies by is known, and folds are few
        by_chance = norm.ppf(SURE) * OVERLAP * 0.5 / np.sqrt(evaluation.n_scored)
        surely = min(surely, by_chance)
    return bool(apart.mean() > surely)
