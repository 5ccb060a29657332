r"""The wrapper: the fitness of a set of features is a learner's cross-validated score with it.

.. math:: q(S) = \frac{1}{K} \sum_{f=1}^{K} a_f(S)

:math:`a_f(S)` is the accuracy on the test rows of fold f of a learner trained, on the features in
S, with all other rows. The folds are the same for every set. The empty set predicts the majority
class of the training rows. For a numeric target :math:`a_f` is R2, and a mean below 0 counts as 0.
Folds depend on the content of rows, not on their order, so that shuffling rows does not change a
measure. Requested by its public name, the wrapper uses the learner of the run, as does any measure
with ``with_learner``.

`metafs_climb.cv_evaluator` describes how sets that cannot win are abandoned.

R. Kohavi, G. H. John, "Wrappers for feature subset selection", Artificial Intelligence 97, 1997.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from sklearn.base import is_classifier, is_regressor

from metafs.data.parameters import check_at_least
from metafs.data.problem import Problem
from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.plugin.registry import Registry
from metafs_climb.cv_evaluator import CVAccuracyEvaluator
from metafs_climb.fold_scores import FoldScores
from metafs_climb.fold_tables import FoldTables, as_problem

SCORINGS = ("accuracy", "balanced_accuracy")


@dataclass(frozen=True)
class CVAccuracy:
    """Quality of a set of features: what a learner reaches with it in cross-validation.

    Parameters
    ----------
    learner : str or estimator, default=None
        A public name of a learner or any scikit-learn estimator; None is the loop's default,
        ``logistic`` for classes and ``ridge`` for numbers.
    n_folds : int, default=5
        Folds of the cross-validation, fewer where rows or classes are too few.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        Whether each row or each class has equal weight. A numeric target is scored by R2.
    random_state : int, default=0
        Which rows go into which fold.
    categories : mapping of int to tuple of str
        Labels of the values 0, 1, ... of each categorical column.

    Notes
    -----
    Missing numbers and categories are prepared as the loop prepares them, inside each fold. The
    result does not depend on the order of rows and columns.

    Logistic regression on two classes is fitted by our own solver, on all folds at once
    (`metafs_climb.newton_logistic`); other learners are cloned and fitted fold by fold.

    Examples
    --------
    >>> import numpy as np
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
        self,
        X: Any,
        y: Any,
        *,
        categories: Mapping[int, tuple[str, ...]] | None = None,
        groups: Array | None = None,
    ) -> CVAccuracyEvaluator:
        """Return an evaluator of many sets on one problem, whose folds divide no group."""
        known = self.categories if categories is None else categories
        problem = as_problem(X, y, known, groups)
        learner = self._learner_for(problem)
        tables = FoldTables(problem, self.n_folds, self.random_state)
        balanced = self.scoring == "balanced_accuracy"
        return CVAccuracyEvaluator(FoldScores(tables, learner, balanced=balanced))

    def with_learner(self, learner: Any) -> "CVAccuracy":
        """Return the measure with another learner."""
        return replace(self, learner=learner)

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
                f"{wanted}: choose a matching learner, or leave it out."
            )
        return learner


@cache
def _installed() -> Registry:
    return Registry()
