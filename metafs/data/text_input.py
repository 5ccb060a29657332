"""Text, categories and dates in the arrays and frames that an estimator is given."""

from collections.abc import Sequence
from datetime import date, time
from typing import Any

import narwhals as nw
import numpy as np
from scipy.sparse import issparse

from metafs.data.columns import frame_columns, frame_names
from metafs.data.matrix import matrix_of_array, matrix_of_columns
from metafs.data.notes import Notes
from metafs.data.typing import Array


def holds_text(X: Any) -> bool:
    """Tell whether X holds anything that is not a number: text, categories or dates.

    Examples
    --------
    >>> holds_text([[1, 2.5], [True, None]]), holds_text([[1, "red"]])
    (False, True)
    """
    if nw.dependencies.is_into_dataframe(X):
        types = nw.from_native(X, eager_only=True).schema.values()
        return not all(each.is_numeric() or each == nw.Boolean for each in types)
    if issparse(X):
        return False
    try:
        array = np.asarray(X)
    except ValueError:
        return False  # validation reports what is wrong with it
    if array.dtype.kind in "USM":
        return True
    return array.dtype.kind == "O" and any(
        isinstance(each, str | bytes | date | time | np.datetime64) for each in array.flat
    )


def numbers_of_text(
    given: Sequence[Any], where: str, notes: Notes | None = None
) -> tuple[list[Array], dict[int, tuple[str, ...]]]:
    """Return matrices of numbers for arrays or frames of the same columns, and their labels.

    Categories have the same codes in all of them.

    Examples
    --------
    >>> numbers_of_text([[["red", 1], ["blue", 2]], [["red", 3]]], "here")
    ([array([[1., 1.],
           [0., 2.]]), array([[1., 3.]])], {0: ('blue', 'red')})
    """
    ends = np.cumsum([len(each) for each in given])[:-1]
    if nw.dependencies.is_into_dataframe(given[0]):
        names = frame_names(given[0])
        parts = [dict(frame_columns(each)) for each in given]
        columns = ((name, np.concatenate([part[name] for part in parts])) for name in names)
        n_rows = sum(map(len, given))
        X, categories = matrix_of_columns(columns, len(names), n_rows, where, notes)
    else:
        stacked = np.concatenate([np.asarray(each, dtype=object) for each in given])
        X, categories = matrix_of_array(stacked, None, where, notes)
    return np.split(np.asarray(X), ends), categories
