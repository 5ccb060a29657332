"""A table as it is given, array or frame, taken apart into features, target and the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from metafs.data import checks
from metafs.data.columns import frame_columns, frame_names
from metafs.data.matrix import matrix_of_array, matrix_of_columns
from metafs.data.notes import Notes
from metafs.data.typing import Matrix
from metafs.errors import ProblemError


@dataclass(frozen=True, eq=False)
class InputTable:
    """Features as numbers, and what the table held besides them."""

    X: Matrix
    y: Any
    """The target, as it was given."""
    names: Sequence[str] | None
    """None if the columns have no names of their own."""
    categories: dict[int, tuple[str, ...]]
    target: str | None
    """The column that the target came from; None if it was given apart."""
    of_rows: Mapping[str, Any]
    """Groups, times and weights of the rows, as they were given."""


def taken_apart(
    X: Any,
    y: Any,
    of_rows: Mapping[str, Any],
    feature_names: Sequence[str] | None,
    where: str,
    notes: Notes,
) -> InputTable:
    """Take a table apart; in a frame, target and values of rows may be names of columns."""
    if not nw.dependencies.is_into_dataframe(X):
        matrix, categories = matrix_of_array(X, feature_names, where, notes)
        return InputTable(matrix, y, feature_names, categories, None, of_rows)
    names = frame_names(X)
    checks.check_names(names, where)
    named = {"target": y, **of_rows}
    taken = {role: name for role, name in named.items() if isinstance(name, str)}
    for role, column in taken.items():
        if column not in names:
            raise ProblemError(checks.unknown_column(where, column, names, role=role))
    columns = (pair for pair in frame_columns(X) if pair[0] not in taken.values())
    if taken:
        raw = dict(frame_columns(X))
        named |= {role: raw[name] for role, name in taken.items()}
        names = [name for name in names if name not in taken.values()]
    matrix, categories = matrix_of_columns(columns, len(names), len(X), where, notes)
    return InputTable(
        matrix,
        named.pop("target"),
        names if feature_names is None else feature_names,
        categories,
        taken.get("target"),
        named,
    )
