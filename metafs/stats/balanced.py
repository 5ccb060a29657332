r"""Decisions that count every class alike, whatever its share of the rows.

Balanced accuracy is the mean of the recalls of all classes. It is largest for

.. math:: \hat c(x) = \arg\max_c \; p(c \mid x) / \pi_c

with :math:`\pi_c` the share of class c among the training rows, by their weights if they have any.
The most probable class is best for plain accuracy: where one row in twenty is positive, it predicts
no positive at all.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from metafs.data.typing import Array

SCORINGS = ("balanced_accuracy", "recall_macro")
"""The scorers that balanced decisions are best for."""


def _has(method: str) -> Any:
    return available_if(lambda self: hasattr(self.estimator, method))


class BalancedDecisions(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier with probabilities, whose decisions count every class alike.

    Parameters
    ----------
    estimator : classifier
        Fitted; with `predict_proba`.
    shares : array of shape (n_classes,)
        The share of each class among the training rows.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> rare = DummyClassifier().fit([[0]] * 4, [0, 0, 0, 1])
    >>> BalancedDecisions(rare, [0.8, 0.2]).predict([[0]])
    array([1])
    """

    def __init__(self, estimator: Any, shares: Any) -> None:
        self.estimator = estimator
        self.shares = shares

    @property
    def classes_(self) -> Array:
        """The classes, sorted."""
        return np.asarray(self.estimator.classes_)

    def predict(self, X: Any) -> Array:
        """Return the class whose probability is largest in units of its share."""
        ratio = self.estimator.predict_proba(X) / np.asarray(self.shares)
        return np.asarray(self.classes_[ratio.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities as they are."""
        return np.asarray(self.estimator.predict_proba(X))

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Return the decision values as they are."""
        return np.asarray(self.estimator.decision_function(X))

    def __sklearn_is_fitted__(self) -> bool:
        """It is made of a fitted classifier."""
        return True


def balanced(model: Any, y: Array, scoring: str, sample_weight: Array | None = None) -> Any:
    """Return a fitted model with balanced decisions, where these are best for the scoring.

    Rows count for the share of their class by their weight.
    """
    if scoring not in SCORINGS or not hasattr(model, "predict_proba"):
        return model
    counts = np.bincount(np.unique(y, return_inverse=True)[1], weights=sample_weight)
    return model if np.ptp(counts) == 0 else BalancedDecisions(model, counts / counts.sum())
