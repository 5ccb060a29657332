"""The columns that a model needs of a table, and new tables read as the first one was.

A table with names is asked for its columns by name, in whatever order it has them; further columns
are left alone. A bare array has its columns in the order in which the first one had them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Self

import narwhals as nw
import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

from metafs.data.checks import check_width, counted, listing
from metafs.data.column_form import ColumnForm
from metafs.data.columns import frame_names, series_values
from metafs.data.limits import check_table_bytes
from metafs.data.problem import Problem
from metafs.data.typing import Array, Matrix
from metafs.errors import ProblemError

MOST_HINTS = 5
CELLS = 2**20
"""How many values are looked at together for their range."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Which columns a model needs, how each became numbers, and where it was in the table."""

    forms: tuple[ColumnForm, ...]
    positions: tuple[int, ...]
    """Where the columns are in a bare array."""
    n_given: int
    """How many columns a bare array has."""

    @classmethod
    def of(cls, problem: Problem, columns: Iterable[int]) -> Self:
        """Return the layout of some columns of a problem."""
        chosen = np.array(list(columns), dtype=np.int64)
        low, high = _ranges(problem.X, chosen)
        given = problem.given_names or problem.feature_names
        place = {name: j for j, name in enumerate(given)}
        commas = set(problem.decimal_commas)
        forms = []
        for at, column in enumerate(chosen.tolist()):
            name, labels = problem.feature_names[column], problem.categories.get(column)
            known = labels is None and np.isfinite(low[at])
            ends = (float(low[at]), float(high[at])) if known else (None, None)
            forms.append(ColumnForm(name, labels, name in commas, *ends))
        return cls(tuple(forms), tuple(place[form.name] for form in forms), len(given))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(form.name for form in self.forms)

    def rows(self, X: Any, where: str) -> Matrix:
        """Return the rows of a data frame, an array or a sparse matrix as numbers."""
        if nw.dependencies.is_into_dataframe(X):
            return self.rows_of_frame(X, where)
        X = X if issparse(X) else np.asarray(X)
        check_width(X, where)
        if X.shape[1] != self.n_given:
            raise ProblemError(
                f"{where}: the rows have {counted(X.shape[1], 'column')}, but the model learnt "
                f"from {self.n_given}; give all of them, or a table with names."
            )
        return self.rows_of_array(X, where)

    def rows_of_array(self, X: Any, where: str) -> Matrix:
        """Return the rows of a bare array that is wide enough."""
        chosen = X[:, list(self.positions)]
        if issparse(chosen):
            chosen = csr_array(chosen, dtype=np.float64)
            chosen.data[np.isinf(chosen.data)] = np.nan
            return chosen
        return self.rows_of_columns(len(X), iter(chosen.T), where)

    def rows_of_frame(self, frame: Any, where: str) -> Array:
        """Return the rows of a pandas, polars or other eager frame."""
        self.check_names(frame_names(frame), where)
        wrapped = nw.from_native(frame, eager_only=True)
        by_name = {str(series.name): series for series in wrapped.iter_columns()}
        columns = (series_values(by_name[name]) for name in self.names)
        return self.rows_of_columns(len(wrapped), columns, where)

    def rows_of_columns(self, n_rows: int, columns: Iterable[Array], where: str) -> Array:
        """Return rows of numbers for the raw columns that the model needs, in its order."""
        size = 8 * n_rows * len(self.forms)
        check_table_bytes(size, f"its {n_rows:,} rows of numbers", where)
        X = np.empty((n_rows, len(self.forms)), order="F")
        for j, (form, raw) in enumerate(zip(self.forms, columns, strict=True)):
            X[:, j] = form.numbers(raw, where)
        return X

    def check_names(self, names: Sequence[str], where: str) -> None:
        """Refuse a table that lacks columns, and one that has a column twice; say what is near."""
        count = Counter(names)
        for name in self.names:
            if count[name] > 1:
                raise ProblemError(
                    f"{where}: duplicate column name: '{name}' occurs {count[name]} times; rename "
                    "all but one."
                )
        lacking = [name for name in self.names if not count[name]]
        if lacking:
            raise ProblemError(
                f"{where}: lacks {counted(len(lacking), 'column')} that the model needs: "
                f"{listing(lacking)}; {_hint(lacking, names, set(self.names))}"
            )


def _ranges(X: Matrix, columns: Array) -> tuple[Array, Array]:
    """Return the smallest and the largest known value of some columns; NaN where there is none."""
    if issparse(X):
        return _sparse_ranges(csc_array(X[:, columns]))
    low, high = np.full((2, len(columns)), np.nan)
    n_together = max(1, CELLS // max(len(columns), 1))
    for start in range(0, X.shape[0], n_together):
        values = X[start : start + n_together][:, columns]
        low = np.fmin(low, np.fmin.reduce(values, axis=0))
        high = np.fmax(high, np.fmax.reduce(values, axis=0))
    return low, high


def _sparse_ranges(X: Any) -> tuple[Array, Array]:
    n_stored = np.diff(X.indptr)
    low = high = np.where(n_stored < X.shape[0], 0.0, np.nan)
    stored = np.flatnonzero(n_stored)
    if len(stored):
        low, high = low.copy(), high.copy()
        starts = X.indptr[stored]
        low[stored] = np.fmin(low[stored], np.fmin.reduceat(X.data, starts))
        high[stored] = np.fmax(high[stored], np.fmax.reduceat(X.data, starts))
    return low, high


def _hint(lacking: Sequence[str], names: Sequence[str], used: set[str]) -> str:
    """Say which columns of the table may be meant."""
    free = [name for name in names if name not in used]
    folded: dict[str, str] = {name.strip().lower(): name for name in free}
    found = []
    for name in lacking[:MOST_HINTS]:
        same = folded.get(name.strip().lower())
        near = [same] if same is not None else get_close_matches(name, free, n=1, cutoff=0.7)
        found += [f"{listing(near)} for {listing([name])}" for _ in near]
    if found:
        rename = "Rename it." if len(found) == 1 else "Rename them."
        return f"did you mean {', '.join(found)}? {rename}"
    return f"its columns are {listing(names)}." if names else "it has no columns at all."
