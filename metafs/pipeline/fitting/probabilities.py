"""Probabilities of classes for learners that give decision values only: support vector machines.

Decision values of rows that were not learnt from say how sure they are: a logistic regression on
these gives the probabilities (J. Platt, "Probabilistic outputs for support vector machines and
comparisons to regularized likelihood methods", 1999; of several classes all values together).
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from metafs.data.problem import Problem
from metafs.data.typing import Array, Matrix
from metafs.errors import NoScore
from metafs.pipeline.fitting.scoring import model_on
from metafs.plugin.prior import Prior
from metafs.stats.folds import folds
from metafs.stats.preparation import chosen_columns

N_FOLDS = 3


class WithProbabilities(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A fitted classifier, and the probabilities that its decision values stand for.

    Parameters
    ----------
    classifier : fitted estimator
    calibration : fitted LogisticRegression
        From decision values to probabilities.
    """

    def __init__(self, classifier: Any, calibration: Any) -> None:
        self.classifier = classifier
        self.calibration = calibration

    def fit(self, X: Any, y: Any) -> Self:
        """Do nothing: both are fitted."""
        return self

    def predict(self, X: Any) -> Array:
        """Return what the classifier predicts."""
        return np.asarray(self.classifier.predict(X))

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class."""
        return np.asarray(self.calibration.predict_proba(_decisions(self.classifier, X)))


def with_probabilities(
    problem: Problem, learner: Any, classifier: Any, prior: Prior | None = None
) -> Any:
    """Return a classifier that gives probabilities, or the same one where there is no way to.

    Parameters
    ----------
    problem : Problem
        All its columns are used.
    learner : estimator
    classifier : fitted estimator
        The learner, fitted to all rows.
    prior : Prior, optional
    """
    if not hasattr(classifier, "decision_function"):
        return classifier
    columns = np.arange(problem.n_features)
    X = chosen_columns(problem.X, columns)
    rows, values = [], []
    try:
        for train, test in folds(problem, N_FOLDS, 0):
            inside = model_on(problem, columns, learner, train, prior)
            values.append(_decisions(inside, X[test]))
            rows.append(test)
        at = np.concatenate(rows)
        known = problem.y[at]
        if len(np.unique(known)) < len(problem.classes or ()):
            return classifier
        weights = None if problem.sample_weight is None else problem.sample_weight[at]
        calibration = LogisticRegression(max_iter=1000).fit(np.vstack(values), known, weights)
    except (NoScore, ValueError):  # too few rows of a class
        return classifier
    return WithProbabilities(classifier, calibration)


def _decisions(classifier: Any, X: Matrix) -> Array:
    values = np.asarray(classifier.decision_function(X), dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values
