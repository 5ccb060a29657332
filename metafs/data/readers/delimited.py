"""Delimited text: csv with comma, semicolon, tab or bar, and tsv.

The header line decides the delimiter and gives the true names. Columns whose first rows are
numbers are then read as numbers; only if that fails further down is the whole table taken in
as text and the type of each column decided separately.
"""

import csv
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import duckdb

from metafs.data.columns import MISSING, text_number
from metafs.data.readers import duck, wide
from metafs.data.readers.files import kind_of, open_text, unreadable
from metafs.data.typing import Array
from metafs.errors import ProblemError

DELIMITERS = (",", "\t", ";", "|")
_BLOCK = 256  # columns asked for at a time: DuckDB plans a query of thousands slowly
_WIDE = 10000
_GLANCE = 100  # rows that tell which columns are text
_NULLS = "[" + ", ".join(f"'{marker}'" for marker in MISSING) + "]"


@dataclass(frozen=True)
class Header:
    """The names in the first line, and the delimiter between them."""

    names: tuple[str, ...]
    delimiter: str


def read_header(path: Path, where: str) -> Header:
    """Read the header line; of the delimiters, the one that splits it most is meant."""
    candidates = ("\t",) if kind_of(path) == "tsv" else DELIMITERS
    headers, why = [], ""
    for delimiter in candidates:
        with open_text(path, where) as file:
            try:
                names = next(csv.reader(file, delimiter=delimiter), [])
            except csv.Error as error:  # a long line that this delimiter leaves in one piece
                why = str(error)
                continue
        headers.append(Header(tuple(names), delimiter))
    if not headers:
        raise unreadable(where, f"its first line: {why}")
    header = max(headers, key=lambda header: len(header.names))
    if any("\0" in name for name in header.names):
        raise ProblemError(
            f"{where}: the first line has NUL characters, as a binary or UTF-16 file would; save "
            "it as UTF-8 text."
        )
    if not any(name.strip() for name in header.names):
        raise ProblemError(f"{where}: the first line names no columns; begin with a header line.")
    return header


def refuse_headless(names: Sequence[str], where: str) -> None:
    """Refuse, once a name was not found in it, a first line that holds nothing but numbers."""
    if all(text_number(name) is not None for name in names):
        raise ProblemError(f"{where}: the first line holds only numbers; begin with a header line.")


def read_columns(path: Path, where: str, positions: Sequence[int]) -> tuple[int, Iterator[Array]]:
    """Return the number of rows and the raw values of the columns at these positions."""
    header = read_header(path, where)
    if len(header.names) > _WIDE:
        return wide.read_columns(path, where, len(header.names), header.delimiter, positions)
    parameters = [duck.literal_path(path)]
    wanted = [f"c{j}" for j in positions]
    text = _text_columns(path, where, header) | {positions[0]}
    with duck.connect(path, where) as connection:
        try:
            arrays = duck.fetch(connection, wanted, _scan(header, text), parameters)
            return len(arrays[0]), iter(arrays)
        except duckdb.Error:  # a column is not what it seemed, or else the next statement says so
            scan = _scan(header, range(len(header.names)))
        selected = ", ".join(wanted)
        connection.execute(f"create temp table t as select {selected} from {scan}", parameters)
        counted = connection.execute("select count(*) from t").fetchone()
    return counted[0] if counted else 0, _typed_columns(path, where, connection, wanted)


def _text_columns(path: Path, where: str, header: Header) -> set[int]:
    """Return the columns that hold something other than numbers in the first rows."""
    text: set[int] = set()
    with open_text(path, where) as file:
        try:
            for row in islice(csv.reader(file, delimiter=header.delimiter), 1, 1 + _GLANCE):
                text.update(
                    j
                    for j, value in enumerate(row)
                    if value not in MISSING and text_number(value) is None
                )
        except csv.Error:  # a long text, which DuckDB reads; or it says what is wrong
            return set(range(len(header.names)))
    return text


def _typed_columns(
    path: Path, where: str, connection: duckdb.DuckDBPyConnection, wanted: Sequence[str]
) -> Iterator[Array]:
    """Yield columns of text as numbers where all their values are numbers."""
    for first in range(0, len(wanted), _BLOCK):
        block = wanted[first : first + _BLOCK]
        with duck.connect(path, where, connection):
            checks = ", ".join(f"count({c}) = count(try_cast({c} as double))" for c in block)
            numeric = connection.execute(f"select {checks} from t").fetchone() or ()
            arrays = duck.fetch(
                connection,
                [f"{c}::double" if is_n else c for c, is_n in zip(block, numeric, strict=True)],
                "t",
            )
        yield from arrays


def _scan(header: Header, text: Collection[int]) -> str:
    """Return the SQL that reads the file under generated names, these columns as text."""
    columns = ", ".join(
        f"'c{j}': '{'VARCHAR' if j in text else 'DOUBLE'}'" for j in range(len(header.names))
    )
    return (
        "read_csv(?, auto_detect=false, header=true, skip=0, comment='', quote='\"', escape='\"', "
        f"delim='{header.delimiter}', nullstr={_NULLS}, columns={{{columns}}})"
    )
