r"""Do pipelines differ over many problems? Ranks, Friedman's test and Nemenyi's difference.

On each problem the best of k pipelines has rank 1, and ties share the mean of their ranks. With
:math:`R_j` the mean rank of a pipeline over N problems, Friedman's statistic

.. math:: \chi^2_F = \frac{12 N}{k (k + 1)} \Big[ \sum_j R_j^2 - \frac{k (k + 1)^2}{4} \Big],

corrected for ties as SciPy does it, tells whether any differ. Two of them do, by Nemenyi's test, if
their mean ranks are at least a critical difference apart:

.. math:: CD = q_\alpha \sqrt{\frac{k (k + 1)}{6 N}},

with :math:`q_\alpha` the quantile of the studentised range divided by the root of 2. For two
pipelines the test is Wilcoxon's signed-rank test instead of Friedman's.

J. Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

from metafs.data.typing import Array

LEVEL = 0.95
_DECIMALS = 9
"""Scores that are equal to so many decimals are tied: the rest is rounding."""


@dataclass(frozen=True)
class RankTest:
    """What the ranks of pipelines over problems tell."""

    test: str
    """"friedman", or "wilcoxon" for two pipelines."""
    n_problems: int
    mean_ranks: tuple[float, ...]
    statistic: float
    p_value: float
    critical_difference: float
    groups: tuple[tuple[int, ...], ...]
    """The largest sets of pipelines that do not differ by Nemenyi's test, best first."""

    @property
    def differ(self) -> bool:
        """Whether any pipelines differ at the level of 5 %."""
        return self.p_value <= 1 - LEVEL


def ranks_of(scores: Array) -> Array:
    """Return the rank of each column in its row, 1 for the largest score.

    Examples
    --------
    >>> ranks_of(np.array([[0.9, 0.7, 0.9], [0.5, 0.6, 0.7]]))
    array([[1.5, 3. , 1.5],
           [3. , 2. , 1. ]])
    """
    return np.asarray(rankdata(-np.round(scores, _DECIMALS), axis=1), dtype=np.float64)


def critical_difference(n_pipelines: int, n_problems: int, level: float = LEVEL) -> float:
    """Return Nemenyi's critical difference of mean ranks.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    q = studentized_range.ppf(level, n_pipelines, np.inf) / sqrt(2)
    return float(q * sqrt(n_pipelines * (n_pipelines + 1) / (6 * n_problems)))


def rank_test(scores: Array) -> RankTest:
    """Compare pipelines, a column each, on problems, a row each.

    Examples
    --------
    >>> found = rank_test(np.array([[0.9, 0.8, 0.5], [0.7, 0.6, 0.5], [0.8, 0.9, 0.6]]))
    >>> found.test, [round(each, 2) for each in found.mean_ranks], found.groups
    ('friedman', [1.33, 1.67, 3.0], ((0, 1, 2),))
    """
    scores = np.round(np.asarray(scores, dtype=np.float64), _DECIMALS)
    n_problems, n_pipelines = scores.shape
    mean_ranks = tuple(ranks_of(scores).mean(axis=0).tolist())
    difference = critical_difference(n_pipelines, n_problems)
    statistic, p_value = _tested(scores)
    return RankTest(
        test="wilcoxon" if n_pipelines == 2 else "friedman",
        n_problems=n_problems,
        mean_ranks=mean_ranks,
        statistic=statistic,
        p_value=p_value,
        critical_difference=difference,
        groups=groups_within(mean_ranks, difference),
    )


def _tested(scores: Array) -> tuple[float, float]:
    """Return statistic and p-value; equal scores everywhere are no evidence of a difference."""
    if (scores == scores[:, :1]).all():
        return 0.0, 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few problems make an approximation
        if scores.shape[1] == 2:
            found = wilcoxon(scores[:, 0], scores[:, 1])
        else:
            found = friedmanchisquare(*scores.T)
    return float(found.statistic), float(found.pvalue)


def groups_within(mean_ranks: Sequence[float], difference: float) -> tuple[tuple[int, ...], ...]:
    """Return the largest sets of two or more whose mean ranks are less than this apart.

    Examples
    --------
    >>> groups_within([1.2, 3.9, 2.0, 2.9], difference=1.0)
    ((0, 2), (2, 3))
    """
    order = sorted(range(len(mean_ranks)), key=lambda place: mean_ranks[place])
    found: list[tuple[int, ...]] = []
    for first, best in enumerate(order):
        group = tuple(e for e in order[first:] if mean_ranks[e] - mean_ranks[best] < difference)
        if len(group) > 1 and not any(set(group) <= set(other) for other in found):
            found.append(group)
    return tuple(found)
