"""What is known of rows besides their columns: groups, times and weights, checked once.

A group is any label; each row without one is a group of its own. Times are dates or numbers, none
missing. Weights are numbers from 0; a row of weight 0 takes no part, and is left out.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from metafs.data.columns import convert
from metafs.data.matrix import raw_target
from metafs.data.notes import LONE, Notes
from metafs.data.typing import Array
from metafs.errors import ProblemError

OF_ROWS = ("groups", "time", "sample_weight")
"""The fields of a problem that hold one value a row."""

OPTIONS = {"groups": "--groups", "time": "--time", "sample_weight": "--weight"}
"""How the command names each of them."""

Named = Mapping[str, tuple[str, Array]]
"""By field: the name of the column, and its raw values."""


def named_values(given: Mapping[str, Any], where: str) -> dict[str, tuple[str, Array]]:
    """Return what was given as arrays or sequences, None left out, under the names of the fields.

    Examples
    --------
    >>> sorted(named_values({"groups": ["a", "b"], "time": None}, "table"))
    ['groups']
    """
    found = {}
    for field, values in given.items():
        if isinstance(values, str):
            raise ProblemError(
                f"{where}: {field} is '{values}', a name, but X is no frame with named columns; "
                "give one value a row."
            )
        if values is not None:
            found[field] = (field, raw_target(values, where))
    return found


def fit_weights(sample_weight: Any, n_rows: int, where: str) -> Array | None:
    """Return the weights given to a ``fit`` as float64; None if there are none.

    Examples
    --------
    >>> fit_weights([1, 2], 2, "learner")
    array([1., 2.])
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ProblemError(
            f"{where}: sample_weight has shape {weights.shape} but there are {n_rows} rows; give "
            "one number a row."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ProblemError(
            f"{where}: sample_weight holds a negative, missing or infinite value; correct it."
        )
    if not weights.any():
        raise ProblemError(f"{where}: sample_weight is zero in every row; give some rows more.")
    return weights


def fit_groups(groups: Any, n_rows: int, where: str) -> Array | None:
    """Return the groups given to a ``fit`` as codes; None if there are none."""
    if groups is None:
        return None
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise ProblemError(
            f"{where}: groups have shape {values.shape} but there are {n_rows} rows; give one a "
            "row."
        )
    return np.asarray(np.unique(values, return_inverse=True)[1], dtype=np.int64)


class RowValues:
    """Groups, times and weights of all rows, before it is known which rows have a target."""

    def __init__(self, given: Named, n_rows: int, where: str, notes: Notes) -> None:
        self.where, self.notes = where, notes
        self.names = {field: name for field, (name, _) in given.items()}
        self.values = {field: self._values(field, *given[field], n_rows) for field in given}
        self.numbers = np.arange(1, n_rows + 1)

    def _values(self, field: str, name: str, raw: Array, n_rows: int) -> Array:
        if np.ndim(raw) != 1 or len(raw) != n_rows:
            raise ProblemError(
                f"{self.where}: {field} has shape {np.shape(raw)} but there are {n_rows} rows; "
                "give one value a row."
            )
        column = convert(raw, name=name, where=self.where, mixed=True)
        self.notes.add_all(column.assumed, name)
        if column.labels is not None and field != "groups":
            wanted = "dates such as 2026-05-31 or numbers" if field == "time" else "numbers"
            raise ProblemError(
                f"{self.where}: '{name}' ({OPTIONS[field]}) holds text; give {wanted}."
            )
        return column.values

    @property
    def counted(self) -> Array | None:
        """Which rows have a weight other than 0; None if all have."""
        weights = self.values.get("sample_weight")
        if weights is None or not (weights == 0).any():
            return None
        if not np.nan_to_num(weights).any():
            raise ProblemError(
                f"{self.where}: '{self.names['sample_weight']}' (--weight) is 0 in every row; give "
                "some rows a weight above 0."
            )
        return np.asarray(weights != 0)

    def take(self, rows: Array) -> None:
        """Keep some rows only."""
        self.numbers = self.numbers[rows]
        self.values = {field: values[rows] for field, values in self.values.items()}

    def of(self, present: Array) -> dict[str, Array]:
        """Return the values of the rows that have a target, checked."""
        found = {}
        for field, values in self.values.items():
            name, values = self.names[field], values[present]
            if field == "groups":
                found[field] = self._groups(name, values)
                continue
            role, numbers = OPTIONS[field], self.numbers[present]
            self._refuse(np.isnan(values), "is missing", name, role, numbers)
            self._refuse(np.isinf(values), "is infinite", name, role, numbers)
            if field == "sample_weight":
                self._refuse(values < 0, "is negative", name, role, numbers)
            found[field] = values
        return found

    def _groups(self, name: str, values: Array) -> Array:
        missing = np.isnan(values)
        codes = np.empty(len(values), dtype=np.int64)
        known, codes[~missing] = np.unique(values[~missing], return_inverse=True)
        codes[missing] = len(known) + np.arange(missing.sum())
        if missing.any():
            self.notes.add(LONE, name)
        return codes

    def _refuse(self, wrong: Array, what: str, name: str, role: str, numbers: Array) -> None:
        if wrong.any():
            row = numbers[int(np.flatnonzero(wrong)[0])]
            raise ProblemError(
                f"{self.where}: '{name}' ({role}) {what} in row {row}; correct the value or leave "
                "the row out."
            )
