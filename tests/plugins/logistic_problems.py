"""Problems on which logistic regression is fitted by rows."""

import numpy as np

from metafs_climb.fold_tables import FoldTables, as_problem
from metafs_climb.logistic_rows import LogisticRows


def made(seed, n=60, n_features=14, kind="words"):
    """A table of words or numbers, in which some columns are relevant for the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    if kind == "words":
        X = (X > 0.5).astype(float)
    y = (X[:, :4].sum(axis=1) + rng.normal(0, 0.5, n) > np.median(X[:, :4].sum(axis=1))).astype(int)
    y[:2] = 0, 1
    return X, y


def odd(seed):
    """A table of columns that are nearly the same, of sizes far apart, constant or hardly set."""
    rng = np.random.default_rng(seed)
    X, y = made(seed, n_features=16, kind="words" if seed % 2 else "numbers")
    X[:, 5], X[:, 6], X[:, 7] = X[:, 0], 3.0, 0.0
    X[rng.integers(len(X)), 7] = 1.0
    X[:, 8], X[:, 9] = X[:, 1] + X[:, 2], y
    return X * 10.0 ** rng.choice([-6, 0, 6], size=16), y


def rows_of(X, y, C=1.0, scaled=True):
    return LogisticRows(FoldTables(as_problem(X, y, {}), 5, 0), C, scaled)
