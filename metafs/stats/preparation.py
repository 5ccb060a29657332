"""Preparation of columns for learners: imputation, one-hot encoding, dense where possible."""

from collections.abc import Collection
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from metafs.data.typing import Array, Matrix
from metafs.stats.magnitude import divided, divisors

DENSE_BYTES = 64 * 2**20
"""Selected columns are made dense up to this size: most learners are faster on them."""


def chosen_columns(X: Matrix, columns: Array) -> Matrix:
    """Return these columns of X, dense unless that would take much memory.

    Examples
    --------
    >>> chosen_columns(np.eye(3), np.array([2]))
    array([[0.],
           [0.],
           [1.]])
    """
    chosen = X[:, columns]
    if issparse(chosen) and 8 * chosen.shape[0] * chosen.shape[1] <= DENSE_BYTES:
        return np.asarray(chosen.toarray())
    return chosen


def _fill() -> SimpleImputer:
    return SimpleImputer(strategy="median", keep_empty_features=True)


def filled(X: Matrix) -> Matrix:
    """Return X with the median of each column for its missing values, 0 if it has no others.

    Examples
    --------
    >>> filled(np.array([[1.0], [3.0], [np.nan]])).ravel()
    array([1., 3., 2.])
    """
    return _fill().fit_transform(X)


def with_filling(model: Pipeline, X: Matrix) -> Pipeline:
    """Return a fitted pipeline that also takes rows with missing values, as new rows may have.

    They become the medians of the rows X that it learnt from. X is without missing values; a sparse
    one, which is too large to be made dense, leaves the pipeline as it is.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> X = np.array([[1.0], [2.0], [3.0]])
    >>> model = with_filling(Pipeline([("learn", Ridge().fit(X, X[:, 0]))]), X)
    >>> model.predict(np.array([[np.nan]]))
    array([2.])
    """
    if issparse(X) or not X.shape[1] or any(name == "prepare" for name, _ in model.steps):
        return model
    return Pipeline([("prepare", _fill().fit(X)), *model.steps])


def preparation(X: Matrix, columns: Array, categories: Collection[int]) -> list[tuple[str, Any]]:
    """Return the steps of a scikit-learn pipeline that prepare X, none if it is ready.

    Columns of very large numbers are scaled down, missing numbers become the median of the
    training rows, each category becomes a column.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, len(columns))
        The chosen columns of a problem.
    columns : array of int
        Which columns of the problem these are.
    categories : collection of int
        The columns of the problem that are categorical.

    Examples
    --------
    >>> [name for name, _ in preparation(np.array([[1.0], [np.nan]]), np.array([7]), ())]
    ['prepare']
    """
    categorical = np.array([column in categories for column in columns.tolist()])
    fill = _fill()
    by = divisors(X)
    scale = FunctionTransformer(divided, accept_sparse=True, kw_args={"by": by})
    steps = [] if by is None else [("scale", scale)]
    if categorical.any():
        encode = OneHotEncoder(handle_unknown="ignore")
        parts = [("numbers", fill, ~categorical), ("categories", encode, categorical)]
        return [*steps, ("prepare", ColumnTransformer(parts))]
    if np.isnan(X.data if issparse(X) else X).any():
        return [*steps, ("prepare", fill)]
    return steps
