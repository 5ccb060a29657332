r"""The learner ``voting``: a linear model with memory and random trees vote.

.. math:: p(c \mid x) = \tfrac{1}{2}\big(p_{linear} + p_{trees}\big)(c \mid x)

and the mean of two predictions where the target is a number. The two err on different rows, so that
together they are seldom much worse than the better of them, which few labels cannot tell. The trees
are extremely randomised: P. Geurts, D. Ernst, L. Wehenkel, Machine Learning 63, 2006.
"""

import math
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.utils.metaestimators import available_if

from metafs.data.matrix import with_short_indices
from metafs.data.target import holds_classes
from metafs.data.typing import Array, Matrix
from metafs.data.unlabelled import labelled_rows
from metafs_remembered.learner import QUICK_ROWS, RememberedLearner, of_classes
from metafs_remembered.rows import rows_to_predict, training_rows


def _of_classes(self: "VotingLearner") -> bool:
    return of_classes(getattr(self, "linear_", None))


class VotingLearner(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A linear model with memory and extremely randomised trees, averaged.

    Parameters
    ----------
    n_trees : int, default=100
    random_state : int, RandomState instance or None, default=0

    Attributes
    ----------
    linear_, trees_ : estimator
    classes_ : ndarray of shape (n_classes,)
        If the target holds classes.

    Examples
    --------
    >>> X = [[0.0, 1.0], [1.0, 1.0], [4.0, 0.0], [5.0, 1.0]]
    >>> VotingLearner(n_trees=10).fit(X, ["a", "a", "b", "b"]).predict([[4.0, 1.0]])
    array(['b'], dtype='<U1')
    """

    def __init__(self, *, n_trees: int = 100, random_state: Any = 0) -> None:
        self.n_trees = n_trees
        self.random_state = random_state

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
        """Fit both; the trees have use for weights only.

        The parameters are those of `RememberedClassifier.fit`.
        """
        classes = holds_classes(np.asarray(labelled_rows(X, y)[1]))
        X, y, known = training_rows(
            self, X, y, X_unlabelled, sample_weight, groups, y_numeric=not classes
        )
        X = with_short_indices(X)
        self.linear_ = RememberedLearner(random_state=self.random_state).fit(
            X, y, prior=prior, **known
        )
        trees = ExtraTreesClassifier if classes else ExtraTreesRegressor
        self.trees_ = trees(self.n_trees, random_state=self.random_state).fit(
            X, y, known["sample_weight"]
        )
        self.__dict__.pop("classes_", None)
        if classes:
            self.classes_ = self.trees_.classes_
        return self

    def predict(self, X: Any) -> Array:
        """Return the class or the number of each row."""
        rows = self._rows(X)
        if _of_classes(self):
            return np.asarray(self.classes_[self._probabilities(rows).argmax(axis=1)])
        return np.asarray((self.linear_.predict(rows) + self.trees_.predict(rows)) / 2)

    @available_if(_of_classes)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the mean probability of each class."""
        return self._probabilities(self._rows(X))

    def _probabilities(self, rows: Matrix) -> Array:
        both = self.linear_.predict_proba(rows) + self.trees_.predict_proba(rows)
        return np.asarray(both / 2)

    def _rows(self, X: Any) -> Matrix:
        return with_short_indices(rows_to_predict(self, X))

    def expected_seconds(self, n_samples: int, n_features: int, n_outputs: int) -> float:
        """Return what a fit takes, roughly: the trees take most of it."""
        more = max(0, n_samples - QUICK_ROWS)
        usual = 3e-6 * n_samples * math.sqrt(n_features * n_outputs)
        return 0.2 + usual + 5e-5 * more * math.sqrt(n_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        if hasattr(self, "trees_"):
            tags.estimator_type = "classifier" if _of_classes(self) else "regressor"
        return tags
