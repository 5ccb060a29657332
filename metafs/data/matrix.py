"""Building the float64 matrix of a problem from arrays, sparse matrices and raw columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_X_y

from metafs.data.checks import check_known, check_width
from metafs.data.columns import convert, series_values
from metafs.data.limits import check_table_bytes
from metafs.data.notes import Notes
from metafs.data.typing import Array, Matrix
from metafs.errors import MetafsError, ProblemError

DENSE_LIMIT = 4 * 2**30
"""A sparse matrix is not made dense beyond this many bytes."""


def dense(X: Matrix, method: str) -> Array:
    """Return X as an ndarray for a method that cannot do without, or say that it is too large.

    Examples
    --------
    >>> dense(csr_array([[0.0, 1.0]]), "relieff")
    array([[0., 1.]])
    """
    size = X.shape[0] * X.shape[1] * 8
    if issparse(X) and size > DENSE_LIMIT:
        raise MetafsError(
            f"{method} needs all {X.shape[0]} x {X.shape[1]} values, {size / 2**30:.1f} GB: "
            "take fewer rows, or preselect features with infogain or fisher."
        )
    array: Array = X.toarray() if issparse(X) else X
    return array


def with_short_indices(X: Matrix) -> Matrix:
    """Return a sparse matrix with 32-bit indices, the only ones that trees and machines take.

    Examples
    --------
    >>> with_short_indices(csr_array(np.eye(2))).indices.dtype
    dtype('int32')
    """
    if not issparse(X):
        return X
    X = csr_array(X)
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return csr_array(parts, shape=X.shape)


def table_and_target(X: Any, y: Any, measure: str) -> tuple[Matrix, Array]:
    """Return what a measure is given as float64, ndarray or CSR, and one value per row.

    Examples
    --------
    >>> table_and_target([[0, 1], [2, 3]], ["a", "b"], "margin")
    (array([[0., 1.],
           [2., 3.]]), array(['a', 'b'], dtype='<U1'))
    """
    with np.errstate(invalid="ignore"):  # scikit-learn's sum of the largest numbers there are
        X, y = check_X_y(X, y, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan")
    check_known(X, measure)
    return csr_array(X) if issparse(X) else X, y


def matrix_of_columns(
    columns: Iterable[tuple[str, Array]],
    n_columns: int,
    n_rows: int,
    where: str,
    notes: Notes | None = None,
) -> tuple[Matrix, dict[int, tuple[str, ...]]]:
    """Convert named raw columns, one at a time, into a matrix and the labels of its categories."""
    check_table_bytes(8 * n_rows * n_columns, f"its {n_rows:,} rows of numbers", where)
    X = np.empty((n_rows, n_columns), order="F")
    categories = {}
    for j, (name, raw) in enumerate(columns):
        column = convert(raw, name=name, where=where)
        X[:, j] = column.values
        if notes is not None:
            notes.add_all(column.assumed, name)
        if column.labels is not None:
            categories[j] = column.labels
    return X, categories


def matrix_of_array(
    X: Any, feature_names: Sequence[str] | None, where: str, notes: Notes | None = None
) -> tuple[Matrix, dict[int, tuple[str, ...]]]:
    """Convert an array-like or sparse matrix; only text and objects need the rule for columns."""
    if issparse(X):
        check_width(X, where)
        return _canonical_csr(X), {}
    try:
        X = np.asarray(X)
    except ValueError:
        raise ProblemError(f"{where}: the rows of X differ in length; make them equal.") from None
    check_width(X, where)
    if X.dtype.kind in "biuf":
        return X.astype(np.float64, copy=False), {}
    if feature_names is None or len(feature_names) != X.shape[1]:
        feature_names = [f"x{j}" for j in range(X.shape[1])]
    named = zip(map(str, feature_names), X.T, strict=True)
    return matrix_of_columns(named, X.shape[1], X.shape[0], where, notes)


def _canonical_csr(X: Any) -> csr_array:
    """Return X as CSR without duplicates, leaving what the caller owns as it is."""
    csr = csr_array(X, dtype=np.float64)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def raw_target(y: Any, where: str) -> Array:
    """Return a target given as array, series or sequence as a one-dimensional raw column."""
    if nw.dependencies.is_into_series(y):
        return series_values(y)
    if isinstance(y, np.ndarray):
        return y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
    if isinstance(y, str):
        raise ProblemError(
            f"{where}: the target '{y}' is a name, but X is no frame with named columns; give one "
            "value a row."
        )
    if not isinstance(y, Iterable):
        raise ProblemError(
            f"{where}: the target is '{y}' instead of a sequence; give one value a row."
        )
    values = list(y)
    raw = np.empty(len(values), dtype=object)
    raw[:] = values
    return raw


def labelled_and_not(
    X: Matrix, present: Array, categories: Mapping[int, tuple[str, ...]]
) -> tuple[Matrix, Matrix, dict[int, tuple[str, ...]]]:
    """Return the rows with a target, those without, and the categories in use.

    Categories are coded anew, so that only labels of rows with a target remain; in the other rows
    further ones are missing values, and so is what is infinite there.
    """
    labelled, others = X[present], X[~present]
    values = others.data if issparse(others) else others
    values[np.isinf(values)] = np.nan
    used: dict[int, tuple[str, ...]] = {}
    for j, labels in categories.items():
        there = ~np.isnan(labelled[:, j])
        codes, renumbered = np.unique(labelled[there, j], return_inverse=True)
        labelled[there, j] = renumbered
        place = {code: number for number, code in enumerate(codes.tolist())}
        others[:, j] = [place.get(code, np.nan) for code in others[:, j].tolist()]
        used[j] = tuple(labels[int(code)] for code in codes)
    return labelled, others, used
