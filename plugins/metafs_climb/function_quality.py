"""The measure ``function-quality``: how much the functions that a search meets depend on a feature.

A climb meets sets of features; with a learner on each, a logistic regression by default, they are
functions with probabilities. A learner that itself searches, such as ``moses``, meets its programs
on all features instead. Their quality is that of `metafs.stats.function_quality`.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021, sections 2.2
and 2.3.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from metafs.data.parameters import check_at_least
from metafs.data.typing import Array, Matrix
from metafs.plugin.protocols import SupportsFunctions
from metafs.stats.discretise import discretise_target
from metafs.stats.function_quality import Dependence, Function, FunctionQuality
from metafs.stats.preparation import filled
from metafs_climb.climb import Climb

LEARNER = make_pipeline(
    StandardScaler(), LogisticRegression(solver="newton-cholesky", tol=1e-8, max_iter=200)
)


def with_learner(
    candidates: Iterable[tuple[int, tuple[int, ...], float]], X: Matrix, y: Array, learner: Any
) -> list[Function]:
    """Return the learner trained on each of the sets that a search met, each set once."""
    functions = []
    for features, fitness in {each: fitness for _, each, fitness in candidates if each}.items():
        columns = np.array(features, dtype=np.int64)
        table = X[:, columns]
        table = table.toarray() if issparse(table) else table
        model = clone(learner).fit(table, y)
        output = model.predict_proba if hasattr(model, "predict_proba") else model.predict
        functions.append(Function(columns, fitness, len(columns), output))
    return functions


@dataclass(frozen=True)
class FunctionQualityMeasure:
    """Quality over the sets that a climb meets, with a learner on each, or over programs.

    Parameters
    ----------
    p : float, default=1.0
        How much near-optimal fitness counts.
    simplicity : float, default=0.1
        By how much the logarithm of the prior falls with each feature of a set.
    max_evaluations : int, default=1000
        Sets that the climb evaluates.
    learner : classifier, default=None
        What is trained on each set; None is a logistic regression. One with ``functions_met()``, as
        the learner ``moses``, is trained once, and the functions are those that it met.
    random_state : int, default=0
        The seed of the climb.

    Notes
    -----
    Missing values are filled in for the regression. A numeric target is discretised. Q of a set is
    relative to the best set of its size, so it does not say how many features to take: a climb on
    it stops at few.

    Examples
    --------
    >>> X = np.array([[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 1]] * 10, dtype=float)
    >>> FunctionQualityMeasure()(X, np.array([0, 0, 1, 1] * 10)).round(2)
    array([0.68, 0.03, 0.13])
    """

    p: float = 1.0
    simplicity: float = 0.1
    max_evaluations: int = 1000
    learner: Any = None
    random_state: int = 0

    def __post_init__(self) -> None:
        check_at_least("max_evaluations", self.max_evaluations)
        _ = self._quality  # refuses a wrong p or simplicity at once

    def __call__(self, X: Matrix, y: Array) -> Array:
        """Return the quality of every single feature."""
        X, functions = self._met(X, y)
        return self._quality.of_each(functions, X)

    def of_set(self, X: Matrix, y: Array, features: Sequence[int] | Array) -> float:
        """Return the quality of one set of features."""
        X, functions = self._met(X, y)
        return self._quality.of_set(functions, X, features)

    def bind(self, X: Any, y: Any, *, categories: Any = None) -> "FunctionQualityEvaluator":
        """Return an evaluator of many sets on one problem; codes of categories are amounts."""
        X, functions = self._met(X, y)
        return FunctionQualityEvaluator(self._quality, X, [Dependence(g, X) for g in functions])

    def with_learner(self, learner: Any) -> "FunctionQualityMeasure":
        """Return the measure with another learner."""
        return replace(self, learner=learner)

    @property
    def _quality(self) -> FunctionQuality:
        return FunctionQuality(self.p, self.simplicity)

    def _met(self, X: Any, y: Any) -> tuple[Matrix, list[Function]]:
        X = csr_array(X) if issparse(X) else np.asarray(X, dtype=np.float64)
        y = discretise_target(np.asarray(y))
        if len(np.unique(y)) < 2:
            return filled(X), []
        if isinstance(self.learner, SupportsFunctions):
            return filled(X), list(clone(self.learner).fit(X, y).functions_met())
        climb = Climb(max_evaluations=self.max_evaluations, random_state=self.random_state)
        found = climb.fit(X, y)
        X = filled(X)
        best = tuple(np.flatnonzero(found.get_support()).tolist())
        candidates = [*found.candidates_, (0, best, found.fitness_)]
        learner = LEARNER if self.learner is None else self.learner
        return X, with_learner(candidates, X, y, learner)


@dataclass(frozen=True)
class FunctionQualityEvaluator:
    """`FunctionQualityMeasure` on one problem: searched once, then many sets at a time."""

    quality: FunctionQuality
    X: Matrix
    dependences: list[Dependence]

    def of_sets(self, base: Sequence[int] | Array, edits: Array) -> Array:
        """Return the quality of ``base`` after each row of edits."""
        sets = (np.setxor1d(base, edit).astype(np.int64) for edit in edits)
        return np.array(self.quality.of_sets(self.dependences, sets))

    def of_each(self) -> Array:
        """Return the quality of every single feature."""
        return self.quality.of_each([each.g for each in self.dependences], self.X)
