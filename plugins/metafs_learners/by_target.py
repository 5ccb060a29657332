"""One name for two estimators: a classifier for classes, a regressor for numbers."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from metafs.data.target import holds_classes
from metafs.data.typing import Array
from metafs.stats.weighting import weight_parameters


def _fitted_has(method: str) -> Any:
    def check(self: "ByTarget") -> bool:
        return hasattr(self, "estimator_") and hasattr(self.estimator_, method)

    return check


class ByTarget(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Fit the classifier when the target holds classes, else the regressor: floats are numbers.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier, DummyRegressor
    >>> learner = ByTarget(DummyClassifier(), DummyRegressor())
    >>> learner.fit([[0], [1]], [0.5, 1.0]).predict([[2]])
    array([0.75])
    """

    def __init__(self, classifier: Any, regressor: Any) -> None:
        self.classifier = classifier
        self.regressor = regressor

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit whichever of the two suits y, with the weights of rows if it takes any."""
        classes = holds_classes(np.asarray(y))
        estimator = clone(self.classifier if classes else self.regressor)
        self.estimator_ = estimator.fit(X, y, **weight_parameters(estimator, sample_weight))
        if classes:
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> Array:
        """Predict with the estimator that was fitted."""
        check_is_fitted(self)
        prediction: Array = self.estimator_.predict(X)
        return prediction

    @available_if(_fitted_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities, where the fitted estimator has them."""
        probabilities: Array = self.estimator_.predict_proba(X)
        return probabilities

    @available_if(_fitted_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Return decision values, where the fitted estimator has them."""
        values: Array = self.estimator_.decision_function(X)
        return values

    def __sklearn_tags__(self) -> Any:
        if hasattr(self, "estimator_"):
            return self.estimator_.__sklearn_tags__()
        return super().__sklearn_tags__()


class CostedByTarget(ByTarget):
    """The same, for the automatic choice of a pipeline: `cost` tells what a fit takes.

    Parameters
    ----------
    classifier, regressor : estimator
    cost : callable
        Seconds on one thread, from the numbers of rows, columns and outputs.
    """

    def __init__(
        self, classifier: Any, regressor: Any, cost: Callable[[int, int, int], float]
    ) -> None:
        super().__init__(classifier, regressor)
        self.cost = cost

    def expected_seconds(self, n_samples: int, n_features: int, n_outputs: int) -> float:
        """Return what a fit takes, roughly."""
        return self.cost(n_samples, n_features, n_outputs)
