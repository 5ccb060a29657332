"""One read-only query from a person, unable to touch any other file.

The query gets an engine of its own, with the MetaDB attached for reading, access to all other
files switched off and the settings locked. One statement is let through, and only if it is a
``select`` or an ``explain``: ``set variable`` is not stopped by locked settings, and a variable
would answer for a parameter somebody forgot. DuckDB does not hear Ctrl-C while it is busy, so it
works in a thread, and who waits for it interrupts it.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from metafs_metadb.connect import Engine, plain, reading
from metafs_metadb.errors import QueryRefused
from metafs_metadb.migrate import require_current

ALLOWED = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)

LOCK_DOWN = ("set enable_external_access = false", "set lock_configuration = true")

# Answers up to this many rows are fetched at once, so that somebody reading them in a pager does
# not lock out a writer; a longer one holds the file until it has been read.
FETCH_ROWS = 10_000

Rows = Iterator[tuple[Any, ...]]
T = TypeVar("T")


def ask(
    path: Path, wait_s: float, query: str, params: Mapping[str, object]
) -> tuple[tuple[str, ...], Rows]:
    """Return the column names and the rows of one query."""
    with ExitStack() as stack:
        engine = Engine()
        stack.callback(engine.con.close)
        con = stack.enter_context(reading(path, wait_s, engine))
        require_current(con, path)
        for setting in LOCK_DOWN:
            con.execute(setting)
        try:
            statement = _only_statement(con, query)
            _require_params(statement.named_parameters, params)
            _interruptibly(con, lambda: con.execute(statement, dict(params) or None))
            columns = tuple(column[0] for column in con.description or ())
            first = _fetch(con)
        except duckdb.Error as error:
            raise _refusal(error) from error
        if len(first) < FETCH_ROWS:
            return columns, iter(first)
        return columns, _stream(con, first, stack.pop_all())


def _only_statement(con: duckdb.DuckDBPyConnection, query: str) -> duckdb.Statement:
    statements = con.extract_statements(query)
    if len(statements) != 1:
        raise QueryRefused(f"give exactly one SQL statement, not {len(statements)}")
    (statement,) = statements
    if statement.type not in ALLOWED:
        raise QueryRefused(
            f"refused a statement of type {statement.type.name}: the MetaDB answers only "
            "`select` and `explain`"
        )
    return statement


def _require_params(wanted: set[str], given: Mapping[str, object]) -> None:
    if missing := sorted(wanted - set(given)):
        raise QueryRefused(
            f"the query needs a value for ${', $'.join(missing)}: give -p {missing[0]}=VALUE"
        )
    if unknown := sorted(set(given) - wanted):
        raise QueryRefused(f"the query has no parameter ${', $'.join(unknown)}")


def _stream(con: duckdb.DuckDBPyConnection, rows: list[Any], stack: ExitStack) -> Rows:
    with stack:
        while rows:
            yield from rows
            try:
                rows = _fetch(con)
            except duckdb.Error as error:
                raise _refusal(error) from error


def _fetch(con: duckdb.DuckDBPyConnection) -> list[Any]:
    return _interruptibly(con, lambda: con.fetchmany(FETCH_ROWS))


def _interruptibly(con: duckdb.DuckDBPyConnection, work: Callable[[], T]) -> T:
    with ThreadPoolExecutor(max_workers=1) as worker:
        future = worker.submit(work)
        try:
            return future.result()
        except KeyboardInterrupt:
            while not future.done():  # a query that was only about to start forgets the first one
                con.interrupt()
                wait([future], timeout=0.05)
            raise


def _refusal(error: duckdb.Error) -> QueryRefused:
    if "'pytz'" in str(error):
        return QueryRefused(
            "the query failed: a timestamp with time zone cannot be shown, "
            "cast it as in `now()::timestamp`"
        )
    return QueryRefused(f"the query failed: {plain(error)}")
