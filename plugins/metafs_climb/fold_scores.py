r"""Scores of a learner with a set of features in each fold, and upper bounds for any learner.

A correct test row of class c in fold f has weight :math:`1 / n_f` for accuracy, and
:math:`1 / (C_f n_{fc})` for balanced accuracy, where :math:`n_f` rows of :math:`C_f` classes are
tested in fold f, :math:`n_{fc}` of them of class c. A numeric target is scored by R2.
"""

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score

from metafs.data.typing import Array
from metafs.stats.threads import threads_for
from metafs_climb.cells import Cells, best_right, cells_of
from metafs_climb.fold_tables import FoldTables
from metafs_climb.logistic_rows import LogisticRows
from metafs_climb.newton_logistic import MAX_VALUES, TIE, decisions, recognised

FEW = 16
"""Sets of up to this many features are fitted by cells, because they have few."""
SAME = 1e-12
"""Mean scores that differ by less are equal up to rounding."""
REMEMBERED = 64
"""Number of sets whose predictions are cached: the search may move to one of them."""
TOGETHER = 3 * 2**13
"""Values (rows x folds x sets) processed together: few enough for the processor's cache."""


def worth_of_right(n_tested: Array, *, balanced: bool) -> Array:
    """Return the weight of one correct row, by fold and class.

    ``n_tested`` is the number of test rows of each class in each fold.

    Examples
    --------
    >>> worth_of_right(np.array([[6, 2]]), balanced=False).tolist()
    [[0.125, 0.125]]
    >>> worth_of_right(np.array([[5, 2]]), balanced=True).tolist()
    [[0.1, 0.25]]
    """
    if not balanced:
        return np.broadcast_to(1 / n_tested.sum(axis=1, keepdims=True), n_tested.shape)
    n_classes = (n_tested > 0).sum(axis=1, keepdims=True)
    return np.where(n_tested > 0, 1 / (n_classes * np.maximum(n_tested, 1)), 0.0)


