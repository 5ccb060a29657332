"""Meta-features of a stream's problems: properties of features, looked up by feature name."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from metafs.data.checks import LARGEST_META_FEATURE, check_names, checked_meta_features, listing
from metafs.data.columns import Column, convert, number_text
from metafs.data.notes import Notes
from metafs.data.problem import Problem
from metafs.data.readers import tables
from metafs.data.readers.encodings import read_as_utf8
from metafs.data.readers.files import TABLES, kind_of, no_file, shown
from metafs.data.typing import Array
from metafs.errors import ProblemError, UsageError


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """Features and their meta-features, as read from a table."""

    features: Sequence[str]
    names: Sequence[str]
    """Of the meta-features."""
    values: Array
    """(n_features, k), NaN where unknown."""
    where: str = "the table"
    """The file, for sentences."""
    notes: tuple[str, ...] = ()
    """What was assumed when it was read."""


MOST_LABELS = 50
"""A property with more different texts than this names features instead of grouping them."""


def attach(problem: Problem, meta_features: FeatureTable | Path | Mapping[str, Any]) -> Problem:
    """Return the problem with the meta-features that a table or mapping gives for its features.

    Of a feature that is not there nothing is known (NaN); if none is, that is a mistake.
    """
    if isinstance(meta_features, Path):
        meta_features = read_feature_table(meta_features)
    if isinstance(meta_features, FeatureTable):
        table, where = meta_features, meta_features.where
    else:
        where = problem.source or problem.name
        table = _from_mapping(meta_features, where)
    row_of = {feature: row for row, feature in enumerate(table.features)}
    if not any(name in row_of for name in problem.feature_names):
        raise ProblemError(
            f"{where}: gives no meta-features for any feature of problem '{problem.name}', such "
            f"as {listing(problem.feature_names[:1])}; write the features' names into its first "
            "column."
        )
    rows = [row_of.get(name, len(row_of)) for name in problem.feature_names]
    values = np.vstack([table.values, np.full(table.values.shape[1], np.nan)])[rows]
    checked, names = checked_meta_features(values, table.names, problem.n_features, where)
    return replace(
        problem,
        meta_features=checked,
        meta_feature_names=tuple(names),
        notes=(*problem.notes, *table.notes),
    )


def read_feature_table(path: Path) -> FeatureTable:
    """Read a table whose first column names features and whose others describe them.

    A column of text becomes one column of 0 and 1 for each of its labels, called name=label.
    """
    where = shown(path)
    if wrong := no_file(path):
        raise UsageError(f"for meta-features, {wrong}")
    notes = Notes()
    table = read_as_utf8(path, where, lambda copy: _from_table(copy, where, notes), notes)
    return replace(table, notes=tuple(f"meta-features: {note}" for note in notes.texts()))


def _from_table(path: Path, where: str, notes: Notes) -> FeatureTable:
    if kind_of(path) not in TABLES:
        raise ProblemError(f"{where}: meta-features must be a table: {', '.join(TABLES)}.")
    names = tables.column_names(path, where)
    check_names(names, where)
    if len(names) < 2:
        raise ProblemError(
            f"{where}: has no meta-features; write one column for each after the feature's name."
        )
    n_rows, columns = tables.read_columns(path, where, names, range(len(names)))
    if not n_rows:
        raise ProblemError(f"{where}: describes no features; write a row for each.")
    _, keys = next(columns)
    features = [_name_of(key, row, where) for row, key in enumerate(keys.tolist(), start=1)]
    for feature, count in Counter(features).items():
        if count > 1:
            raise ProblemError(
                f"{where}: describes the feature '{feature}' {count} times; keep one row of it."
            )
    found: dict[str, Array] = {}
    for name, raw in columns:
        column = convert(raw, name=name, where=where)
        notes.add_all(column.assumed, name)
        found |= _numbers(column, name, where)
    check_names(list(found), where)
    values = np.column_stack(list(found.values()))
    for row, column in np.argwhere(np.abs(values) > LARGEST_META_FEATURE)[:1]:
        raise ProblemError(
            f"{where}: the meta-feature '{list(found)[column]}' of '{features[row]}' is infinite, "
            "or as good as that; fix it."
        )
    return FeatureTable(features, list(found), values, where)


def _name_of(key: Any, row: int, where: str) -> str:
    """Return the name in the first column; 3.0 is the name 3, and a missing value is none."""
    if key is None or key != key or key == "":
        raise ProblemError(
            f"{where}: the feature in row {row} has no name, or one that means missing (NA); "
            "name it otherwise."
        )
    return number_text(key) if isinstance(key, float) else str(key)


def _numbers(column: Column, name: str, where: str) -> dict[str, Array]:
    """Return a column of numbers as it is, and one of text as whether it is each of its labels."""
    if column.labels is None:
        return {name: column.values}
    if len(column.labels) > MOST_LABELS:
        raise ProblemError(
            f"{where}: the meta-feature '{name}' is text with {len(column.labels)} different "
            f"values, but at most {MOST_LABELS} are allowed; write numbers or groups."
        )
    known = ~np.isnan(column.values)
    return {
        f"{name}={label}": np.where(known, column.values == code, np.nan)
        for code, label in enumerate(column.labels)
    }


def _from_mapping(mapping: Mapping[str, Any], where: str) -> FeatureTable:
    """Read feature -> number, list of numbers, or table of meta-feature -> number."""
    if not any(given not in ([], {}) for given in mapping.values()):
        raise ProblemError(f"{where}: meta_features describe nothing; write feature = numbers.")
    names: tuple[str, ...] = ()
    rows: list[list[float]] = []
    for number, (feature, given) in enumerate(mapping.items()):
        own_names = tuple(given) if isinstance(given, Mapping) else ()
        if number == 0:
            names = own_names
        if set(own_names) != set(names):
            raise ProblemError(
                f"{where}: the meta-features of '{feature}' have other names than those before; "
                "give every feature the same."
            )
        row = [given[n] for n in names] if isinstance(given, Mapping) else given
        row = row if isinstance(row, list) else [row]
        if not all(isinstance(value, int | float) for value in row):
            raise ProblemError(
                f"{where}: the meta-features of '{feature}' are not all numbers; fix them."
            )
        if rows and len(row) != len(rows[0]):
            raise ProblemError(
                f"{where}: the meta-features of '{feature}' are {len(row)} instead of "
                f"{len(rows[0])}; give every feature the same."
            )
        rows.append(row)
    values = np.array(rows, dtype=np.float64).reshape(len(rows), -1)
    return FeatureTable(list(mapping), names, values)
