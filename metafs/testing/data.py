"""Small planted data on which the laws are tried."""

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array

NAMES = tuple(f"feature_{j}" for j in range(8))


def planted_classes(seed: int = 0, n_samples: int = 60, noise: float = 0.05) -> tuple[Array, Array]:
    """Return binary features of which the first two decide a binary class, but for some noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n_samples, len(NAMES))).astype(np.float64)
    y = (X[:, 0] + X[:, 1] >= 1).astype(np.int64)
    wrong = rng.random(n_samples) < noise
    y[wrong] = 1 - y[wrong]
    return X, y


def planted_numbers(seed: int = 0, n_samples: int = 60) -> tuple[Array, Array]:
    """Return normal features and a numeric target made of the first two."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, len(NAMES)))
    return X, 2 * X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=n_samples)


def planted_problem(seed: int = 0) -> Problem:
    """Return a problem over named features."""
    X, y = planted_classes(seed)
    return Problem.of(X, y, feature_names=NAMES, name=f"planted {seed}")
