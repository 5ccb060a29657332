"""Tables that are written: csv or parquet by the suffix, put in place when they are whole."""

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import duckdb

from metafs.data.checks import well_formed
from metafs.data.typing import Array
from metafs.errors import UsageError

SUFFIXES = (".csv", ".parquet")


def check_output(path: Path) -> None:
    """Refuse a file that cannot be written, before any work is done for it."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"{well_formed(str(path))}: tables are written as {' or '.join(SUFFIXES)}, by the "
            "suffix; give such a name."
        )
    if not path.parent.is_dir():
        raise UsageError(
            f"there is no folder '{well_formed(str(path.parent))}' to write into; make it first."
        )


def is_parquet(path: Path) -> bool:
    """Tell whether a file of this name is written as parquet."""
    return path.suffix.lower() == ".parquet"


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Lend another name in the same folder; what was written there takes the place of the file."""
    with NamedTemporaryFile(dir=path.parent, prefix=".writing-", suffix=path.suffix) as reserved:
        draft = Path(f"{reserved.name}.part{path.suffix}")
    try:
        yield draft
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def write_csv(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a csv file."""
    with whole(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(chain([names], rows))


def write_parquet(path: Path, columns: Mapping[str, Array]) -> None:
    """Write a parquet file of arrays."""
    with duckdb.connect() as con:
        con.register("arrays", {f"c{j}": values for j, values in enumerate(columns.values())})
        copy_parquet(con, "arrays", list(columns), path)


def copy_parquet(
    con: duckdb.DuckDBPyConnection, relation: str, names: Sequence[str], path: Path
) -> None:
    """Write the columns c0, c1, ... of a relation under other names."""
    named = ", ".join(f"c{j} as {quoted(name)}" for j, name in enumerate(names))
    with whole(path) as draft:
        con.sql(f"select {named} from {relation}").write_parquet(str(draft))


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'
