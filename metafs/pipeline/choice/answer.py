r"""The answer of a race: the smallest set as good as the best, and what it is worth.

How good a smaller set is stays uncertain, the more the fewer rows there are. It is taken if what it
is expected to lose is small, where only losses count and no gains:

.. math:: E[\max(0, D)] = \sigma \varphi(\mu/\sigma) + \mu \Phi(\mu/\sigma), \qquad
          D \sim N(\mu, \sigma^2)

with D how much better the best pipeline is. Few rows cannot show that little is lost, so with few
rows a set stays as large as that of the best.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm, t

from metafs.data.typing import Array
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.choice.expectation import Expectation, expected_excess, updated
from metafs.stats.folds import n_independent

FEWEST = 50
"""With fewer rows it cannot be told whether anything beats no skill."""
SURE = 0.95
"""The level of the test against no skill."""
OVERLAP = 1.5
"""By how much the standard error over folds grows because their training rows overlap."""
TOLERANCE = 0.015
"""The success by which a smaller set may be worse than the best, if that is one standard error."""
MOST_LOSS = 0.015
"""The success that a smaller set may be expected to lose."""


def chosen(expectation: Expectation, evaluation: Evaluation) -> Candidate:
    """Return the candidate with the fewest features of those that are good enough."""
    complete, good = evaluation.complete, good_enough(expectation, evaluation)

    def order(place: int) -> tuple[int, float]:
        size = expectation.candidates[place].size
        n_features = evaluation.problem.n_features
        return n_features if size is None else size, -float(expectation.mean[place])

    places = [i for i, each in enumerate(expectation.candidates) if each in complete and good[i]]
    return expectation.candidates[min(places, key=order)]


def good_enough(expectation: Expectation, evaluation: Evaluation) -> Array:
    """Tell which candidates are within one standard error of the best, and lose little."""
    best = expectation.best(evaluation.complete)
    behind = expectation.mean[best] - expectation.mean
    deviation = np.sqrt(expectation.variance_from(best))
    near = behind <= np.minimum(deviation, TOLERANCE)
    return np.asarray(near & (expected_excess(behind, deviation) <= MOST_LOSS))


def chosen_in_folds(evaluation: Evaluation, before: Expectation) -> list[Candidate]:
    """Return what is chosen without each fold, which then is scored on it."""
    found = []
    for fold in range(len(evaluation.folds)):
        others = {
            candidate: {other: s for other, s in scores.items() if other != fold}
            for candidate, scores in evaluation.success.items()
        }
        expectation = updated(before, others, **evaluation.rows_of_a_fold)
        found.append(chosen(expectation, evaluation))
        evaluation.score(found[-1], fold)
    return found


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
