"""ARFF tables: numeric, nominal, string and date attributes, `?` for missing, sparse rows.

A sparse row lists only `index value` pairs; what it leaves out is zero, or the first value of a
nominal attribute. A file of sparse rows with numeric features becomes a CSR matrix.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from scipy.sparse import csr_array

from metafs.data.checks import counted, dropping
from metafs.data.columns import MISSING, text_number
from metafs.data.readers.files import open_text
from metafs.data.typing import Array
from metafs.errors import ProblemError

_ATTRIBUTE = re.compile(
    r"""@attribute\s+('(?:\\.|[^'])*'|"(?:\\.|[^"])*"|\S+)\s*(.+)""", re.I | re.S
)
_PAIR = re.compile(r"""\s*(\d+)\s+('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^,]+)\s*(?:,|$)""")
_NUMERIC = ("numeric", "real", "integer")
_OTHER = ("string", "date")


@dataclass(frozen=True)
class Attribute:
    """A declared column; `default` is what a sparse row means by leaving it out."""

    name: str
    numeric: bool
    default: str = "0"


Row = list[str] | dict[int, str]


@dataclass(frozen=True, eq=False)
class Table:
    """The attributes and the rows of a file, values still as text."""

    attributes: Sequence[Attribute]
    rows: Sequence[Row]
    where: str

    def column(self, j: int) -> Array:
        """Return the raw values of one attribute: numbers where it is declared numeric."""
        attribute = self.attributes[j]
        default = attribute.default
        values = [row.get(j, default) if isinstance(row, dict) else row[j] for row in self.rows]
        if not attribute.numeric:
            return np.array(values, dtype=object)
        numbers = [np.nan if value in MISSING else text_number(value) for value in values]
        if None in numbers:  # the rule for columns decides what it means
            return np.array(values, dtype=object)
        return np.array(numbers, dtype=np.float64)

    def csr(self, positions: Sequence[int]) -> csr_array | None:
        """Return these attributes as CSR if the file has sparse rows and they are all numeric."""
        if not any(isinstance(row, dict) for row in self.rows):
            return None
        if not all(self.attributes[j].numeric for j in positions):
            return None
        place = {j: k for k, j in enumerate(positions)}
        data, indices, indptr = [], [], [0]
        for number, row in enumerate(self.rows, start=1):
            for j, value in sorted(row.items()) if isinstance(row, dict) else enumerate(row):
                if j in place:
                    data.append(self._number(value, j, number))
                    indices.append(place[j])
            indptr.append(len(data))
        shape = (len(self.rows), len(positions))
        return csr_array((np.array(data, dtype=np.float64), indices, indptr), shape=shape)

    def _number(self, value: str, j: int, row: int) -> float:
        if value in MISSING:
            return np.nan
        number = text_number(value)
        if number is None:
            name = self.attributes[j].name
            raise ProblemError(
                f"{self.where}: text in a numeric column: '{name}' holds text in row {row}; fix "
                f"the value or leave the column out with {dropping(name)}."
            )
        return number


def column_names(path: Path, where: str) -> tuple[str, ...]:
    """Return the names of the attributes, in the order of the file."""
    with open_text(path, where) as file:
        return tuple(attribute.name for attribute in _read_header(file, where))


def read_table(path: Path, where: str) -> Table:
    """Read a whole file."""
    with open_text(path, where) as file:
        attributes = _read_header(file, where)
        rows: list[Row] = []
        for line in file:
            line = line.strip()
            if line and not line.startswith("%"):
                rows.append(_row(line, len(attributes), len(rows) + 1, where))
    return Table(attributes, rows, where)


def _read_header(file: IO[str], where: str) -> list[Attribute]:
    attributes: list[Attribute] = []
    for number, line in enumerate(file, start=1):
        line = line.strip()
        keyword = line.split(None, 1)[0].lower() if line else "%"
        if keyword.startswith("%") or keyword == "@relation":
            continue
        if keyword == "@data":
            break
        declared = _ATTRIBUTE.fullmatch(line)
        if declared is None:
            raise ProblemError(
                f"{where}: line {number} is no ARFF declaration, and no @data came before it; fix "
                "the line."
            )
        attributes.append(_attribute(_unquoted(declared[1]), declared[2].strip(), where))
    else:
        raise ProblemError(f"{where}: has no @data section; write the file again.")
    if not attributes:
        raise ProblemError(f"{where}: declares no columns; write a line @attribute for each.")
    return attributes


def _attribute(name: str, kind: str, where: str) -> Attribute:
    if kind.startswith("{"):
        values = _split(kind.strip("{} \t"))
        return Attribute(name, numeric=False, default=values[0])
    word = kind.split(None, 1)[0].lower()
    if word not in (*_NUMERIC, *_OTHER):
        raise ProblemError(
            f"{where}: attribute '{name}' is of the kind '{kind}', which is not understood; use "
            "numeric, string, date or {values}."
        )
    return Attribute(name, numeric=word in _NUMERIC)


def _row(line: str, n_attributes: int, number: int, where: str) -> Row:
    if line.startswith("{") and line.endswith("}"):
        return _sparse_row(line[1:-1].strip(), n_attributes, number, where)
    values = _split(line)
    if len(values) != n_attributes:
        raise ProblemError(
            f"{where}: row {number} has {counted(len(values), 'value')} for "
            f"{counted(n_attributes, 'attribute')}; fix the row."
        )
    return values


def _sparse_row(pairs: str, n_attributes: int, number: int, where: str) -> dict[int, str]:
    row: dict[int, str] = {}
    start = 0
    while start < len(pairs):
        pair = _PAIR.match(pairs, start)
        if pair is None or int(pair[1]) >= n_attributes:
            raise ProblemError(
                f"{where}: row {number} has something else where an attribute from 0 to "
                f"{n_attributes - 1} and its value should be; fix the row."
            )
        row[int(pair[1])] = _unquoted(pair[2].strip())
        start = pair.end()
    return row


def _split(line: str) -> list[str]:
    if "'" not in line and '"' not in line:
        return [value.strip() for value in line.split(",")]
    quote = min("'\"", key=lambda mark: line.find(mark) % (len(line) + 1))
    fields = csv.reader([line], quotechar=quote, escapechar="\\", skipinitialspace=True)
    return [_unquoted(value.strip()) for value in next(fields)]


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
