"""Which candidates are evaluated on how many folds.

The default is scored on every fold, so that there is a result from the first second on. After that
always the candidate that promises most is scored on its next fold, as long as its expected
improvement over the best so far is worth the time that its fit is expected to take. What memory
knows to be bad is never tried, and what falls behind is not scored on further folds. The race ends
when nothing promises more than the leader, and the leader is scored on every fold.
"""

from collections.abc import Sequence

import numpy as np

from metafs.data.typing import Array
from metafs.pipeline.choice.answer import good_enough
from metafs.pipeline.choice.candidates import ALL, Candidate
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.choice.expectation import (
    Expectation,
    expected_excess,
    remaining_variance,
    updated,
)
from metafs.pipeline.choice.wide import opening

WORTH = 0.003
"""The expected improvement of success that pays for one quick evaluation."""
WORTH_A_SECOND = 0.05
"""And what a second of fitting has to promise more."""
QUICK = 0.2
"""Seconds of a fit and its ranking that are hardly worth saving."""


def race(evaluation: Evaluation, before: Expectation) -> Expectation:
    """Score candidates on folds, the most promising next; return what is expected in the end."""
    n_folds = len(evaluation.folds)
    for candidate in [before.default, *opening(before.candidates, evaluation)]:
        for fold in range(n_folds):
            if not evaluation.in_time(candidate, n_folds - fold):
                break
            evaluation.score(candidate, fold)
    if before.default not in evaluation.complete:
        return before
    price = np.array([_price(evaluation, each) for each in before.candidates])
    while True:
        after = updated(before, evaluation.success, **evaluation.rows_of_a_fold)
        improvement = expected_improvement(after, evaluation) - price
        for place, each in enumerate(before.candidates):
            if _done(evaluation, each) or not evaluation.in_time(each):
                improvement[place] = -np.inf
        next_one, leader = int(np.argmax(improvement)), after.best(evaluation.scored)
        if improvement[next_one] <= 0:
            first = before.candidates[leader]
            if _done(evaluation, first) or not evaluation.in_time(first):
                return after
            next_one = leader  # what leads by luck on a few folds is found out
        candidate = before.candidates[next_one]
        evaluation.score(candidate, len(evaluation.scores.get(candidate, {})))


def score_smaller_sets(evaluation: Evaluation, before: Expectation) -> Expectation:
    """Score the best learner, and the default's, on every fold with smaller sets.

    Smaller sets seldom win, so the race does not try them by itself; but one as good as the best is
    the better answer, whichever learner sees it. Scores fall with the size below some size, which
    is found by bisection. Other rankings are tried too where that takes little time: one may have
    noise among its first columns.
    """
    after = updated(before, evaluation.success, **evaluation.rows_of_a_fold)
    leader = after.candidates[after.best(evaluation.complete)]
    for learner in dict.fromkeys((leader.learner, before.default.learner)):
        after = _smaller_sets_of(learner, leader, evaluation, before, after)
    return after


def _smaller_sets_of(
    learner: str,
    leader: Candidate,
    evaluation: Evaluation,
    before: Expectation,
    after: Expectation,
) -> Expectation:
    """Score sets of a learner that are smaller than the leader's; return what is expected then."""
    most = leader.size or evaluation.problem.n_features
    sets: dict[str, list[Candidate]] = {}
    promise: dict[str, float] = {}
    for mean, each in zip(after.mean, after.candidates, strict=True):
        if each.learner == learner and each.size is not None:
            promise[each.selector] = max(promise.get(each.selector, -np.inf), float(mean))
            sets.setdefault(each.selector, [])
            if each.size < most:
                sets[each.selector].append(each)
    first = leader.selector
    if first == ALL and promise:
        first = max(promise, key=lambda name: promise[name])
    for selector in sorted(sets, key=lambda name: name != first):
        quick = all(evaluation.rough_seconds(each) <= QUICK for each in sets[selector])
        if quick or (selector == first and learner == leader.learner):
            after = bisected(sets[selector], evaluation, before)
    return after


def bisected(sets: Sequence[Candidate], evaluation: Evaluation, before: Expectation) -> Expectation:
    """Score some of the sets on every fold, so that the smallest that is good enough is among them.

    Parameters
    ----------
    sets : sequence of Candidate
        Of one ranking and learner.
    """
    by_size = sorted(sets, key=lambda each: each.size or 0)
    after = updated(before, evaluation.success, **evaluation.rows_of_a_fold)
    low, high = 0, len(by_size)  # sets from `high` on are good enough, those before `low` are not
    while low < high:
        middle = (low + high) // 2
        n_folds = len(evaluation.folds)
        if not evaluation.in_time(by_size[middle], n_folds):
            break
        for fold in range(n_folds):
            evaluation.score(by_size[middle], fold)
        after = updated(before, evaluation.success, **evaluation.rows_of_a_fold)
        if good_enough(after, evaluation)[after.candidates.index(by_size[middle])]:
            high = middle
        else:
            low = middle + 1
    return after


def expected_improvement(expectation: Expectation, evaluation: Evaluation) -> Array:
    """Return by how much each candidate is expected to beat the leader once all folds scored it.

    Scoring it moves its mean by less than it is uncertain now, and some doubt stays for which it
    has to make up. Nobody can succeed more than fully, so the improvement is at most what the
    leader lacks of that.
    """
    leader = expectation.best(evaluation.scored)
    base = evaluation.success[expectation.default]
    reached = float(np.mean(list(base.values()))) + max(0.0, float(expectation.mean[leader]))
    noise = remaining_variance(base, len(evaluation.folds), **evaluation.rows_of_a_fold)
    variance = expectation.deviation**2
    doubt = expectation.thresholds.advantage * np.sqrt(variance * noise / (variance + noise))
    ahead = expectation.mean - doubt - expectation.assured[leader]
    found = expected_excess(ahead, variance / np.sqrt(variance + noise))
    return np.asarray(np.minimum(found, max(0.0, 1.0 - reached)))


def _price(evaluation: Evaluation, candidate: Candidate) -> float:
    return WORTH + WORTH_A_SECOND * evaluation.rough_seconds(candidate)


def _done(evaluation: Evaluation, candidate: Candidate) -> bool:
    return len(evaluation.scores.get(candidate, {})) == len(evaluation.folds)
