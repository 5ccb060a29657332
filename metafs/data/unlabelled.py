"""Rows whose target is missing: they are rows without label, not an error."""

from typing import Any

import narwhals as nw
import numpy as np
from sklearn.utils import _safe_indexing

from metafs.data.columns import series_values
from metafs.data.typing import Array


def labelled_rows(X: Any, y: Any) -> tuple[Any, Any, Any | None]:
    """Return X and y of the rows that have a target, and X of the others, None if there are none.

    A missing target is NaN, None or empty text.

    Examples
    --------
    >>> X, y, X_unlabelled = labelled_rows([[1.0], [2.0], [3.0]], ["spam", None, "ham"])
    >>> X, y.tolist(), X_unlabelled
    ([[1.0], [3.0]], ['spam', 'ham'], [[2.0]])
    """
    values = _values(y)
    if values is None:
        return X, y, None
    missing = _missing(values)
    if not missing.any() or missing.all():
        return X, y, None
    present = values[~missing]
    labels = np.array(present.tolist()) if present.dtype.kind == "O" else present
    labelled, others = np.flatnonzero(~missing), np.flatnonzero(missing)
    return _safe_indexing(X, labelled), labels, _safe_indexing(X, others)


def _values(y: Any) -> Array | None:
    """Return a target of one value a row as an array; None for anything else."""
    if nw.dependencies.is_into_series(y):
        return series_values(y)
    if isinstance(y, (list, tuple)):
        held = np.empty(len(y), dtype=object)
        held[:] = y
        return held
    return y if isinstance(y, np.ndarray) and y.ndim == 1 else None


def _missing(values: Array) -> Array:
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.getmaskarray(values))
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "US":
        return np.asarray(values == values.dtype.type())
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.array([_is_missing(each) for each in values.tolist()], dtype=bool)


def _is_missing(value: Any) -> bool:
    if value is None or isinstance(value, float):
        return value is None or np.isnan(value).item()
    return isinstance(value, str) and not value
