"""One query from a person, which can neither change anything nor keep anybody waiting.

DuckDB's own parsing decides what may run (`statement`). It runs on a private copy of the memory, in
an engine of its own whose access to all other files is switched off and whose settings are locked:
no path that it can reach is one of the database's own, and writers go on while it runs. Time and
memory are limited, and it writes no temporary files. DuckDB does not hear Ctrl-C while it is busy,
so it works in a thread, and who waits for it interrupts it.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from metafs_metadb.errors import QueryRefused
from metafs_metadb.files.connect import Engine, reading
from metafs_metadb.files.file_errors import plain
from metafs_metadb.files.snapshot import snapshot
from metafs_metadb.questions.statement import only_reading

LOCK_DOWN = (
    "set temp_directory = ''",
    "set enable_external_access = false",
    "set lock_configuration = true",
)

FETCH_ROWS = 10_000

Rows = Iterator[tuple[Any, ...]]
T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """What a query may take."""

    seconds: float = 30.0
    memory_gb: float = 1.0


def ask(
    path: Path, wait_s: float, query: str, params: Mapping[str, object], limits: Limits
) -> tuple[tuple[str, ...], Rows]:
    """Return the column names and the rows of one query."""
    with ExitStack() as stack:
        engine = Engine()
        stack.callback(engine.con.close)
        statement = _accepted(engine.con.cursor(), query, params)
        copy = stack.enter_context(snapshot(path, wait_s))
        con = stack.enter_context(reading(copy, wait_s, engine))
        con.execute(f"set memory_limit = '{round(limits.memory_gb * 1e6)}KB'")
        for setting in LOCK_DOWN:
            con.execute(setting)
        running = _Running(con, limits)
        running.wait_for(lambda: con.execute(statement, dict(params) or None))
        columns = tuple(column[0] for column in con.description or ())
        first = running.fetch()
        if len(first) < FETCH_ROWS:
            return columns, iter(first)
        return columns, _stream(running, first, stack.pop_all())


def _accepted(
    con: duckdb.DuckDBPyConnection, query: str, params: Mapping[str, object]
) -> duckdb.Statement:
    """Return the statement if it only reads and has a value for each parameter."""
    try:
        statement = only_reading(con, query)
    except duckdb.Error as error:
        raise QueryRefused(f"the query failed: {plain(error)}") from error
    wanted = statement.named_parameters
    if missing := sorted(wanted - set(params)):
        raise QueryRefused(
            f"the query needs a value for ${', $'.join(missing)}: give -p {missing[0]}=VALUE"
        )
    if unknown := sorted(set(params) - wanted):
        raise QueryRefused(f"the query has no parameter ${', $'.join(unknown)}")
    return statement


def _stream(running: "_Running", rows: list[Any], stack: ExitStack) -> Rows:
    with stack:
        while rows:
            yield from rows
            rows = running.fetch()


class _Running:
    """A query at work: only the seconds in which its rows are waited for count."""

    def __init__(self, con: duckdb.DuckDBPyConnection, limits: Limits) -> None:
        self._con = con
        self._limits = limits
        self._left = limits.seconds

    def fetch(self) -> list[Any]:
        """Return the next rows, none at the end."""
        return self.wait_for(lambda: self._con.fetchmany(FETCH_ROWS))

    def wait_for(self, work: Callable[[], T]) -> T:
        """Return what some work returns, unless it takes too long or is interrupted."""
        begun = time.monotonic()
        with ThreadPoolExecutor(max_workers=1) as worker:
            future = worker.submit(work)
            try:
                return future.result(timeout=max(0.0, self._left))
            except TimeoutError as error:
                self._stop(future)
                raise QueryRefused(
                    f"the query took longer than {self._limits.seconds:g} seconds: "
                    "ask for less, or give more --seconds"
                ) from error
            except duckdb.OutOfMemoryException as error:
                raise QueryRefused(
                    f"the query needs more than {self._limits.memory_gb:g} GB of memory: "
                    "ask for less, or give more --memory"
                ) from error
            except duckdb.Error as error:
                raise _refusal(error) from error
            except KeyboardInterrupt:
                self._stop(future)
                raise
            finally:
                self._left -= time.monotonic() - begun

    def _stop(self, future: "Future[T]") -> None:
        while not future.done():  # a query that was only about to start forgets the first one
            self._con.interrupt()
            wait([future], timeout=0.05)


def _refusal(error: duckdb.Error) -> QueryRefused:
    if "'pytz'" in str(error):
        return QueryRefused(
            "the query failed: a timestamp with time zone cannot be shown, "
            "cast it as in `now()::timestamp`"
        )
    return QueryRefused(f"the query failed: {plain(error)}")
