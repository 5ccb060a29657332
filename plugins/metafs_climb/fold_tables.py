"""The columns of a problem by fold, prepared as the loop prepares them.

Preparation is done column by column: missing numbers become the median of the training rows, and
each category becomes a column. A prepared column is cached for each fold while there is room.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse
from sklearn.pipeline import Pipeline
from sklearn.utils import check_X_y

from metafs.data.problem import Problem
from metafs.data.target import holds_classes
from metafs.data.typing import Array
from metafs.errors import NoScore, ProblemError
from metafs.stats.folds import folds
from metafs.stats.magnitude import of_usual_size
from metafs.stats.preparation import preparation
from metafs_climb.cells import column_keys
from metafs_climb.content_folds import content_order

CACHE_BYTES = 64 * 2**20


def as_problem(
    X: Any, y: Any, categories: Mapping[int, tuple[str, ...]], groups: Array | None = None
) -> Problem:
    """Return X and y as a problem whose rows are in the order of their content.

    Floats are numbers and anything else is classes, as `metafs.data.target.settled` returns them.
    A class with one row is left out.
    """
    y = np.asarray(y)
    with np.errstate(invalid="ignore"):  # scikit-learn's sum of the largest numbers there are
        X, _ = check_X_y(
            X, np.zeros(len(y)), accept_sparse="csr", dtype=np.float64, ensure_all_finite=False
        )
    if np.isinf(X.data if issparse(X) else X).any():
        raise ProblemError("cv-accuracy cannot learn from infinite values: correct or empty them.")
    X = of_usual_size(csr_array(X) if issparse(X) else X)
    labels = None
    if holds_classes(y):
        rows = _not_alone(y)
        X, y = X[rows], y[rows]
        groups = None if groups is None else groups[rows]
        labels, y = np.unique(y, return_inverse=True)
    order = content_order(X, y)
    return Problem(
        X=X[order],
        y=y[order],
        feature_names=tuple(f"x{j}" for j in range(X.shape[1])),
        classes=None if labels is None else tuple(map(str, labels)),
        categories=categories,
        groups=None if groups is None else groups[order],
    )


def _not_alone(y: Array) -> Array | slice:
    """Return the rows without those classes of one row, which can be learnt or tested but not both.

    All rows, if fewer than two classes would be left.
    """
    _, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
    rows = counts[inverse] > 1
    if rows.all() or np.count_nonzero(counts > 1) < 2:
        return slice(None)
    return np.asarray(rows)


class FoldTables:
    """The columns of a problem, by fold.

    Attributes
    ----------
    problem : Problem
        With rows in the order of their content.
    folds : list of (train, test)
        The rows of each fold; every set of features sees the same.
    """

    def __init__(self, problem: Problem, n_folds: int, random_state: int | None) -> None:
        self.problem = problem
        try:
            self.folds = folds(problem, n_folds, random_state)
        except NoScore as reason:
            raise ProblemError(
                f"cv-accuracy cannot cut {problem.n_samples} rows into folds: {reason} Or choose "
                "another measure."
            ) from reason
        # Columns are asked for one at a time.
        X = problem.X
        self._X: Any = csc_array(X) if issparse(X) else np.asfortranarray(X)
        self._cache: dict[tuple[str, int], Array] = {}
        self._room = CACHE_BYTES

    def column(self, j: int) -> Array:
        """Return the values of a column, as they are."""
        if issparse(self._X):
            return self._remembered("column", j, self._dense_column)
        values: Array = self._X[:, j]
        return values

    def keys(self, j: int) -> Array:
        """Return keys that are equal where the values of a column are."""
        return self._remembered("keys", j, lambda j: column_keys(self.column(j), j))

    @cached_property
    def plain(self) -> Array:
        """Whether each column can be learnt from as it is: numbers, none of them missing."""
        if issparse(self._X):
            columns = np.repeat(np.arange(self._X.shape[1]), np.diff(self._X.indptr))
            missing = np.bincount(columns, np.isnan(self._X.data), self._X.shape[1]) > 0
        else:
            missing = np.isnan(self._X).any(axis=0)
        missing[list(self.problem.categories)] = True
        return ~missing

    def table(self, features: Array, fold: int) -> Array:
        """Return the prepared columns of a set, numbers first, for all rows in one fold."""
        categorical = [j in self.problem.categories for j in features.tolist()]
        ordered = features[np.argsort(categorical, kind="stable")].tolist()
        return np.hstack([self._block(j, fold) for j in ordered])

    def _block(self, j: int, fold: int) -> Array:
        if self.plain[j]:
            return self.column(j)[:, None]
        return self._remembered(f"fold {fold}", j, lambda j: self._prepared(j, fold))

    def _prepared(self, j: int, fold: int) -> Array:
        raw = self.column(j)[:, None]
        steps = preparation(raw, np.array([j]), self.problem.categories)
        found = Pipeline(steps).fit(raw[self.folds[fold][0]]).transform(raw)
        return np.asarray(found.toarray() if issparse(found) else found)

    def _dense_column(self, j: int) -> Array:
        values = np.zeros(self.problem.n_samples)
        start, stop = self._X.indptr[j : j + 2]
        values[self._X.indices[start:stop]] = self._X.data[start:stop]
        return values

    def _remembered(self, what: str, j: int, compute: Callable[[int], Any]) -> Array:
        key = (what, j)
        if key not in self._cache:
            value = self._cache[key] = np.asarray(compute(j))
            self._room -= value.nbytes
            while self._room < 0 and len(self._cache) > 1:
                oldest = next(iter(self._cache))
                self._room += self._cache.pop(oldest).nbytes
        return self._cache[key]
