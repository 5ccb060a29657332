"""Columns of a table, copied as they are: no value is read for what it says.

Text stays as it was written, numbers, dates and truth values of a parquet or JSON file keep their
types. Text goes into a parquet file as numbers or dates where that loses nothing.
"""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np
from scipy.sparse import issparse

from metafs.data.columns import MISSING
from metafs.data.layout import Layout
from metafs.data.notes import Notes
from metafs.data.readers import arff, arrays, delimited, duck, tables
from metafs.data.readers.encodings import read_as_utf8
from metafs.data.readers.files import kind_of, open_text, shown, unreadable
from metafs.data.readers.new_rows import require_rows
from metafs.data.table_output import copy_parquet
from metafs.data.typing import Array
from metafs.errors import ProblemError

_MISSING = "(" + ", ".join(f"'{marker}'" for marker in MISSING) + ")"
TYPES = ("bigint", "double", "date", "timestamp")
FITS = {
    "bigint": "cast(try_cast({c} as bigint) as varchar) = {c}",
    "double": "try_cast({c} as double) is not null and not regexp_matches({c}, '^[-+]?0[0-9]')",
    "date": "cast(try_cast({c} as date) as varchar) = {c}",
    "timestamp": "try_cast({c} as timestamp) is not null",
}
"""When a text can be of a type without losing anything."""


class Copied:
    """Columns of a table, under the names c0, c1, ... of the relation `t`."""

    def __init__(self, con: duckdb.DuckDBPyConnection, names: Sequence[str], text: bool) -> None:
        self._con, self.names, self._text = con, tuple(names), text

    def rows(self) -> Iterator[tuple[str | None, ...]]:
        """Yield the rows as text."""
        columns = ", ".join(f"c{j}::varchar" for j in range(len(self.names)))
        found = self._con.execute(f"select {columns} from t")
        while some := found.fetchmany(10_000):
            yield from some

    def write_parquet(self, path: Path) -> None:
        """Write the columns as a parquet file."""
        if not self._text:
            copy_parquet(self._con, "t", self.names, path)
            return
        typed = ", ".join(self._typed(f"c{j}") for j in range(len(self.names)))
        copy_parquet(self._con, f"(select {typed} from t)", self.names, path)

    def _typed(self, column: str) -> str:
        """Return SQL for a column of text as the first type that loses nothing."""
        present = f"{column} is not null and {column} not in {_MISSING}"
        for name in TYPES:
            unfit = f"select count(*) from t where {present} and not coalesce({{}}, false)"
            (n_unfit,) = self._con.execute(unfit.format(FITS[name].format(c=column))).fetchall()[0]
            if not n_unfit:
                return f"case when {present} then {column}::{name} end as {column}"
        return f"nullif({column}, '') as {column}"


@contextmanager
def copied(path: Path, layout: Layout, notes: Notes) -> Iterator[Copied]:
    """Lend the columns that a layout needs, as a file has them."""
    require_rows(path)
    where = shown(path)
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as con:
        kind = kind_of(path)
        if kind in ("npz", "svmlight"):
            _register(con, _of_arrays(path, layout, where))
            names: Sequence[str] = layout.names
        else:
            names = read_as_utf8(path, where, lambda path: _fill(con, path, layout, where), notes)
        yield Copied(con, names, kind in ("csv", "tsv", "arff"))


def _fill(
    con: duckdb.DuckDBPyConnection, path: Path, layout: Layout, where: str
) -> tuple[str, ...]:
    """Fill the relation with the columns, in the order of the file, and return their names."""
    names = tables.column_names(path, where)
    layout.check_names(names, where)
    wanted = set(layout.names)
    positions = [j for j, name in enumerate(names) if name in wanted]
    match kind_of(path):
        case "csv" | "tsv":
            _register(con, _texts(path, where, len(names), positions))
        case "arff":
            table = arff.read_table(path, where)
            _register(con, [table.column(j) for j in positions])
        case kind:
            generated = ", ".join(f"c{j}" for j in range(len(names)))
            scan = duck.PARQUET_SCAN if kind == "parquet" else duck.JSON_SCAN
            chosen = ", ".join(f"t.c{j} as c{place}" for place, j in enumerate(positions))
            query = f"create temp table t as select {chosen} from {scan} as t({generated})"
            with duck.connect(path, where, con):
                con.execute(query, [duck.literal_path(path)])
    return tuple(names[j] for j in positions)


def _texts(path: Path, where: str, n_columns: int, positions: Sequence[int]) -> list[Array]:
    """Return columns of delimited text as it is written."""
    delimiter = delimited.read_header(path, where).delimiter
    found: list[list[str]] = [[] for _ in positions]
    with open_text(path, where) as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            next(reader)
            for row in reader:
                if row and len(row) != n_columns:
                    raise ProblemError(
                        f"{where}: line {reader.line_num} has {len(row)} values where the header "
                        f"has {n_columns} columns; fix the line."
                    )
                for values, j in zip(found, positions if row else (), strict=bool(row)):
                    values.append(row[j])
        except csv.Error as error:
            raise unreadable(where, f"line {reader.line_num}: {error}") from None
    return [np.array(values, dtype=object) for values in found]


def _of_arrays(path: Path, layout: Layout, where: str) -> list[Array]:
    """Return columns of a file of arrays."""
    if kind_of(path) == "npz":
        X, names = arrays.read_bare_npz(path)
    else:
        X, names = arrays.read_bare_svmlight(path), None
    if names is not None:
        layout.check_names(names, where)
        positions = [list(names).index(name) for name in layout.names]
    else:
        if not layout.positions:
            raise ProblemError(
                f"{where}: its columns have no names, by which to select them; add the array "
                "feature_names, or save the model with `metafs solve --save-models`."
            )
        positions = list(layout.positions)
        if max(positions, default=0) >= X.shape[1]:
            raise ProblemError(
                f"{where}: has {X.shape[1]} columns, fewer than the problem had; give all of them."
            )
    chosen = X[:, positions]
    return list((chosen.toarray() if issparse(chosen) else np.asarray(chosen)).T)


def _register(con: duckdb.DuckDBPyConnection, columns: Sequence[Array]) -> None:
    held = {f"c{j}": np.asarray(values) for j, values in enumerate(columns)}
    con.register("given", held)
    kinds = (
        f"c{j}::varchar as c{j}" if values.dtype.kind == "O" else f"c{j}"
        for j, values in enumerate(held.values())
    )
    con.execute(f"create temp table t as select {', '.join(kinds)} from given")
