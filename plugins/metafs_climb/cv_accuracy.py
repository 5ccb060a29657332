r"""The wrapper: a set of features is worth what a learner reaches with it in cross-validation.

.. math:: q(S) = \frac{1}{K} \sum_{f=1}^{K} a_f(S)

:math:`a_f(S)` is the accuracy on the test rows of fold f of a learner trained, on the features in
S, with all other rows. The folds are the same for every set. The empty set is worth what guessing
the majority class of the training rows is worth. For a numeric target :math:`a_f` is R2, and a
mean below 0 counts as 0.

A search only asks whether a set beats some fitness t. Let :math:`u_f(S)` be what no classifier can
exceed (see `metafs_climb.cells`). As soon as

.. math:: \frac{1}{K} \Big( \sum_{f \, \mathrm{done}} a_f(S)
          + \sum_{f \, \mathrm{to do}} u_f(S) \Big) \le t

the set cannot win and is abandoned, and this sum, or t, is returned as its value. What the search
decides stays as it was.

R. Kohavi, G. H. John, "Wrappers for feature subset selection", Artificial Intelligence 97, 1997.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from metafs.errors import UsageError
from metafs.parameters import check_at_least
from metafs.problem import Problem
from metafs.registry import Registry
from metafs.typing import Array, Matrix
from metafs_climb.cells import Cells
from metafs_climb.fold_scores import FoldScores
from metafs_climb.fold_tables import FoldTables, as_problem

SCORINGS = ("accuracy", "balanced_accuracy")
MAX_REMEMBERED = 100_000
TOGETHER = 2**13
"""Cells of single features that are fitted together."""
_SAME = 1e-12
"""Mean scores that differ by less are equal: the rest is rounding."""


class CVAccuracyEvaluator:
    """`CVAccuracy` on one problem: cut into folds once, then many sets.

    What was found for a set is remembered, also how far an abandoned one got.
    """

    abandons = True
    """Says that ``of_sets`` takes ``above``, the fitness that a set must exceed to matter."""
    prices_size = False
    """Says that a set is worth no less for being large."""

    def __init__(self, scores: FoldScores) -> None:
        self.scores = scores
        self.n_features = scores.tables.problem.n_features
        self._known: dict[bytes, tuple[Array, Array]] = {}
        self._last: tuple[Array, Array] | None = None

    def of_sets(
        self, base: Sequence[int] | Array, edits: Array, above: float | None = None
    ) -> Array:
        """Return the fitness of ``base`` after each row of edits, features that join or leave.

        With ``above``, a set that can exceed neither this fitness nor that of any set before it
        is abandoned; its value is then an upper bound of its fitness, and no more than theirs.
        """
        base = np.unique(np.asarray(base, dtype=np.int64))
        inside = np.zeros(self.n_features, dtype=bool)
        inside[base] = True
        if self._last is None or not np.array_equal(self._last[0], base):
            self._last = base, self._keys(base)  # a search asks again and again from one base
        keys = self._last[1]
        likely = self._known[base.tobytes()][0] if base.tobytes() in self._known else 0.0
        found = np.empty(len(edits))
        for i, edit in enumerate(np.asarray(edits, dtype=np.int64)):
            joins = ~inside[edit]
            edited = keys + self._keys(edit[joins]) - self._keys(edit[~joins])
            inside[edit] = joins
            found[i] = self._fitness(base, np.flatnonzero(inside), edited, likely, above)
            inside[edit] = ~joins
            if above is not None:
                above = max(above, float(found[i]))
        return found

    def of_each(self) -> Array:
        """Return the fitness of every single feature."""
        self._fit_singles()
        return self.of_sets([], np.arange(self.n_features)[:, None])

    def of_set(self, features: Sequence[int] | Array) -> float:
        """Return the fitness of one set of features."""
        return float(self.of_sets(features, np.zeros((1, 0), dtype=np.int64))[0])

    def _keys(self, features: Array) -> Array:
        """Return keys of the rows that are equal where the rows are, as far as features tell."""
        keys = np.zeros(self.scores.tables.problem.n_samples, dtype=np.uint64)
        for j in features.tolist():
            keys += self.scores.tables.keys(j)
        return keys

    def _fitness(
        self,
        base: Array,
        features: Array,
        keys: Array,
        likely: Array | float,
        above: float | None,
    ) -> float:
        """Score a set until all folds are done, or until it can no longer exceed ``above``.

        The fold that is likely to fall furthest below its bound comes first.
        """
        cells = None
        if features.tobytes() not in self._known:
            cells = self.scores.cells(keys)
            self._begin(features, cells)
        scores, done = self._known[features.tobytes()]
        while True:
            value = max(0.0, float(scores.mean()))
            if done.all():
                return value
            if above is not None and value <= above + _SAME:
                return min(value, above)
            if not done.any():
                found = self.scores.near(base, features)
                if found is not None:
                    self._take(features, found)
                    continue
                cells = self.scores.cells(keys) if cells is None else cells
                self._fit_at_once([(features, cells)])
            if not done.all():
                fold = int(np.argmax(np.where(done, -np.inf, scores - likely)))
                scores[fold], done[fold] = self.scores.of_fold(features, fold), True

    def _begin(self, features: Array, cells: Cells | None) -> None:
        """Remember what is known of a set before anything is fitted: its bounds."""
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        if len(features):
            begun = self.scores.bounds(cells), np.zeros(self.scores.n_folds, dtype=bool)
        else:
            begun = self.scores.of_nothing(), np.ones(self.scores.n_folds, dtype=bool)
        self._known[features.tobytes()] = begun

    def _fit_at_once(self, sets: Sequence[tuple[Array, Cells | None]]) -> None:
        """Fit all folds of sets of one size together, as far as that can be done."""
        can = [
            (features, cells)
            for features, cells in sets
            if cells and self.scores.fits_at_once(features, len(cells.rows))
        ]
        if not can:
            return
        for (features, cells), found in zip(can, self.scores.at_once(can), strict=True):
            if features.tobytes() not in self._known:
                self._begin(features, cells)
            self._take(features, found)

    def _take(self, features: Array, found: Array) -> None:
        """Remember the scores of the folds that were fitted."""
        scores, done = self._known[features.tobytes()]
        fitted = ~np.isnan(found)
        scores[fitted], done[fitted] = found[fitted], True

    def _fit_singles(self) -> None:
        """Fit single features together with others that have about as many cells."""
        alike: dict[int, list[tuple[Array, Cells | None]]] = {}
        for j in range(self.n_features):
            feature = np.array([j])
            if feature.tobytes() in self._known and self._known[feature.tobytes()][1].all():
                continue
            cells = self.scores.cells(self._keys(feature))
            if cells is None:
                return
            size = len(cells.rows).bit_length()
            alike.setdefault(size, []).append((feature, cells))
            if len(alike[size]) << size >= TOGETHER:
                self._fit_at_once(alike.pop(size))
        for sets in alike.values():
            self._fit_at_once(sets)


@dataclass(frozen=True)
class CVAccuracy:
    """Quality of a set of features: what a learner reaches with it in cross-validation.

    Parameters
    ----------
    learner : str or estimator, default=None
        A public name of a learner or any scikit-learn estimator; None is what the loop learns
        with, ``logistic`` for classes and ``ridge`` for numbers.
    n_folds : int, default=5
        Folds of the cross-validation, fewer where rows or classes are too few.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        Whether each row counts the same, or each class. A numeric target has R2.
    random_state : int, default=0
        Which rows go into which fold.
    categories : mapping of int to tuple of str
        Labels of the values 0, 1, ... of each categorical column.

    Notes
    -----
    Missing numbers and categories are prepared as the loop prepares them, inside each fold. The
    order of rows and columns plays no part, not even in how the folds are cut.

    Logistic regression on two classes is fitted by a method of our own, on all folds at once
    (see `metafs_climb.newton_logistic`); other learners are cloned and fitted fold by fold.

    Examples
    --------
    >>> X = np.array([[0.0, 7.0], [0.1, 7.0], [0.9, 7.0], [1.0, 7.0]] * 5)
    >>> y = np.array(["a", "a", "b", "b"] * 5)
    >>> CVAccuracy()(X, y)
    array([1. , 0.5])
    >>> CVAccuracy(learner="naive-bayes").of_set(X, y, [0, 1])
    1.0
    """

    learner: Any = field(default=None, hash=False)
    n_folds: int = 5
    scoring: str = "accuracy"
    random_state: int = 0
    categories: Mapping[int, tuple[str, ...]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        check_at_least("n_folds", self.n_folds, 2)
        if self.scoring not in SCORINGS:
            raise UsageError(
                f"scoring of cv-accuracy is {self.scoring!r}; give {' or '.join(SCORINGS)}."
            )

    def __call__(self, X: Matrix, y: Array) -> Array:
        """Return the quality of every single feature."""
        return self.bind(X, y).of_each()

    def of_set(self, X: Matrix, y: Array, features: Sequence[int] | Array) -> float:
        """Return the quality of one set of features."""
        return self.bind(X, y).of_set(features)

    def bind(
        self, X: Any, y: Any, *, categories: Mapping[int, tuple[str, ...]] | None = None
    ) -> CVAccuracyEvaluator:
        """Return an evaluator of many sets on one problem."""
        problem = as_problem(X, y, self.categories if categories is None else categories)
        learner = self._learner_for(problem)
        tables = FoldTables(problem, self.n_folds, self.random_state)
        balanced = self.scoring == "balanced_accuracy"
        return CVAccuracyEvaluator(FoldScores(tables, learner, balanced=balanced))

    def _learner_for(self, problem: Problem) -> Any:
        """Return the learner; refuse a classifier for numbers, and a regressor for classes."""
        learner = self.learner
        if learner is None:
            learner = "logistic" if problem.is_classification else "ridge"
        if isinstance(learner, str):
            learner = _installed().learners[learner]
        if isinstance(learner, type) or not hasattr(learner, "fit"):
            raise UsageError(
                f"learner of cv-accuracy is {self.learner!r}; give a name such as logistic, or an "
                "estimator such as LogisticRegression()."
            )
        if is_regressor(learner) if problem.is_classification else is_classifier(learner):
            offered, wanted = ("numbers", "classes")[:: 1 if problem.is_classification else -1]
            raise UsageError(
                f"learner {self.learner!r} of cv-accuracy predicts {offered}, but the target holds "
                f"{wanted}: give a learner that suits it, or none."
            )
        return learner


@cache
def _installed() -> Registry:
    return Registry()
