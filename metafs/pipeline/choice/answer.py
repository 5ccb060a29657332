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
from scipy.stats import norm

from metafs.data.typing import Array
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.choice.expectation import Expectation, expected_excess, updated
from metafs.stats.folds import n_independent
from metafs.stats.scorers import ERRORS, best_possible, over_folds

FEWEST = 50
"""With fewer rows it cannot be told whether anything beats no skill."""
SURE = 0.98
"""How seldom something is kept where nothing can be learnt."""
OVERLAP = 1.25
"""By how much the standard error over folds grows because their training rows overlap."""
TOLERANCE = 0.02
"""The success by which a smaller set may be worse than the best, if that is one standard error."""
MOST_LOSS = 0.02
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


def beats_no_skill(default: Candidate, nested: Sequence[float], evaluation: Evaluation) -> bool:
    """Tell whether anything predicts rows that it has not seen better than guessing does.

    The default is the same whatever the rows, so it need only do better than by chance. What is
    chosen without a fold was tried because of all folds, so it has to do better than the best by
    chance of as many as were tried. Each test is allowed half of the errors. With few rows nothing
    can be told, and a problem that somebody asks about is taken to be one that can be learnt.
    """
    if n_independent(evaluation.problem) < FEWEST:
        return True
    allowed = (1 - SURE) / 2
    of_default = evaluation.mean(default) - evaluation.no_skill
    of_chosen = over_folds(evaluation.scoring, nested) - evaluation.no_skill
    return of_default > reached_by_chance(evaluation, allowed) or of_chosen > reached_by_chance(
        evaluation, allowed / len(evaluation.scored)
    )


def reached_by_chance(evaluation: Evaluation, probability: float) -> float:
    r"""Return by how much predictions that know nothing beat guessing with this probability.

    Hits in n rows vary by at most :math:`1 / (2 \sqrt n)`, and recalls of classes alike if n counts
    them alike; errors are that share of all that is tested on. A correlation r of predictions with
    a number varies by :math:`1 / \sqrt n`; however predictions are scaled, they explain at most
    :math:`r^2` of its variance.
    """
    problem, n_rows = evaluation.problem, evaluation.n_scored
    level = norm.isf(probability) * OVERLAP
    errors = evaluation.scoring == ERRORS
    if problem.is_classification and (errors or best_possible(evaluation.scoring) == 1):
        counts = np.bincount(problem.y)
        alike = len(counts) ** 2 / (1 / counts).sum() / counts.sum()
        share = float(level * 0.5 / np.sqrt(n_rows * alike))
        return share * evaluation.weight_tested if errors else share
    span = best_possible(evaluation.scoring) - evaluation.no_skill
    return float(span * level**2 / n_rows)
