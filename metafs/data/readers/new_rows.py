"""Files with new rows for a model: the columns that it needs, without any target."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array, issparse

from metafs.data.layout import Layout
from metafs.data.notes import Notes
from metafs.data.readers import arrays, tables
from metafs.data.readers.encodings import read_as_utf8
from metafs.data.readers.files import KINDS, TABLES, kind_of, no_file, shown
from metafs.data.typing import Array, Matrix
from metafs.errors import ProblemError, UsageError


def read_rows(path: Path, layout: Layout, notes: Notes) -> Matrix:
    """Return the rows of a file as the numbers that a model takes.

    Tables are asked for the columns by name. An npz file without names, and an svmlight file, have
    the columns of the problem in its order.
    """
    require_rows(path)
    where = shown(path)
    match kind_of(path):
        case "npz":
            X, names = arrays.read_bare_npz(path)
            if names is None:
                return layout.rows(X, where)
            layout.check_names(names, where)
            place = {name: j for j, name in enumerate(names)}
            return _rows(layout, X[:, [place[name] for name in layout.names]], where)
        case "svmlight":
            return layout.rows(_of_width(arrays.read_bare_svmlight(path), layout.n_given), where)

    def read(path: Path) -> Array:
        names = tables.column_names(path, where)
        layout.check_names(names, where)
        place = {name: j for j, name in enumerate(names)}
        positions = [place[name] for name in layout.names]
        n_rows, columns = tables.read_columns(path, where, names, positions or [0])
        raw: Iterator[Array] = (values for _, values in columns)
        return layout.rows_of_columns(n_rows, raw if positions else iter(()), where)

    return read_as_utf8(path, where, read, notes)


def require_rows(path: Path) -> None:
    """Refuse what is no file with rows."""
    if wrong := no_file(path):
        raise UsageError(wrong)
    if kind_of(path) not in (*TABLES, "npz", "svmlight"):
        known = ", ".join(suffix for suffix, kind in KINDS.items() if kind != "stream")
        raise UsageError(
            f"{shown(path)}: no reader understands this suffix; those understood are {known}."
        )


def _rows(layout: Layout, X: Matrix, where: str) -> Matrix:
    """Return rows whose columns are those of the layout, in its order."""
    if issparse(X):
        return csr_array(X, dtype=np.float64)
    return layout.rows_of_columns(len(X), iter(np.asarray(X).T), where)


def _of_width(X: Matrix, n_columns: int) -> Matrix:
    """Return sparse rows with so many columns: an svmlight file does not say how many it has."""
    if X.shape[1] >= n_columns:
        return X[:, :n_columns]
    return csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], n_columns))


def refuse_no_columns(names: tuple[str, ...], problem: str) -> None:
    """Refuse to select columns where none is kept."""
    if not names:
        raise ProblemError(f"the model of {problem!r} keeps no column, so there is none to select.")