class FoldScores:
    """Scores of sets of features by fold, for one problem and one learner.

    Parameters
    ----------
    tables : FoldTables
        The problem, cut into folds.
    learner : estimator
        A classifier, or a regressor for a numeric target.
    balanced : bool
        Whether each class has equal weight, whatever its number of rows.
    """

    def __init__(self, tables: FoldTables, learner: Any, *, balanced: bool) -> None:
        self.tables = tables
        self.learner = learner
        self.n_folds = len(tables.folds)
        self._logistic = None
        self._rows: LogisticRows | None = None
        self._predicted: dict[bytes, Array] = {}
        problem = tables.problem
        if problem.classes is None:
            return
        n_classes = len(problem.classes)
        fold = np.full(problem.n_samples, self.n_folds)  # rows that are never tested
        for f, (_, test) in enumerate(tables.folds):
            fold[test] = f
        self._fold_and_class = fold * n_classes + problem.y
        self._counted = (self.n_folds + 1, n_classes)
        n_rows = np.bincount(self._fold_and_class, minlength=(self.n_folds + 1) * n_classes)
        self._n_rows = n_rows.reshape(self._counted)
        self._worth = worth_of_right(self._n_rows[:-1], balanced=balanced)
        if n_classes == 2:
            self._logistic = recognised(learner)
        if self._logistic is not None:
            self._rows = LogisticRows(tables, *self._logistic)
            every = np.eye((self.n_folds + 1) * n_classes)[self._fold_and_class]
            self._tested = every[:, : self.n_folds * n_classes]
            self._is_tested = self._tested.any(axis=1)

    def of_nothing(self) -> Array:
        """Return the score of predicting the majority class, or the mean."""
        if self.tables.problem.classes is None:
            return np.zeros(self.n_folds)
        folds = np.arange(self.n_folds)
        majority = (self._n_rows.sum(axis=0) - self._n_rows[:-1]).argmax(axis=1)
        return np.asarray(self._n_rows[folds, majority] * self._worth[folds, majority])

    def cells(self, keys: Array) -> Cells | None:
        """Return the cells of rows with these keys; None for a numeric target."""
        if self.tables.problem.classes is None:
            return None
        return cells_of(keys, self._fold_and_class, *self._counted)

    def bounds(self, cells: Cells | None) -> Array:
        """Return an upper bound of the score in each fold."""
        if cells is None:
            return np.ones(self.n_folds)
        return best_right(cells.counts[:, :-1], self._worth)

    def fits_at_once(self, features: Array, n_cells: int) -> bool:
        """Return whether all folds of a set can be fitted together."""
        return (
            self._logistic is not None
            and n_cells * len(features) * self.n_folds <= MAX_VALUES
            and bool(self.tables.plain[features].all())
        )

    def at_once(self, sets: Sequence[tuple[Array, Cells]]) -> Array:
        """Return the scores of sets of one size in all folds, NaN where the fit fails."""
        assert self._logistic is not None
        n_cells = max(len(cells.rows) for _, cells in sets)
        values = np.zeros((len(sets), n_cells, len(sets[0][0])))
        counts = np.zeros((len(sets), n_cells, *self._counted))  # what is left over holds no rows
        for i, (features, cells) in enumerate(sets):
            counts[i, : len(cells.rows)] = cells.counts
            for place, j in enumerate(features.tolist()):
                values[i, : len(cells.rows), place] = self.tables.column(j)[cells.rows]
        tested = np.moveaxis(counts[:, :, :-1], 1, 2)
        n_train = counts.sum(axis=2)[:, None] - tested
        with threads_for(values.size):
            found = decisions(values, n_train.sum(axis=3), n_train[..., 1], *self._logistic)
        return self._scored(found, tested)

    def by_rows(self, features: Array, joining: int = 0) -> bool:
        """Return whether a set, after ``joining`` more features, is large enough to fit by rows."""
        n_rows = self.tables.problem.n_samples
        return len(features) + joining > FEW and self.fits_at_once(features, n_rows)

    def of_set(self, features: Array) -> Array | None:
        """Return the scores of a set that is fitted by rows, or None if the fit fails."""
        assert self._rows is not None
        with threads_for(self.tables.problem.n_samples * len(features)):
            found = self._rows.decisions(features)
        return None if found is None else self._at_most(found)

    def near(
        self, base: Array, edits: Array, above: float | None = None
    ) -> tuple[Array, Array] | None:
        """Return the scores of such a set after each edit, and whether they are exact.

        With ``above``, a set whose mean score cannot exceed it is abandoned. Inexact scores are
        upper bounds. None if the fit fails.
        """
        assert self._rows is not None
        hopeless = None if above is None else partial(self._cannot_exceed, above)
        with threads_for(self.tables.problem.n_samples * len(base)):
            found = self._rows.decisions_near(base, edits, hopeless)
        if found is None:
            return None
        exact = ~(np.isnan(found) & self._is_tested).any(axis=1)
        return self._at_most(found), exact

    def _cannot_exceed(self, above: float, found: Array) -> Array:
        return np.asarray(self._at_most(found).mean(axis=1) <= above + SAME)

    def _at_most(self, found: Array) -> Array:
        """Return an upper bound of the score in each fold; rows without a decision are correct."""
        is_one = self.tables.problem.y == 1
        right = np.isnan(found) | ((found > TIE) == is_one)
        n_right = (right @ self._tested).reshape(*found.shape[:-1], *self._worth.shape)
        return np.asarray((n_right * self._worth).sum(axis=-1))

    def together(self, base: Array) -> int:
        """Return how many neighbours of this set are best scored together."""
        if not self.by_rows(base, joining=1):
            return 1
        return max(1, TOGETHER // (self.tables.problem.n_samples * self.n_folds))

    def _scored(self, found: Array, tested: Array) -> Array:
        """Return the score in each fold, from decisions and the rows tested, of each class."""
        says_one = found > TIE
        right = np.where(says_one, 0.0, tested[..., 0]), np.where(says_one, tested[..., 1], 0.0)
        n_right = np.stack([each.sum(axis=-1) for each in right], axis=-1)
        scores = (n_right * self._worth).sum(axis=-1)
        return np.where(np.isnan(found).any(axis=-1), np.nan, scores)

    def of_fold(self, features: Array, fold: int) -> float:
        """Return the score in one fold."""
        train, test = self.tables.folds[fold]
        X, y = self.tables.table(features, fold), self.tables.problem.y
        # Among thousands of sets some are constant in a fold, and some converge slowly.
        with (
            warnings.catch_warnings(),
            np.errstate(divide="ignore", invalid="ignore"),
            threads_for(X.size),
        ):
            warnings.simplefilter("ignore", ConvergenceWarning)
            predicted = clone(self.learner).fit(X[train], y[train]).predict(X[test])
        self._remember(features, test, predicted)
        if self.tables.problem.classes is None:
            return float(r2_score(y[test], predicted))
        right = y[test][predicted == y[test]]
        n_right = np.bincount(right, minlength=self._worth.shape[1])
        return float((n_right * self._worth[fold]).sum())

    def predictions(self, features: Array) -> Array:
        """Return the prediction of each row in the fold that tests it; NaN if none does."""
        key, n_rows = features.tobytes(), self.tables.problem.n_samples
        decided = None
        if self._rows is not None and self.fits_at_once(features, n_rows):
            with threads_for(n_rows * len(features)):
                decided = self._rows.decisions(features)
        for fold, (_, test) in enumerate(self.tables.folds):
            if decided is not None:
                self._remember(features, test, decided[test] > TIE)
            elif key not in self._predicted or np.isnan(self._predicted[key][test]).any():
                self.of_fold(features, fold)
        return self._predicted[key]

    def _remember(self, features: Array, test: Array, predicted: Array) -> None:
        """Cache the predictions of test rows by one of the latest sets."""
        of_set = self._predicted.pop(features.tobytes(), None)
        if of_set is None:
            of_set = np.full(self.tables.problem.n_samples, np.nan)
        of_set[test] = predicted
        self._predicted[features.tobytes()] = of_set
        if len(self._predicted) > REMEMBERED:
            del self._predicted[next(iter(self._predicted))]
