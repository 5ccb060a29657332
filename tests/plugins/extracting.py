"""What the tests of Mufasa share: a generator of features, and a table to extract them from."""

from dataclasses import dataclass

import numpy as np

from metafs_metafeatures.mufasa.extraction import MISSES


@dataclass(frozen=True)
class Columns:
    """A generator without any of the extras: feature (j, serial) is a noisy column of a table.

    Two meta-features: the column j, 0 to 9, and a dial that changes nothing.
    """

    broken: tuple[int, ...] = ()
    meta_feature_names = ("column", "dial")
    bounds = np.array([[0.0, 9.0], [0.0, 1.0]])

    def nearest(self, u):
        low, high = self.bounds.T
        return np.clip([np.rint(u[0]), np.round(u[1], 1)], low, high)

    def sample(self, u, rng):
        return int(u[0]), int(rng.integers(50))

    def meta_features(self, f):
        return np.array([f[0], 0.5])

    def measure(self, f, images):
        if f[0] in self.broken:
            raise ValueError(f"the sensor of column {f[0]} is off")
        noise = np.random.default_rng(f).normal(size=len(images))
        return images[:, f[0]] + noise

    def cost(self, f):
        return 1.0 + f[0] % 2


def table(seed=0, n=60):
    """The relevance of column j of ten is j / 5, so that the right end of the table is best."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return np.outer(y, np.arange(10) / 5) + 0.3 * rng.normal(size=(n, 10)), y


def separation(X, y):
    """A quality that costs nothing to compute: how far apart the class means are."""
    return float(np.abs(X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)).sum())


def slow_filled(generator, u, budget, rng):
    """A set drawn at u that the budget pays for, feature by feature."""
    features, left, misses = [], budget, 0
    while left > 0 and misses < MISSES:
        feature = generator.sample(u, rng)
        if feature in features or generator.cost(feature) > left:
            misses += 1
            continue
        features.append(feature)
        left -= generator.cost(feature)
        misses = 0
    return features
