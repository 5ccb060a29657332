r"""newplugin: from the properties of a feature to its quality, by ridge regression.

.. math:: w = (Z^T Z + \alpha I)^{-1} Z^T (q - \bar q)

with Z the standardised properties (meta-features) of features whose quality q is known. This is a
working example: write your own model here. A regressor that knows how sure it is takes
``return_std=True`` in ``predict`` and then returns standard deviations as well.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin  # type: ignore[import-untyped]
from sklearn.utils.validation import (  # type: ignore[import-untyped]
    check_is_fitted,
    validate_data,
)

from metafs.data.typing import Array
from metafs.plugin import Regressor, hookimpl

METAFS_API = 1


class NewPluginRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # has no types
    """Predict the quality of features from their properties.

    Parameters
    ----------
    alpha : float, default=1.0
        How strongly weights are drawn to zero.

    Examples
    --------
    >>> NewPluginRegressor(alpha=1e-9).fit([[0.0], [1.0]], [2.0, 4.0]).predict([[2.0]]).round(3)
    array([6.])
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from features whose quality was measured, a row of properties each."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self.centre_, spread = X.mean(axis=0), X.std(axis=0)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        self.mean_ = float(y.mean())
        Z = (X - self.centre_) / self.spread_
        self.coef_ = np.linalg.solve(
            Z.T @ Z + self.alpha * np.eye(Z.shape[1]), Z.T @ (y - self.mean_)
        )
        return self

    def predict(self, X: Any) -> Array:
        """Return the expected quality of each row."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        expected: Array = self.mean_ + (X - self.centre_) / self.spread_ @ self.coef_
        return expected


@hookimpl
def metafs_regressors() -> dict[str, Regressor]:
    """Offer the regressor under its public name."""
    return {"newplugin": NewPluginRegressor()}
