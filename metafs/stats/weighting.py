"""Weights of rows for any estimator: the parameters of ``fit`` that pass them on.

In a scikit-learn pipeline every step that takes weights gets them, so that a scaler counts rows as
the learner after it does.
"""

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from metafs.data.typing import Array


def weight_parameters(estimator: Any, sample_weight: Array | None) -> dict[str, Array]:
    """Return the parameters of ``fit`` that give an estimator the weights; none if it takes none.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import numpy as np
    >>> sorted(weight_parameters(make_pipeline(StandardScaler(), Ridge()), np.ones(3)))
    ['ridge__sample_weight', 'standardscaler__sample_weight']
    """
    if sample_weight is None:
        return {}
    if isinstance(estimator, Pipeline):
        return {
            f"{name}__{parameter}": value
            for name, step in estimator.steps
            for parameter, value in weight_parameters(step, sample_weight).items()
        }
    return {"sample_weight": sample_weight} if has_fit_parameter(estimator, "sample_weight") else {}


def takes_weights(estimator: Any) -> bool:
    """Return whether an estimator, or the last step of a pipeline, can take weights of rows."""
    if isinstance(estimator, Pipeline):
        return takes_weights(estimator[-1])
    return bool(has_fit_parameter(estimator, "sample_weight"))
