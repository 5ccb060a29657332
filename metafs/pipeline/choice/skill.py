r"""Whether anything beats no skill: by the rows at hand, and by what past problems let expect.

Success s is the score between no skill (0) and the best there is (1); of R2 its square root, a
correlation. Predictions that know nothing have s around 0 with the standard error e. Past problems
that could be learnt have the mean :math:`\mu` and the variance :math:`\tau^2`, so with a share
:math:`\pi` of them among problems

.. math:: \frac{P(\text{no skill} \mid s)}{P(\text{skill} \mid s)} =
          \frac{1 - \pi}{\pi} \cdot \frac{N(s; 0, e^2)}{N(s; \mu, \tau^2 + e^2)}.

Memory only adds to what rows show: without it, or where it says otherwise, a test decides. For two
classes it is the rank test of H. Mann and D. Whitney, Annals of Mathematical Statistics 18, 1947:
predictions that know nothing put a row of one class before a row of the other as often as not, so
the area A under the ROC curve on n and m rows has

.. math:: E[A] = \tfrac{1}{2}, \qquad \operatorname{var} A = \frac{n + m + 1}{12 n m}.

It also sees what a model knows of a rare class, of which few rows are recognised.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from metafs.errors import ProblemError
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.choice.expectation import KAPPA, Past
from metafs.stats.folds import n_independent
from metafs.stats.scorers import ERRORS, best_possible, over_folds

FEWEST = 50
"""With fewer rows it cannot be told whether anything beats no skill."""
SURE = 0.98
"""How seldom something is kept where nothing can be learnt, by the rows alone."""
UNLIKELY = 0.1
"""The probability of no skill below which something is kept, if past problems are known."""
LEAST = 0.05
"""The success of the default from which on a past problem could be learnt."""
RANKS = "roc_auc"
"""The scorer of the rank test."""
OVERLAP = 1.25
"""By how much the standard error over folds grows because their training rows overlap."""


def beats_no_skill(
    default: Candidate, nested: Sequence[float], evaluation: Evaluation, past: Sequence[Past] = ()
) -> bool:
    """Tell whether anything predicts rows that it has not seen better than guessing does.

    The default is the same whatever the rows, so it need only do better than by chance. What is
    chosen without a fold was tried because of all folds, so it has to do better than the best by
    chance of as many as were tried. Each test is allowed half of the errors. With few rows nothing
    can be told, and a problem that somebody asks about is taken to be one that can be learnt.
    """
    if n_independent(evaluation.problem) < FEWEST:
        return True
    error = standard_error(evaluation)
    of_default = success(evaluation, evaluation.mean(default))
    errors_above = ranks_above_chance(default, evaluation)
    if errors_above is None:
        errors_above = of_default / error
    of_chosen = success(evaluation, over_folds(evaluation.scoring, nested))
    allowed = (1 - SURE) / 2
    known = [
        (_of_share(evaluation, each.success[default]), each.weight)
        for each in past
        if default in each.success
    ]
    return bool(
        errors_above > norm.isf(allowed)
        or of_chosen > error * norm.isf(allowed / len(evaluation.scored))
        or unlearnable(of_default, error, known) < UNLIKELY
    )


def ranks_above_chance(default: Candidate, evaluation: Evaluation) -> float | None:
    """Return by how many standard errors the default ranks two classes better than by chance.

    None where there are not two classes, or the learner tells nothing by which rows are ranked.
    """
    problem = evaluation.problem
    if not _counts_hits(evaluation) or problem.classes is None or len(problem.classes) != 2:
        return None
    above, variance = 0.0, 0.0
    for fold, (_, test) in enumerate(evaluation.folds):
        n, m = np.bincount(problem.y[test], minlength=2)
        if not n or not m:
            continue
        try:
            area = evaluation.score_by(RANKS, default, fold)
        except ProblemError:
            return None
        rows_of_one = len(test) / n_independent(problem, test)
        above += n * m * (area - 0.5)
        variance += n * m * (n + m + 1) / 12 * rows_of_one
    return float(above / np.sqrt(variance) / OVERLAP) if variance else None


def success(evaluation: Evaluation, score: float) -> float:
    """Return how far a score is from no skill to the best; for numbers the root, a correlation."""
    return _of_share(evaluation, (score - evaluation.no_skill) / _span(evaluation))


def standard_error(evaluation: Evaluation) -> float:
    r"""Return the standard error of the success of predictions that know nothing.

    Hits in n rows vary by at most :math:`1 / (2 \sqrt n)`, and recalls of classes alike if n counts
    them alike; errors are that share of all that is tested on. A correlation of predictions with a
    number varies by :math:`1 / \sqrt n`; however predictions are scaled, they explain at most its
    square of the variance.
    """
    n_rows = evaluation.n_scored
    if not _counts_hits(evaluation):
        return float(OVERLAP / np.sqrt(n_rows))
    counts = np.bincount(evaluation.problem.y)
    alike = len(counts) ** 2 / (1 / counts).sum() / counts.sum()
    of_hits = OVERLAP * 0.5 / np.sqrt(n_rows * alike)
    if evaluation.scoring == ERRORS:
        of_hits *= evaluation.weight_tested
    return float(of_hits / _span(evaluation))


def unlearnable(observed: float, error: float, past: Sequence[tuple[float, float]]) -> float:
    """Return the probability that nothing can be learnt, 1 if no past problem could be.

    Parameters
    ----------
    observed, error : float
        The success of the default here, and its standard error.
    past : sequence of (success, weight)
        The success of the default on past problems, and how related each is.

    Examples
    --------
    >>> past = [(0.5, 1.0), (0.7, 1.0), (0.6, 1.0)]
    >>> round(unlearnable(0.4, 0.15, past), 2), round(unlearnable(0.0, 0.15, past), 2)
    (0.02, 0.64)
    """
    learnt = np.array([each for each in past if each[0] >= LEAST])
    if not len(learnt):
        return 1.0
    values, weights = learnt.T
    total = weights.sum()
    mean = weights @ values / total
    variance = (KAPPA + weights @ (values - mean) ** 2) / (KAPPA + total) * (1 + 1 / total)
    odds_before = (1 + sum(weight for _, weight in past) - total) / (1 + total)
    apart = norm.logpdf(observed, 0.0, error) - norm.logpdf(
        observed, mean, np.sqrt(variance + error**2)
    )
    return float(expit(np.log(odds_before) + apart))


def _counts_hits(evaluation: Evaluation) -> bool:
    bounded = evaluation.scoring == ERRORS or best_possible(evaluation.scoring) == 1
    return evaluation.problem.is_classification and bounded


def _span(evaluation: Evaluation) -> float:
    return max(best_possible(evaluation.scoring) - evaluation.no_skill, 1e-12)


def _of_share(evaluation: Evaluation, share: float) -> float:
    return share if _counts_hits(evaluation) else float(np.sign(share) * np.sqrt(abs(share)))
