r"""One number for each category, for methods that know only numbers.

A category c of a column becomes the mean target of the rows that have it, shrunk to that of all,

.. math:: (n_c \bar{t}_c + \bar{t}) / (n_c + 1)

(Micci-Barreca, "A preprocessing scheme for high-cardinality categorical attributes", 2001), with
the means taken from other rows than those they are written to, in five folds in which the target is
spread evenly. A column of names, one for each row, is therefore irrelevant. Of several classes, the
target is the one whose share differs most between the categories. One column stays one feature, so
that masks, priors and budgets keep their meaning.
"""

from collections.abc import Iterable

import numpy as np

from metafs.data.target import holds_classes
from metafs.data.typing import Array

N_FOLDS = 5


def category_numbers(codes: Array, y: Array) -> Array:
    """Return a number for each row of a column of category codes; NaN is a category of its own.

    y is a settled target: classes as whole numbers, or numbers.

    Examples
    --------
    >>> codes, y = np.array([0.0, 1.0] * 10), np.array([0, 1] * 10)
    >>> category_numbers(codes, y)[:2].round(2)
    array([0.06, 0.94])
    """
    categories, place = np.unique(codes, return_inverse=True)  # all NaN are one value to it
    targets = _targets(y)
    fold = np.empty(len(y), dtype=np.int64)
    fold[np.argsort(y, kind="stable")] = np.arange(len(y)) % N_FOLDS
    numbers = np.empty_like(targets)
    for each in range(N_FOLDS):
        inside, outside = fold == each, fold != each
        if not outside.any():
            numbers[inside] = targets.mean(axis=0)
            continue
        counts = np.bincount(place[outside], minlength=len(categories))
        sums = np.zeros((len(categories), targets.shape[1]))
        np.add.at(sums, place[outside], targets[outside])
        means = (sums + targets[outside].mean(axis=0)) / (counts + 1)[:, None]
        numbers[inside] = means[place[inside]]
    return np.asarray(numbers[:, int(np.argmax(numbers.var(axis=0)))])


def with_category_numbers(X: Array, y: Array, categorical: Iterable[int]) -> Array:
    """Return a copy of a dense X with numbers in the place of category codes."""
    X = X.copy()
    for j in categorical:
        X[:, j] = category_numbers(X[:, j], y)
    return X


def _targets(y: Array) -> Array:
    """Return the target as columns of numbers: one, or one for each class."""
    if not holds_classes(y):
        return np.asarray(y, dtype=np.float64)[:, None]
    indicators: Array = (y[:, None] == np.unique(y)).astype(np.float64)
    return indicators[:, 1:] if indicators.shape[1] == 2 else indicators
