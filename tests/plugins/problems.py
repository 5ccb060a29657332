"""Small problems whose answer is known, which tests in several files share."""

import numpy as np
from sklearn.neighbors import KNeighborsRegressor

KNN = KNeighborsRegressor(3, weights="distance")
"""A regressor that is quick, for tests of what is made of its predictions."""

LINE = np.arange(30.0)[:, None]
"""The meta-features of `smooth_problem`: places along a line."""


def planted(m=300, n=4, noise=0.1, seed=0):
    """A target made of the first two columns; the others are irrelevant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=m)


def smooth_problem(n, seed=0, n_features=30, n_classes=2):
    """Classes by weights that change slowly along a line."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    phases = np.arange(n_classes if n_classes > 2 else 1)
    W = np.sin(np.arange(n_features)[:, None] / 4 + 2 * phases)
    scores = X @ W
    return X, scores.argmax(axis=1) if n_classes > 2 else (scores[:, 0] > 0).astype(int)


def described(seed=0, m=60, n_features=200, k=3):
    """Features whose use is a smooth function of their first meta-feature."""
    rng = np.random.default_rng(seed)
    U = rng.uniform(size=(n_features, k))
    y = np.arange(m) % 2
    use = np.exp(-((U[:, 0] - 0.7) ** 2) / 0.02)
    X = rng.normal(size=(m, n_features)) + 2 * use * y[:, None]
    return X, y, U, use


def spread(X, y):
    """A quality that is quick: the variance, which no feature shares with another."""
    return np.asarray(X).var(axis=0)
