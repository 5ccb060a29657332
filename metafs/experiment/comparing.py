r"""How much faster an arm is than a baseline, on average over problems, with intervals.

.. math:: \text{speed-up} = \frac{\text{evaluations of the baseline until the target}}
                               {\text{evaluations of the arm until the target}}

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021, section 4.3,
reports its arithmetic and its geometric mean. The target is the cold search's best fitness. Both
searches are charged up to the first set that reaches it; an unreached target costs all evaluations,
and nothing costs less than one. The paper divides by all of cold's evaluations, including those
after its best set; an experiment gives that too, as `as_published`. Cold's seconds come from a
second run with the same seed that stops at its target; it has no MetaDB, so it describes and
records nothing, while every other arm pays for that. Cold and cold-ranked do not depend on the
order and run once a seed. A problem that fails in one arm counts in none, and each arm with memory
begins with an empty MetaDB.

The unit of all means is the problem: seeds and
orders are averaged inside it first, in logarithms for the geometric mean. Intervals are
percentiles of the means of problems drawn again with replacement: B. Efron, "Bootstrap methods:
another look at the jackknife", Annals of Statistics 7, 1979.
"""

from dataclasses import dataclass

import numpy as np

from metafs.data.typing import Array

LEVEL = 0.95
N_RESAMPLES = 2000
Interval = tuple[float, float]


@dataclass(frozen=True)
class Speedup:
    """How many times faster an arm is than its baseline; below 1 it is slower."""

    geometric_mean: float
    geometric_mean_interval: Interval
    arithmetic_mean: float
    arithmetic_mean_interval: Interval
    negative_transfer: float
    """The share of searches that are slower than those of the baseline."""


def speedup(baseline: Array, arm: Array, problem: Array, random_state: int = 0) -> Speedup:
    """Compare the cost of an arm with that of the baseline, search by search.

    Parameters
    ----------
    baseline, arm : arrays of shape (n_searches,)
        Evaluations or seconds, all above 0.
    problem : array of shape (n_searches,)
        Which problem each search was on.
    random_state : int, default=0
        Seed of the bootstrap.

    Examples
    --------
    >>> found = speedup(np.array([80.0, 90.0]), np.array([10.0, 180.0]), np.array([0, 1]))
    >>> round(found.geometric_mean, 6), found.arithmetic_mean, found.negative_transfer
    (2.0, 4.25, 0.5)
    """
    ratio = np.asarray(baseline, dtype=np.float64) / arm
    logs, plain = problem_means(np.log(ratio), problem), problem_means(ratio, problem)
    low, high = mean_interval(logs, random_state=random_state)
    return Speedup(
        geometric_mean=float(np.exp(logs.mean())),
        geometric_mean_interval=(float(np.exp(low)), float(np.exp(high))),
        arithmetic_mean=float(plain.mean()),
        arithmetic_mean_interval=mean_interval(plain, random_state=random_state),
        negative_transfer=float(problem_means(ratio < 1, problem).mean()),
    )


def problem_means(values: Array, problem: Array) -> Array:
    """Return the mean of the values of each problem, problems in ascending order.

    Examples
    --------
    >>> problem_means(np.array([1.0, 5.0, 3.0]), np.array([7, 2, 7]))
    array([5., 2.])
    """
    _, place, count = np.unique(problem, return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(place, weights=np.asarray(values, dtype=np.float64)) / count)


def mean_interval(
    values: Array,
    level: float = LEVEL,
    n_resamples: int = N_RESAMPLES,
    random_state: int = 0,
) -> Interval:
    """Return a bootstrap interval of the mean of the values.

    Examples
    --------
    >>> mean_interval(np.array([2.0, 2.0, 2.0]))
    (2.0, 2.0)
    """
    rng = np.random.default_rng(random_state)
    n = len(values)
    means = np.array([values[rng.integers(n, size=n)].mean() for _ in range(n_resamples)])
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def running_mean(values: Array, window: int) -> Array:
    """Return the mean of each value and its nearest neighbours, fewer of them at the ends.

    NaN is left out; where there is nothing else, the mean is NaN.

    Examples
    --------
    >>> running_mean(np.array([1.0, 2.0, 6.0, 10.0]), 3)
    array([1.5, 3. , 6. , 8. ])
    """
    known = ~np.isnan(values)
    total = np.concatenate([[0.0], np.cumsum(np.where(known, values, 0.0))])
    count = np.concatenate([[0], np.cumsum(known)])
    places, reach = np.arange(len(values)), window // 2
    first, last = np.maximum(places - reach, 0), np.minimum(places + reach + 1, len(values))
    number = count[last] - count[first]
    sums = total[last] - total[first]
    return np.asarray(np.divide(sums, number, out=np.full(len(values), np.nan), where=number > 0))
