"""DuckDB as a reader of files: parquet and JSON, whose types it knows, and errors as sentences.

DuckDB compares column names without regard to case and renames those that repeat, so columns
are read by position, under generated names, and the true names are taken from the file itself.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from metafs.data.checks import counted
from metafs.data.columns import nested
from metafs.data.readers.files import kind_of, not_utf8, unreadable
from metafs.data.typing import Array
from metafs.errors import ProblemError

PARQUET_SCAN = "read_parquet(?, binary_as_string=true)"
JSON_SCAN = (
    "read_json(?, records=true, sample_size=-1, map_inference_threshold=-1, "
    "field_appearance_threshold=0)"
)
KEYS_IN_ORDER = """
    with record as (
        select row_number() over () as number, json_keys(json) as keys
        from read_json_objects(?, format='auto')
    ), occurrence as (
        select number, unnest(keys) as key, unnest(range(len(keys))) as place from record
    )
    select key from occurrence group by key order by min((number, place))
"""
_BLOCK = 2000  # columns asked for at a time, so that not all wait in memory side by side
_NESTED = ("STRUCT", "MAP", "UNION", "VARIANT", "BLOB", "BIT", "GEOMETRY")
_TEXT = ("VARCHAR", "ENUM", "UUID", "TIME", "TIME WITH TIME ZONE")


@contextmanager
def connect(
    path: Path, where: str, opened: duckdb.DuckDBPyConnection | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Lend a connection of its own for reading a file; what DuckDB refuses becomes a sentence."""
    try:
        yield opened or duckdb.connect(config={"autoinstall_known_extensions": "false"})
    except duckdb.Error as error:
        raise explain(path, where, str(error)) from None


def literal_path(path: Path) -> str:
    """Return the path so that DuckDB takes it as it is, not as a pattern or an address.

    >>> literal_path(Path("/data/a[1]*.csv"))
    '/data/a[[]1][*].csv'
    """
    return re.sub(r"([\[*?])", r"[\1]", str(path.absolute()))


def fetch(
    connection: duckdb.DuckDBPyConnection,
    expressions: Sequence[str],
    relation: str,
    parameters: Sequence[str] = (),
) -> list[Array]:
    """Return one array, masked where there are nulls, for each SQL expression."""
    selected = ", ".join(f"{expression} as v{j}" for j, expression in enumerate(expressions))
    arrays = connection.execute(f"select {selected} from {relation}", parameters).fetchnumpy()
    return [arrays[f"v{j}"] for j in range(len(expressions))]


def parquet_names(path: Path, where: str) -> tuple[str, ...]:
    """Return the names of the top-level columns of a parquet file."""
    with connect(path, where) as connection:
        schema = connection.execute(
            "select name, coalesce(num_children, 0) from parquet_schema(?)", [literal_path(path)]
        ).fetchall()
    names = []
    below = 0  # elements of the last top-level column that are still to come
    for name, n_children in schema[1:]:
        if below == 0:
            names.append(name)
            below = 1
        below += n_children - 1
    return tuple(names)


def json_names(path: Path, where: str) -> tuple[str, ...]:
    """Return the keys of JSON records in the order in which they first occur."""
    parameters = [literal_path(path)]
    with connect(path, where) as connection:
        described = connection.execute(f"describe select * from {JSON_SCAN}", parameters).fetchall()
        names = tuple(row[0] for row in described)
        lower = {name.lower() for name in names}
        if not any(re.sub(r"_\d+$", "", name.lower()) in lower - {name.lower()} for name in names):
            return names
        # Some name may be DuckDB's own, for a key that differs from another only in its case.
        keys = connection.execute(KEYS_IN_ORDER, parameters).fetchall()
    true_names = tuple(row[0] for row in keys)
    return true_names if len(true_names) == len(names) else names


def read_columns(
    path: Path, where: str, names: Sequence[str], positions: Sequence[int]
) -> tuple[int, Iterator[Array]]:
    """Return the number of rows and the raw columns of a parquet or JSON file."""
    is_parquet = kind_of(path) == "parquet"
    with connect(path, where) as connection:
        scan = PARQUET_SCAN if is_parquet else JSON_SCAN
        generated = ", ".join(f"c{j}" for j in range(len(names)))
        relation = f"{scan} as t({generated})"
        parameters = [literal_path(path)]
        if not is_parquet:  # parse the text only once
            connection.execute(f"create temp table t as select * from {relation}", parameters)
            relation, parameters = "t", []
        described = connection.execute(f"describe select * from {relation}", parameters).fetchall()
        expressions = [_expression(j, described[j][1], names[j], where) for j in positions]
        counted = connection.execute(f"select count(*) from {relation}", parameters).fetchone()
    n_rows = counted[0] if counted else 0
    return n_rows, _in_blocks(path, where, connection, relation, parameters, expressions)


def _in_blocks(
    path: Path,
    where: str,
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    parameters: list[str],
    expressions: Sequence[str],
) -> Iterator[Array]:
    for first in range(0, len(expressions), _BLOCK):
        block = expressions[first : first + _BLOCK]
        with connect(path, where, connection):
            arrays = fetch(connection, block, relation, parameters)
        yield from arrays


def _expression(j: int, type_name: str, name: str, where: str) -> str:
    """Return SQL for a column as double precision where it is a number in any sense, else text."""
    column, base = f"c{j}", type_name.upper().split("(")[0]
    if type_name.endswith("]") or base in _NESTED:
        raise nested(name, where)
    if base == "JSON":
        return f"({column} ->> '$')"
    if base in _TEXT:
        return f"{column}::varchar"
    if base == "TIMESTAMP WITH TIME ZONE":
        return f"epoch_us({column}) / 1e6"
    if base == "DATE" or base.startswith("TIMESTAMP"):
        return f"epoch_us({column}::timestamp) / 1e6"
    if base == "INTERVAL":
        return f"epoch({column})"
    return f"{column}::double"


def explain(path: Path, where: str, message: str) -> ProblemError:
    """Turn an error of DuckDB into a sentence about the file."""
    kind = kind_of(path)
    if kind == "parquet":
        return ProblemError(
            f"{where}: is not a whole parquet file (perhaps cut short); copy or write it again."
        )
    if error := not_utf8(path, where):
        return error
    line = re.search(r"[Ll]ine:? (\d+)", message)
    place = f"line {line[1]}" if line else "a line"
    if columns := re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message):
        return ProblemError(
            f"{where}: {place} has {counted(int(columns[2]), 'value')} where the header has "
            f"{counted(int(columns[1]), 'column')}; fix the line."
        )
    if "quote" in message.lower() and kind in ("csv", "tsv"):
        return ProblemError(f"{where}: {place} has a quote that is never closed; fix the line.")
    if duplicate := re.search(r'has duplicate key "(.*)"', message):
        return ProblemError(
            f"{where}: duplicate column name: '{duplicate[1]}' occurs twice in {place}; "
            "rename one of them."
        )
    if "expected records" in message:
        return ProblemError(f"{where}: holds no JSON objects; write one object a row.")
    if "Malformed JSON" in message:
        return ProblemError(f"{where}: {place} is not valid JSON; write one object a line.")
    return unreadable(where, message)
