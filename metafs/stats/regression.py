"""Optional abilities of regressors: sample weights, and standard deviations of predictions.

A scikit-learn pipeline has the abilities of its last step.
"""

from inspect import signature
from typing import Any

from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from metafs.data.typing import Array
from metafs.errors import UsageError


def _last_step(regressor: Any) -> tuple[str, Any]:
    """Return the prefix of its parameters, and the estimator at the end of nested pipelines."""
    prefix = ""
    while isinstance(regressor, Pipeline):
        name, regressor = regressor.steps[-1]
        prefix += f"{name}__"
    return prefix, regressor


def knows_how_sure(regressor: Any) -> bool:
    """Return whether ``predict`` takes ``return_std``.

    Examples
    --------
    >>> from sklearn.linear_model import BayesianRidge, LinearRegression
    >>> knows_how_sure(BayesianRidge()), knows_how_sure(LinearRegression())
    (True, False)
    """
    return "return_std" in signature(_last_step(regressor)[1].predict).parameters


def takes_weights(regressor: Any) -> bool:
    """Return whether rows can be weighted in ``fit``.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn.linear_model import BayesianRidge
    >>> takes_weights(BayesianRidge()), takes_weights(KNeighborsRegressor())
    (True, False)
    """
    return bool(has_fit_parameter(_last_step(regressor)[1], "sample_weight"))


def fitted(regressor: Any, X: Array, y: Array, sample_weight: Array | None = None) -> Any:
    """Return a copy of a regressor, fitted with sample weights if given."""
    if sample_weight is None:
        return clone(regressor).fit(X, y)
    prefix, last = _last_step(regressor)
    if not takes_weights(regressor):
        raise UsageError(
            f"{type(last).__name__} cannot weight features: leave out sample_weight, or take a "
            "regressor that can, such as ridge or forest."
        )
    return clone(regressor).fit(X, y, **{f"{prefix}sample_weight": sample_weight})


def predicted_with_std(regressor: Any, X: Array) -> tuple[Array, Array]:
    """Return predictions and standard deviations; refuse a regressor that has none."""
    if not knows_how_sure(regressor):
        raise UsageError(
            f"{type(_last_step(regressor)[1]).__name__} gives no standard deviations: leave out "
            "return_std, or use a regressor that does, such as gp, ridge, forest or weighted-knn."
        )
    prediction, std = regressor.predict(X, return_std=True)
    return prediction, std
