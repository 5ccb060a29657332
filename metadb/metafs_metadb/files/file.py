"""The file of a MetaDB: visits that check its schema, and questions that are one query."""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any

import duckdb

from metafs_metadb.errors import MetaDBError, MetaDBLocked
from metafs_metadb.files import check, connect, file_errors, log, migrate, schema
from metafs_metadb.rows import Table
from metafs_metadb.search.index_cache import IndexCache

WAIT_VARIABLE = "METAFS_LOCK_WAIT_S"


class Visit(threading.local):
    """The visit a thread is in, and what ends it."""

    con: duckdb.DuckDBPyConnection | None = None
    closing: ExitStack


class MetaFile:
    """A DuckDB file at `path` that is opened for each call or `visit`, and its index cache."""

    def __init__(self, path: str | PathLike[str], wait_s: float | None = None) -> None:
        self.path = Path(path)
        self.wait_s = float(os.environ.get(WAIT_VARIABLE, 10.0)) if wait_s is None else wait_s
        self._index_cache = IndexCache(self.path)
        self._visit = Visit()

    def __reduce__(self) -> tuple[Any, ...]:
        """Take path and patience to another process, and nothing that is in memory."""
        return type(self), (self.path, self.wait_s)

    def exists(self) -> bool:
        """Tell whether there is a file that is not empty, whatever it holds."""
        return connect.is_there(self.path)

    def ensure(self) -> None:
        """Create the file if there is none; refuse one that cannot be written to or is damaged."""
        with self.writing() as con:
            self._require_whole(con)

    def migrate(self) -> list[str]:
        """Bring an older file to the schema of this metafs; return what was applied."""
        self._require_file()
        with connect.writing(self.path, self.wait_s) as con:
            applied = migrate.apply_pending(con, self.path)
            self._require_whole(con)
            return applied

    def fold(self) -> bool:
        """Fold the log into the file, so that the file alone is the whole memory.

        Tell whether it is, afterwards: the log stays while another process uses the file, or if the
        disk has no room for a second copy.
        """
        self._require_file()
        real = log.real(self.path)
        if log.log_of(real).exists():
            with suppress(MetaDBLocked), self.writing() as con:
                log.fold(con, real)
        return not log.log_of(real).exists()

    def check(self) -> list[str]:
        """Return one sentence for each thing that is wrong with the file."""
        with self.reading() as con:
            return check.findings(con)

    def _require_file(self) -> None:
        if not self.exists():
            raise file_errors.missing(self.path)

    def _require_whole(self, con: duckdb.DuckDBPyConnection) -> None:
        if lacking := schema.missing(con):
            raise MetaDBError(
                f"the MetaDB {self.path} is damaged: {lacking[0]} is missing, {migrate.RESTORE}"
            )

    @contextmanager
    def visit(self) -> Iterator[None]:
        """Read all that this block asks for from one open file; no process can write meanwhile.

        What takes long, so that others should be let in, ends the visit; later questions open the
        file again.
        """
        with ExitStack() as closing:
            self._visit.con = closing.enter_context(self.reading())
            self._visit.closing = closing
            try:
                yield
            finally:
                self._visit.con = None

    def end_visit(self) -> None:
        """Close the file, if a visit keeps it open, so that others can write."""
        if self._visit.con is not None:
            self._visit.con = None
            self._visit.closing.close()

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the file for reading, if its schema is the one we know; within a visit it is."""
        if self._visit.con is not None:
            with file_errors.in_sentences(self.path):
                yield self._visit.con
            return
        with connect.reading(self.path, self.wait_s) as con:
            if not self._index_cache.is_as_seen():
                migrate.require_current(con, self.path)
            yield con

    @contextmanager
    def writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the file for writing, creating it if there is none."""
        if not self.exists():
            migrate.create(self.path, self.wait_s)
        with connect.writing(self.path, self.wait_s) as con:
            if not self._index_cache.is_as_seen() and migrate.pending(con, self.path):
                migrate.start_or_refuse(con, self.path)
            yield con

    def _table(self, query: str, values: Mapping[str, object]) -> Table:
        with self.reading() as con:
            found = con.execute(query, dict(values))
            columns = tuple(column[0] for column in found.description or ())
            return Table(columns, found.fetchall())
