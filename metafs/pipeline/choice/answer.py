r"""The answer of a race: the smallest set as good as the best, and what it is worth.

How good a smaller set is stays uncertain, the more the fewer rows there are. It is taken if it is
within one standard error of the best, and if what it is expected to lose, where only losses count
and no gains, is little, the more so the more columns it leaves out:

.. math:: E[\max(0, D)] = \sigma \varphi(\mu/\sigma) + \mu \Phi(\mu/\sigma)
          \le \min(a + b \log_2 (m / n), L), \qquad D \sim N(\mu, \sigma^2)

with D how much better the best pipeline is, on m columns, than one on n. Each halving of the
columns may cost some success: to go from 13 columns to 8 is worth less than from 2,000 to 64. Few
rows cannot show that little is lost, so with few rows a set stays as large as that of the best.
"""

import numpy as np

from metafs.data.typing import Array
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.choice.expectation import Expectation, expected_excess, updated

LOSS = 0.01
"""The success that a smaller set may be expected to lose."""
LOSS_A_HALVING = 0.004
"""What it may lose besides for each halving of the number of columns."""
MOST_LOSS = 0.03
"""What it may lose however many columns are left out."""


def chosen(expectation: Expectation, evaluation: Evaluation) -> Candidate:
    """Return the candidate with the fewest features of those that are good enough."""
    complete, good = evaluation.complete, good_enough(expectation, evaluation)
    sizes = _sizes(expectation, evaluation)
    places = [i for i, each in enumerate(expectation.candidates) if each in complete and good[i]]
    return expectation.candidates[
        min(places, key=lambda place: (sizes[place], -float(expectation.mean[place])))
    ]


def good_enough(expectation: Expectation, evaluation: Evaluation) -> Array:
    """Tell which candidates are within one standard error of the best, and lose little."""
    best = expectation.best(evaluation.complete)
    behind = expectation.mean[best] - expectation.mean
    deviation = np.sqrt(expectation.variance_from(best))
    sizes = _sizes(expectation, evaluation)
    may_lose = np.minimum(LOSS + LOSS_A_HALVING * np.log2(sizes[best] / sizes), MOST_LOSS)
    good = (behind <= deviation) & (expected_excess(behind, deviation) <= may_lose)
    good[best] = True
    return np.asarray(good)


def _sizes(expectation: Expectation, evaluation: Evaluation) -> Array:
    n_features = evaluation.problem.n_features
    return np.array(
        [n_features if each.size is None else each.size for each in expectation.candidates]
    )


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
