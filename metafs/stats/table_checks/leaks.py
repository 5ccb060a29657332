r"""Leaks: one column that alone predicts the target, because it was filled in afterwards.

Each column alone predicts rows that it has not seen (five folds, every class in each). A class is
that of the nearest value among the other rows, of equal values the most frequent; a number is
interpolated between the nearest values. With :math:`\hat y` the classes so predicted the column
explains

.. math:: I(y; \hat y) / H(y),

and of a number the share of variance, :math:`1 - \sum (y - \hat y)^2 / \sum (y - \bar y)^2`. It
is a leak if that is at least 0.99 while all other columns together, in a forest, explain less than
0.9: a problem that is merely easy does not need the column. Copies of a leak are leaks too.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.sparse import issparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from metafs.data.checks import dropping, listing
from metafs.data.problem import Problem
from metafs.data.typing import Array, Matrix
from metafs.stats.table_checks.thresholds import (
    LEAK,
    LEAK_ROWS,
    LEAST_ROWS_OF_LEAK,
    MOST_CHANGES,
    NEXT_BEST,
    SCREEN_ROWS,
)

N_FOLDS = 5
BLOCK = 2000
"""Columns that are screened at once."""


def leaks(problem: Problem) -> Iterator[str]:
    """Yield a note for each column that alone predicts the target.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    >>> list(leaks(Problem.of(X, y)))
    []
    >>> X[:, 1] = y * 7
    >>> list(leaks(Problem.of(X, y)))[0][:63]
    "column 'x1' alone predicts 100 % of the target: if its value is"
    """
    rows = _some_rows(problem)
    if len(rows) < LEAST_ROWS_OF_LEAK:
        return
    X, y = problem.X[rows], problem.y[rows]
    classes = problem.is_classification
    explained = {
        column: explained_by(values, y, classes=classes)
        for column, values in _screened(X, y, classes, set(problem.categories))
    }
    found = {column: share for column, share in explained.items() if share >= LEAK}
    others = [share for column, share in explained.items() if column not in found]
    if not found or len(found) == problem.n_features or max(others, default=0.0) >= NEXT_BEST:
        return
    if explained_without(found, X, y, classes=classes) >= NEXT_BEST:
        return
    for column, share in found.items():
        name = problem.feature_names[column]
        yield (
            f"column {listing([name])} alone predicts {share:.0%}".replace("%", " %")
            + " of the target: if its value is only known after the target, leave it out with "
            f"{dropping(name)}"
        )


def explained_by(x: Array, y: Array, *, classes: bool) -> float:
    """Return the share of a target's entropy or variance that a column explains out of sample."""
    predicted = np.zeros(len(y))
    fold = _folds(y)
    x = np.where(np.isnan(x), -np.inf, x)  # a missing value tells, too
    for each in range(N_FOLDS):
        test = fold == each
        predict = _nearest_class if classes else _interpolated
        predicted[test] = predict(x[~test], y[~test], x[test])
    return _explained(y, predicted, classes)


def explained_without(left_out: Iterable[int], X: Matrix, y: Array, *, classes: bool) -> float:
    """Return the share that a forest on the other columns explains out of sample."""
    others = np.setdiff1d(np.arange(X.shape[1]), list(left_out))
    forest = (RandomForestClassifier if classes else RandomForestRegressor)(
        n_estimators=50, random_state=0
    )
    values = X[:, others]
    if issparse(values) and np.isnan(values.data).any():
        values = values.toarray()
    predicted = np.zeros(len(y))
    fold = _folds(y)
    for each in range(N_FOLDS):
        test = fold == each
        predicted[test] = forest.fit(values[~test], y[~test]).predict(values[test])
    return _explained(y, predicted, classes)


def _folds(y: Array) -> Array:
    """Return the fold of each row: each class, or each range of numbers, is in all folds."""
    order = np.argsort(y, kind="stable")
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % N_FOLDS
    return fold


def _nearest_class(x: Array, y: Array, asked: Array) -> Array:
    """Return the class of the nearest known value, and the most frequent one of equal values."""
    known, place = np.unique(x, return_inverse=True)
    counts = np.zeros((len(known), int(y.max()) + 1))
    np.add.at(counts, (place, y), 1)
    majority = counts.argmax(axis=1)
    above = np.clip(np.searchsorted(known, asked), 0, len(known) - 1)
    below = np.maximum(above - 1, 0)
    with np.errstate(invalid="ignore"):  # the distance of a missing value to another is NaN
        nearer_below = np.abs(asked - known[below]) < np.abs(known[above] - asked)
    return np.asarray(majority[np.where(nearer_below, below, above)])


def _interpolated(x: Array, y: Array, asked: Array) -> Array:
    """Return numbers between those of the nearest known values; their mean where one is missing."""
    finite = np.isfinite(x)
    if not finite.any():
        return np.full(len(asked), y.mean())
    known, place = np.unique(x[finite], return_inverse=True)
    means = np.bincount(place, weights=y[finite]) / np.bincount(place)
    return np.where(np.isfinite(asked), np.interp(asked, known, means), y.mean())


def _explained(y: Array, predicted: Array, classes: bool) -> float:
    if not classes:
        total = ((y - y.mean()) ** 2).sum()
        return float(1 - ((y - predicted) ** 2).sum() / total) if total else 0.0
    joint = np.zeros((int(y.max()) + 1, int(predicted.max()) + 1))
    np.add.at(joint, (y, predicted.astype(np.int64)), 1 / len(y))
    own, theirs = joint.sum(axis=1), joint.sum(axis=0)
    entropy = -(own[own > 0] * np.log(own[own > 0])).sum()
    there = joint > 0
    shared = (joint[there] * np.log(joint[there] / np.outer(own, theirs)[there])).sum()
    return float(shared / entropy) if entropy > 0 else 0.0


def _some_rows(problem: Problem) -> Array:
    n = problem.n_samples
    return np.linspace(0, n - 1, min(n, LEAK_ROWS)).astype(np.int64)


def _screened(
    X: Matrix, y: Array, classes: bool, categorical: set[int]
) -> Iterator[tuple[int, Array]]:
    """Yield the columns that may explain much, and their values."""
    few = np.linspace(0, len(y) - 1, min(len(y), SCREEN_ROWS)).astype(np.int64)
    few = np.random.default_rng(0).permutation(few)  # equal values stay in this order
    target = y[few] if classes else (y[few] > np.median(y)).astype(np.int64)
    n_classes = len(np.unique(target))
    columns = np.arange(X.shape[1])
    if issparse(X):
        X = X.tocsc()
        smallest = np.unique(y, return_counts=True)[1].min() if classes else len(y) / 2
        columns = np.flatnonzero(np.diff(X.indptr) >= NEXT_BEST * smallest)
    for start in range(0, len(columns), BLOCK):
        block = columns[start : start + BLOCK]
        values = X[:, block]
        values = np.asarray(values.toarray() if issparse(values) else values)
        order = np.argsort(values[few], axis=0, kind="stable")
        by_value = target[order]
        changes = (by_value[1:] != by_value[:-1]).sum(axis=0)
        promising = changes <= n_classes + MOST_CHANGES * len(few)
        for j, column in enumerate(block.tolist()):
            if promising[j] or column in categorical:
                yield column, values[:, j]
