"""Fit: the one place where selectors and learners meet the data.

They get read-only tables: a plugin that centres X in place would otherwise change what is learnt,
scored and recorded afterwards, and the caller's table. On a small table linear algebra runs in one
thread, because several would mostly wait for each other.
"""

from dataclasses import replace
from typing import Any

from sklearn.pipeline import Pipeline

from metafs.data.frozen import unwritable
from metafs.data.typing import Array, Matrix
from metafs.errors import ProblemError
from metafs.plugin.prior import Prior
from metafs.stats.threads import threads_for


def fit(estimator: Any, X: Matrix, y: Array, **parameters: Any) -> Any:
    """Fit an estimator and return it; `parameters` are further parameters of its ``fit``.

    Raises
    ------
    ProblemError
        The estimator changes what it is given.
    """
    parameters = {name: _unwritable(value) for name, value in parameters.items()}
    try:
        with threads_for(X.shape[0] * X.shape[1]):
            return estimator.fit(unwritable(X), unwritable(y), **parameters)
    except ValueError as error:
        if "read-only" not in str(error) and "read only" not in str(error):
            raise
        named = type(estimator[-1] if isinstance(estimator, Pipeline) else estimator).__name__
        raise ProblemError(
            f"{named} changes X or y in place ({error}): it must work on a copy."
        ) from error


def _unwritable(value: Any) -> Any:
    if isinstance(value, Prior):
        return replace(value, expected=unwritable(value.expected))
    return unwritable(value)
