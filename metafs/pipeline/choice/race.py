"""Which candidates are evaluated on how many folds.

The default is scored on every fold, so that there is a result from the first second on. After that
always the candidate that promises most is scored on its next fold, as long as its expected
improvement over the best so far is worth the time that its fit is expected to take. What memory
knows to be bad is never tried, and what falls behind is not scored on further folds.
"""

from time import perf_counter

import numpy as np
from scipy.stats import norm

from metafs.data.typing import Array
from metafs.pipeline.choice.candidates import ALL, Candidate, seconds_of
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.choice.expectation import Expectation, updated
from metafs.pipeline.choice.wide import opening

WORTH = 0.003
"""The expected improvement of success that pays for one quick evaluation."""
WORTH_A_SECOND = 0.02
"""And what a second of fitting has to promise more."""


def race(
    evaluation: Evaluation, before: Expectation, *, seconds: float | None = None
) -> Expectation:
    """Score candidates on folds, the most promising next; return what is expected in the end."""
    until = None if seconds is None else perf_counter() + seconds
    for fold in range(len(evaluation.folds)):
        evaluation.score(before.default, fold)
    for candidate in opening(before.candidates, evaluation.problem.n_features):
        for fold in range(len(evaluation.folds)):
            if until is None or perf_counter() < until:
                evaluation.score(candidate, fold)
    price = np.array([_price(evaluation, each) for each in before.candidates])
    after = before
    while until is None or perf_counter() < until:
        after = updated(before, evaluation.success, **evaluation.rows_of_a_fold)
        improvement = expected_improvement(after, evaluation) - price
        improvement[[_done(evaluation, each) for each in before.candidates]] = -np.inf
        next_one = int(np.argmax(improvement))
        if improvement[next_one] <= 0:
            break
        candidate = before.candidates[next_one]
        evaluation.score(candidate, len(evaluation.scores.get(candidate, {})))
    return updated(before, evaluation.success, **evaluation.rows_of_a_fold)


def score_smaller_sets(evaluation: Evaluation, before: Expectation) -> Expectation:
    """Score the best learner on every fold with each size of its most promising ranking.

    Smaller sets seldom win, so the race does not try them by itself; but one as good as the best is
    the better answer.
    """
    after = updated(before, evaluation.success, **evaluation.rows_of_a_fold)
    best = after.candidates[after.best(evaluation.scored)]
    rivals = [i for i, each in enumerate(after.candidates) if each.learner == best.learner]
    by_size = [i for i in rivals if after.candidates[i].size is not None]
    if not by_size:
        return after
    selector = best.selector
    if selector == ALL:
        selector = after.candidates[by_size[int(np.argmax(after.mean[by_size]))]].selector
    for each in (after.candidates[i] for i in by_size):
        if each.selector == selector:
            for fold in range(len(evaluation.folds)):
                evaluation.score(each, fold)
    return updated(before, evaluation.success, **evaluation.rows_of_a_fold)


def expected_improvement(expectation: Expectation, evaluation: Evaluation) -> Array:
    """Return by how much each candidate is expected to beat the best of those that were scored.

    Nobody can succeed more than fully, so the improvement is at most what the best lacks of that.
    """
    leader = expectation.best(evaluation.scored)
    reached = np.mean(list(evaluation.success[expectation.default].values()))
    lacking = max(0.0, 1.0 - float(reached) - max(0.0, float(expectation.mean[leader])))
    deviation = np.sqrt(np.maximum(expectation.variance_from(leader), 1e-12))
    ahead = expectation.mean - expectation.mean[leader]
    z = ahead / deviation
    improvement = deviation * norm.pdf(z) + ahead * norm.cdf(z)
    return np.asarray(np.minimum(improvement, lacking))


def _price(evaluation: Evaluation, candidate: Candidate) -> float:
    problem = evaluation.problem
    n_classes = len(problem.classes) if problem.classes else 1
    width = problem.n_features if candidate.size is None else candidate.size
    outputs = n_classes if n_classes > 2 else 1
    return WORTH + WORTH_A_SECOND * seconds_of(candidate.learner, problem.n_samples, width, outputs)


def _done(evaluation: Evaluation, candidate: Candidate) -> bool:
    return len(evaluation.scores.get(candidate, {})) == len(evaluation.folds)
