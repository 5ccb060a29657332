"""Problems of many weak features, priors over them, and climbs to compare with."""

import numpy as np
from sklearn.base import clone

from metafs.plugin.prior import Prior
from metafs_climb import Climb, MIConfidence
from metafs_climb.guided import (
    Comparisons,
)


def words(n=200, n_features=300, n_good=24, seed=0):
    """Many weak features, as words are: each of the first `n_good` is slightly relevant."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    p = np.full((n, n_features), 0.1)
    for j in range(n_good):
        p[y == j % 2, j] = 0.3
    return (rng.random((n, n_features)) < p).astype(float), y


def expecting(n_features, good, value=0.9, **more):
    expected = np.zeros(n_features)
    expected[good] = value
    return Prior(expected, guides=True, **more)


def cold_of(X, y, seed, budget=1000):
    cold = Climb(max_evaluations=budget, random_state=seed).fit(X, y)
    steps = [step for step, _, fitness in cold.candidates_ if fitness >= cold.fitness_ - 1e-12]
    return cold, min(steps)


def comparing(X, y, limit=10_000, target=None):
    nothing = np.zeros(0, dtype=np.int64)
    return Comparisons(MIConfidence().bind(X, y), nothing, limit, target, np.inf)


def to_target(cold, X, y, prior):
    return clone(cold).set_params(target_score=cold.fitness_).fit(X, y, prior=prior)


def widths_of_passes(guided):
    """Return how many sets each pass tries, until nothing more is to be passed through."""
    tried = []
    while not guided.converged:
        before = guided.sets.left
        guided.step()
        tried.append(before - guided.sets.left)
    return tried
