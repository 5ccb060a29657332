"""Delimited text with thousands of columns, read row by row.

DuckDB plans a query of 25,000 columns for a quarter of a minute, and reads no line beyond two
megabytes. Here every row is converted as it comes; columns in which some value is no number are
taken in as text by a second pass.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from metafs.data.checks import counted
from metafs.data.columns import MISSING, text_number
from metafs.data.limits import check_table_bytes
from metafs.data.readers.files import open_text, unreadable
from metafs.data.typing import Array
from metafs.errors import ProblemError

_MISSING = frozenset(MISSING)


def read_columns(
    path: Path, where: str, n_columns: int, delimiter: str, positions: Sequence[int]
) -> tuple[int, Iterator[Array]]:
    """Return the number of rows and the raw values of the columns at these positions."""
    text: set[int] = set()
    numbers = []
    for row in _rows(path, where, n_columns, delimiter):
        numbers.append(_numbers(row, text)[positions])
        check_table_bytes(8 * len(numbers) * len(positions), "its rows", where, at_least=True)
    texts: dict[int, list[str | None]] = {j: [] for j in text.intersection(positions)}
    if texts:
        for row in _rows(path, where, n_columns, delimiter):
            for j, values in texts.items():
                values.append(None if row[j] in _MISSING else row[j])
    matrix = np.array(numbers).reshape(len(numbers), len(positions))
    return len(numbers), (
        np.array(texts[j], dtype=object) if j in texts else matrix[:, place]
        for place, j in enumerate(positions)
    )


def _numbers(row: Sequence[str], text: set[int]) -> Array:
    """Return a row as numbers, and add the columns in which it holds none to `text`."""
    values = ["nan" if value in _MISSING else value for value in row]
    for j in text:
        values[j] = "nan"
    try:
        return np.array(values, dtype=np.float64)
    except ValueError:
        text.update(j for j, value in enumerate(values) if text_number(value) is None)
        return _numbers(row, text)


def _rows(path: Path, where: str, n_columns: int, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows after the header, empty lines left out."""
    with open_text(path, where) as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        try:
            next(reader)
            for row in reader:
                if len(row) == n_columns:
                    yield row
                elif row:
                    raise ProblemError(
                        f"{where}: line {reader.line_num} has {counted(len(row), 'value')} where "
                        f"the header has {counted(n_columns, 'column')}; fix the line."
                    )
        except csv.Error as error:
            raise unreadable(where, f"line {reader.line_num}: {error}") from None
