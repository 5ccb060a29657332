"""Measurers of columns that stay where they are until asked for: a parquet file, a DuckDB table.

Only the columns asked for are read. Text is read by the rule for every table
(`metafs.data.columns`): numbers, dates, or categories as codes. Nothing is held open between reads.
"""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

from metafs.data.checks import listing, unknown_column
from metafs.data.columns import convert
from metafs.data.readers.duck import fetch, parquet_names, read_columns
from metafs.data.readers.files import open_or_say, refuse_empty, shown, unreadable
from metafs.data.typing import Array
from metafs.errors import ProblemError, UsageError
from metafs_metafeatures.mf_pfs.measurers import CallableMeasurer, Measurer, TableMeasurer

TABLES = """
    select table_name from information_schema.tables
    where table_schema = 'main' order by table_name
"""
COLUMNS = """
    select column_name from information_schema.columns
    where table_schema = 'main' and table_name = ? order by ordinal_position
"""


class ColumnMeasurer(Measurer):
    """Base of measurers of named columns; a subclass supplies ``_read(names)``."""

    def __init__(
        self, where: str, known: Sequence[str], columns: Sequence[str] | None, drop: Iterable[str]
    ) -> None:
        unwanted = [drop] if isinstance(drop, str) else list(drop)
        for name in [*unwanted, *(columns or ())]:
            if name not in known:
                raise ProblemError(unknown_column(where, name, known, role="column to measure"))
        wanted = known if columns is None else columns
        super().__init__(name for name in wanted if name not in unwanted)
        self.where = where

    def read(self, name: str) -> Array:
        """Return one column, for instance the target, without counting it as measured."""
        return self._read([name])[0]

    @abstractmethod
    def _read(self, names: list[str]) -> list[Array]:
        """Return the raw columns of these names."""

    def _measure_many(self, features: list[int]) -> Iterable[Any]:
        names = [self.feature_names[j] for j in features]
        for name, raw in zip(names, self._read(names), strict=True):
            yield convert(raw, name=name, where=self.where).values


class ParquetMeasurer(ColumnMeasurer):
    """Columns of a parquet file.

    Parameters
    ----------
    path : str or Path
        The file.
    columns : sequence of str, default=None
        The features; None takes all columns.
    drop : sequence of str, default=()
        Columns that are no features, such as the target.
    """

    def __init__(
        self, path: str | Path, columns: Sequence[str] | None = None, drop: Iterable[str] = ()
    ) -> None:
        self.path = Path(path)
        refuse_empty(self.path, shown(self.path))
        self._names = parquet_names(self.path, shown(self.path))
        super().__init__(shown(self.path), self._names, columns, drop)

    def _read(self, names: list[str]) -> list[Array]:
        for name in names:
            if name not in self._names:
                raise ProblemError(unknown_column(self.where, name, self._names))
        positions = [self._names.index(name) for name in names]
        return list(read_columns(self.path, self.where, self._names, positions)[1])


class DuckDBMeasurer(ColumnMeasurer):
    """Columns of a table, or view, in a DuckDB file, which is opened for reading only.

    Parameters
    ----------
    path : str or Path
        The file.
    table : str
        The name of the table.
    columns : sequence of str, default=None
        The features; None takes all columns.
    drop : sequence of str, default=()
        Columns that are no features, such as the target.
    """

    def __init__(
        self,
        path: str | Path,
        table: str,
        columns: Sequence[str] | None = None,
        drop: Iterable[str] = (),
    ) -> None:
        self.path, self.table = Path(path), table
        where = f"{shown(self.path)}, table '{table}'"
        with open_or_say(self.path, shown(self.path)):
            pass
        with closing(self._connect()) as connection:
            tables = [row[0] for row in connection.execute(TABLES).fetchall()]
            if table not in tables:
                raise ProblemError(
                    f"{shown(self.path)}: there is no table '{table}'; it has "
                    f"{listing(tables) if tables else 'no tables at all'}."
                )
            known = [row[0] for row in connection.execute(COLUMNS, [table]).fetchall()]
        super().__init__(where, known, columns, drop)
        self._known = known

    def _connect(self) -> duckdb.DuckDBPyConnection:
        try:
            return duckdb.connect(
                str(self.path), read_only=True, config={"enable_external_access": "false"}
            )
        except duckdb.Error as error:
            raise unreadable(shown(self.path), str(error)) from None

    def _read(self, names: list[str]) -> list[Array]:
        for name in names:
            if name not in self._known:
                raise ProblemError(unknown_column(self.where, name, self._known))
        with closing(self._connect()) as connection:
            try:
                return fetch(connection, [_quoted(name) for name in names], _quoted(self.table))
            except duckdb.Error as error:
                raise unreadable(self.where, str(error)) from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def as_measurer(source: Any, feature_names: Sequence[str] | None = None) -> Measurer:
    """Return a measurer as it is, else one of a table, a callable or the path of a parquet file.

    Of a file, the names are those of the columns that are features.

    Examples
    --------
    >>> as_measurer([[1, 2, 3], [4, 5, 6]]).n_features
    3
    """
    if isinstance(source, Measurer):
        if feature_names is not None and tuple(map(str, feature_names)) != source.feature_names:
            raise UsageError("the measurer has names of its own: give feature_names to it instead.")
        return source
    if isinstance(source, str | Path):
        return ParquetMeasurer(source, feature_names)
    if callable(source):
        return CallableMeasurer(source, feature_names=feature_names)
    return TableMeasurer(source, feature_names)
