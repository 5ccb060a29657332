"""Tables: csv, tsv, parquet and JSON, which DuckDB reads, and ARFF; the target is a column."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from metafs.data.matrix import matrix_of_columns
from metafs.data.notes import ROW_NUMBERS, Notes
from metafs.data.problem import Problem
from metafs.data.readers import arff, delimited, duck
from metafs.data.readers.encodings import read_as_utf8
from metafs.data.readers.files import kind_of, refuse_empty, shown
from metafs.data.readers.source import ReadOptions, feature_positions, row_numbers
from metafs.data.typing import Array, Matrix


def column_names(path: Path, where: str) -> tuple[str, ...]:
    """Return the true names of a table's columns, in the order of the file."""
    refuse_empty(path, where)
    match kind_of(path):
        case "csv" | "tsv":
            return delimited.read_header(path, where).names
        case "arff":
            return arff.column_names(path, where)
        case "parquet":
            return duck.parquet_names(path, where)
        case _:
            return duck.json_names(path, where)


def read_columns(
    path: Path, where: str, names: Sequence[str], positions: Sequence[int]
) -> tuple[int, Iterator[tuple[str, Array]]]:
    """Return the number of rows, and name and raw values of the columns at these positions.

    The first of them, a target or a key, may be text without slowing down the others.
    """
    columns: Iterator[Array]
    match kind_of(path):
        case "csv" | "tsv":
            n_rows, columns = delimited.read_columns(path, where, positions)
        case "arff":
            table = arff.read_table(path, where)
            n_rows, columns = len(table.rows), map(table.column, positions)
        case _:
            n_rows, columns = duck.read_columns(path, where, names, positions)
    return n_rows, ((names[j], raw) for j, raw in zip(positions, columns, strict=True))


def read_problem(path: Path, name: str, target: str, options: ReadOptions) -> Problem:
    """Read a table and make one of its columns the target."""
    where, notes = shown(path), Notes()

    def read(path: Path) -> Problem:
        names = column_names(path, where)
        if target not in names and kind_of(path) in ("csv", "tsv"):
            delimited.refuse_headless(names, where)
        features = feature_positions(names, target=target, options=options, where=where)
        for j in row_numbers(names, features, options.keep):
            notes.add(ROW_NUMBERS, names[j])
            features.remove(j)
        columns = {field: names.index(column) for field, column in options.of_rows.items()}
        first = [names.index(target), *columns.values()]
        raw, X, categories = _read_matrix(path, where, names, first, features, notes)
        of_rows = {
            field: (names[j], values)
            for (field, j), values in zip(columns.items(), raw[1:], strict=True)
        }
        return Problem.of_matrix(
            X,
            raw[0],
            [names[j] for j in features],
            categories=categories,
            name=name,
            space=options.space or "default",
            source=where,
            target=target,
            task=options.task,
            of_rows=of_rows,
            notes=notes,
            leave_out="constant",
            keep=options.keep,
        )

    return read_as_utf8(path, where, read, notes)


def _read_matrix(
    path: Path,
    where: str,
    names: Sequence[str],
    first: Sequence[int],
    features: Sequence[int],
    notes: Notes,
) -> tuple[list[Array], Matrix, dict[int, tuple[str, ...]]]:
    """Return the raw values of the target and others, and the features as a matrix."""
    columns: Iterator[tuple[str, Array]]
    if kind_of(path) == "arff":
        table = arff.read_table(path, where)
        csr = table.csr(features)
        if csr is not None:
            return [table.column(j) for j in first], csr, {}
        n_rows = len(table.rows)
        columns = ((names[j], table.column(j)) for j in (*first, *features))
    else:
        n_rows, columns = read_columns(path, where, names, [*first, *features])
    raw = [next(columns)[1] for _ in first]
    X, categories = matrix_of_columns(columns, len(features), n_rows, where, notes)
    return raw, X, categories
