"""The learner ``remembered``: a linear model under what memory knows of its weights.

The model itself, with its equations, is `metafs.stats.linear`. Without memory it is L2 logistic or
ridge regression whose regularisation is chosen by cross-validation.
"""

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from metafs.data.parameters import check_between
from metafs.data.target import holds_classes
from metafs.data.typing import Array
from metafs.data.unlabelled import labelled_rows
from metafs.errors import UsageError
from metafs.plugin.prior import Prior
from metafs.stats.linear import LinearModel, WeightPrior, fit_linear
from metafs.stats.threads import threads_for
from metafs_remembered.rows import as_rows, rows_to_predict, training_rows

QUICK_ROWS = 4_000
"""Up to here a fit takes hardly any time."""


def weights_known(prior: Any, n_features: int) -> WeightPrior | None:
    """Return what a prior knows of weights; expectations alone tell nothing of them."""
    known = prior.weights if isinstance(prior, Prior) else prior
    if not isinstance(known, WeightPrior):
        return None
    directions = known.directions
    if directions is not None and directions.weights.shape[1] != n_features:
        raise UsageError(
            f"the prior knows weights of {directions.weights.shape[1]} features, but there are "
            f"{n_features}: give the prior of these columns."
        )
    return known


class _Remembered(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What classifier and regressor share."""

    def __init__(
        self, *, strength: float | Literal["auto"] = "auto", random_state: Any = 0
    ) -> None:
        self.strength = strength
        self.random_state = random_state

    def _learn(
        self,
        X: Any,
        y: Array,
        prior: Any,
        known: dict[str, Any],
        *,
        classes: bool,
    ) -> None:
        if self.strength != "auto":
            check_between("strength", self.strength, -1e-300)
        with threads_for(X.shape[0] * X.shape[1]):
            self.model_: LinearModel = fit_linear(
                as_rows(X),
                y,
                classes=classes,
                prior=weights_known(prior, X.shape[1]),
                strength=self.strength,
                seed=int(check_random_state(self.random_state).randint(2**31)),
                **known,
            )
        self.coef_ = self.model_.coef
        self.intercept_ = self.model_.intercept

    def expected_seconds(self, n_samples: int, n_features: int, n_outputs: int) -> float:
        """Return what a fit takes, roughly, for the automatic choice of a pipeline."""
        return 0.02 + 1.5e-7 * max(0, n_samples - QUICK_ROWS) * n_features * n_outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class RememberedClassifier(ClassifierMixin, _Remembered):  # type: ignore[misc]
    """Logistic regression under what memory knows of its weights.

    Parameters
    ----------
    strength : float or "auto", default="auto"
        Weight of past models in the prior: 0 does without them, "auto" learns it.
    random_state : int, RandomState instance or None, default=0
        How rows are divided into folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    model_ : LinearModel
        With the choice of the strength, and the part of each weight that came from memory.
    coef_ : ndarray of shape (n_outputs, n_features)
        Weights of the prepared columns.
    intercept_ : ndarray of shape (n_outputs,)

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 1.0], [4.0, 0.0], [5.0, 1.0]]
    >>> RememberedClassifier().fit(X, ["a", "a", "b", "b"]).predict([[4.0, 1.0]])
    array(['b'], dtype='<U1')
    """

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        prior: Any = None,
        X_unlabelled: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit to labelled rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Rows where it is missing (NaN, None, empty text) have no label.
        prior : Prior or WeightPrior, default=None
            What memory knows of these columns.
        X_unlabelled : array-like or sparse matrix, default=None
            Further rows without label.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; rows of weight 0 take no part.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never divided in the cross-validation that chooses the model.
        """
        X, y, known = training_rows(self, X, y, X_unlabelled, sample_weight, groups)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError(
                "RememberedClassifier needs two classes, but y holds one class only: label rows "
                "of another class too."
            )
        self._learn(X, y, prior, known, classes=True)
        return self

    def decision_function(self, X: Any) -> Array:
        """Return decision values: (n_samples,) for two classes, else one for each class."""
        rows = rows_to_predict(self, X)
        decision = self.model_.decision_function(rows)
        return decision[:, 0] if decision.shape[1] == 1 else decision

    def predict(self, X: Any) -> Array:
        """Return the class of each row."""
        rows = rows_to_predict(self, X)
        return self.model_.predict(rows)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, calibrated by cross-validation."""
        rows = rows_to_predict(self, X)
        return self.model_.predict_proba(rows)


class RememberedRegressor(RegressorMixin, _Remembered):  # type: ignore[misc]
    """Ridge regression under what memory knows of its weights.

    Parameters and attributes are those of `RememberedClassifier`, but for the classes.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0]]
    >>> RememberedRegressor().fit(X, [0.0, 1.0, 2.0, 3.0, 4.0]).predict([[2.0]]).round(2)
    array([2.])
    """

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        prior: Any = None,
        X_unlabelled: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit to labelled rows; the parameters are those of `RememberedClassifier.fit`."""
        X, y, known = training_rows(self, X, y, X_unlabelled, sample_weight, groups, y_numeric=True)
        self._learn(X, y, prior, known, classes=False)
        return self

    def predict(self, X: Any) -> Array:
        """Return the number of each row."""
        rows = rows_to_predict(self, X)
        return self.model_.predict(rows)


def of_classes(learner: Any) -> bool:
    """Return whether what a learner has fitted predicts classes."""
    return isinstance(getattr(learner, "estimator_", None), RememberedClassifier)


class RememberedLearner(_Remembered):
    """`RememberedClassifier` for classes and `RememberedRegressor` for numbers, which are floats.

    Examples
    --------
    >>> RememberedLearner().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).predict([[1.0]]).round(2)
    array([1.])
    """

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        prior: Any = None,
        X_unlabelled: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fit whichever of the two suits y."""
        _, labels, _ = labelled_rows(X, y)
        kind = RememberedClassifier if holds_classes(np.asarray(labels)) else RememberedRegressor
        self.estimator_ = kind(**self.get_params(deep=False)).fit(
            X,
            y,
            prior=prior,
            X_unlabelled=X_unlabelled,
            sample_weight=sample_weight,
            groups=groups,
        )
        self.model_ = self.estimator_.model_
        self.n_features_in_ = self.estimator_.n_features_in_
        self.__dict__.pop("classes_", None)
        if of_classes(self):
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> Array:
        """Predict with the estimator that was fitted."""
        check_is_fitted(self)
        return self.estimator_.predict(X)

    @available_if(of_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class."""
        return np.asarray(self.estimator_.predict_proba(X))

    @available_if(of_classes)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Return decision values."""
        return np.asarray(self.estimator_.decision_function(X))

    def __sklearn_tags__(self) -> Any:
        if hasattr(self, "estimator_"):
            return self.estimator_.__sklearn_tags__()
        return super().__sklearn_tags__()
