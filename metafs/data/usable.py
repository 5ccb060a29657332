"""Which columns and values of a matrix can be used; what cannot is left out and noted."""

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np
from scipy.sparse import issparse

from metafs.data.notes import CONSTANT, EMPTY, INFINITE, TOO_LARGE, Notes
from metafs.data.typing import Array, Matrix
from metafs.errors import ProblemError

LARGEST_EXACT = 2.0**53
"""Whole numbers beyond this are rounded, so that different ones may become equal."""
LeaveOut = Literal["nothing", "empty", "constant"]
"""Columns that are left out: none, those without any value, or also those with only one."""


def without_infinities(X: Matrix, names: Sequence[str], notes: Notes) -> Matrix:
    """Return X with missing values in the place of infinite ones; the caller's X stays as it is."""
    values = X.data if issparse(X) else X
    infinite = np.isinf(values)
    if not infinite.any():
        return X
    columns = np.unique(X.indices[infinite]) if issparse(X) else infinite.any(axis=0).nonzero()[0]
    for j in columns.tolist():
        notes.add(INFINITE, names[j])
    X = X.copy()
    (X.data if issparse(X) else X)[infinite] = np.nan
    return X


def usable_columns(
    X: Matrix,
    names: Sequence[str],
    *,
    leave_out: LeaveOut,
    keep: Collection[str],
    notes: Notes,
    where: str,
    X_unlabelled: Matrix | None = None,
) -> Array:
    """Return the positions of the columns to use; those in `keep` need only have a value.

    A column that varies among rows without target is not constant: memory may know its weight.
    """
    used = np.ones(X.shape[1], dtype=bool)
    if leave_out == "nothing":
        return np.flatnonzero(used)
    for j in _empty(X).tolist():
        if names[j] in keep:
            raise ProblemError(
                f"{where}: column '{names[j]}', which is to be kept, has no values at all; do not "
                "ask to keep it."
            )
        notes.add(EMPTY, names[j])
        used[j] = False
    if leave_out == "constant":
        for j in _constant(X, X_unlabelled).tolist():
            if used[j] and names[j] not in keep:
                notes.add(TOO_LARGE if _is_too_large(X, j) else CONSTANT, names[j])
                used[j] = False
    if not used.any():
        raise ProblemError(
            f"{where}: no feature column has two different values, so nothing can be predicted "
            "from them; add other columns."
        )
    return np.flatnonzero(used)


def _empty(X: Matrix) -> Array:
    """Return the columns without any value."""
    if issparse(X):
        n_missing = np.bincount(X.indices[np.isnan(X.data)], minlength=X.shape[1])
    else:
        n_missing = np.isnan(X).sum(axis=0)
    return np.flatnonzero(n_missing == X.shape[0])


def _constant(X: Matrix, X_unlabelled: Matrix | None) -> Array:
    """Return the columns with one value in all rows; one that is sometimes missing is none."""
    if issparse(X):
        return np.flatnonzero(X.max(axis=0).toarray() == X.min(axis=0).toarray())
    constant = (X == X[0]).all(axis=0)
    if X_unlabelled is not None:
        constant &= (X_unlabelled == X[0]).all(axis=0)
    return np.flatnonzero(constant)


def _is_too_large(X: Matrix, column: int) -> bool:
    """Tell whether a constant column may have been no such column before it was rounded."""
    return not issparse(X) and abs(float(X[0, column])) >= LARGEST_EXACT
