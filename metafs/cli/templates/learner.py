r"""newplugin: predict the class whose mean row is nearest.

.. math:: \hat y(x) = \arg\min_c \| x - \mu_c \|^2

This is a working example of a classifier: write your own model here. A learner is trained on the
selected columns, which come dense or sparse. One for numbers derives from ``RegressorMixin``. If
``fit`` takes ``prior``, `metafs.plugin.SupportsPrior` says what it is given.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped]
from sklearn.utils.validation import (  # type: ignore[import-untyped]
    check_is_fitted,
    validate_data,
)

from metafs.data.typing import Array
from metafs.plugin import Learner, hookimpl

METAFS_API = 1


class NewPluginClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # has no types
    """Predict the class whose mean row is nearest.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    means_ : ndarray of shape (n_classes, n_features)

    Examples
    --------
    >>> NewPluginClassifier().fit([[0.0], [1.0], [9.0]], ["a", "a", "b"]).predict([[7.0]])
    array(['b'], dtype='<U1')
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the mean row of each class."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        self.classes_ = np.unique(y)
        self.means_ = np.array([X[y == c].mean(axis=0) for c in self.classes_])
        return self

    def predict(self, X: Any) -> Array:
        """Return the class whose mean is nearest to each row."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        apart = (self.means_**2).sum(axis=1) - 2 * (X @ self.means_.T)
        nearest: Array = self.classes_[np.argmin(apart, axis=1)]
        return nearest


@hookimpl
def metafs_learners() -> dict[str, Learner]:
    """Offer the learner under its public name."""
    return {"newplugin": NewPluginClassifier()}
