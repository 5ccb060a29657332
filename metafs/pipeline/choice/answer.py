r"""The answer of a race: the smallest set as good as the best, and what it is worth.

How good a smaller set is stays uncertain, the more the fewer rows there are. It is taken if it is
within one standard error of the best, and if what it is expected to lose is small, where only
losses count and no gains:

.. math:: E[\max(0, D)] = \sigma \varphi(\mu/\sigma) + \mu \Phi(\mu/\sigma), \qquad
          D \sim N(\mu, \sigma^2)

with D how much better the best pipeline is. Few rows cannot show that little is lost, so with few
rows a set stays as large as that of the best.
"""

import numpy as np

from metafs.data.typing import Array
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.choice.expectation import Expectation, expected_excess, updated


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
    loss = expected_excess(behind, deviation)
    return np.asarray((behind <= deviation) & (loss <= expectation.thresholds.loss))


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
