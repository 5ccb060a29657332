"""Problems on which logistic regression is fitted by rows."""

import numpy as np

from metafs_climb.fold_tables import FoldTables, as_problem
from metafs_climb.logistic_rows import LogisticRows


def made(seed, n=60, n_features=14, kind="words"):
    """A table of words, or of numbers, with classes that some columns tell of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    if kind == "words":
        X = (X > 0.5).astype(float)
    y = (X[:, :4].sum(axis=1) + rng.normal(0, 0.5, n) > np.median(X[:, :4].sum(axis=1))).astype(int)
    y[:2] = 0, 1
    return X, y


def rows_of(X, y, C=1.0, scaled=True):
    return LogisticRows(FoldTables(as_problem(X, y, {}), 5, 0), C, scaled)
