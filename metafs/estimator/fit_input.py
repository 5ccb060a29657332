"""What an estimator is given, as the loop takes it: numbers, labels of text, positions to keep."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.utils import check_X_y
from sklearn.utils.validation import _num_samples, validate_data

from metafs.data.notes import COMMAS, Notes
from metafs.data.row_values import fit_groups, fit_weights
from metafs.data.text_input import holds_text, numbers_of_text
from metafs.data.typing import Array, Matrix
from metafs.data.unlabelled import labelled_rows
from metafs.errors import UsageError
from metafs.plugin.registry import Registry
from metafs.stats.linear.rows import stacked

UNNAMED = "unnamed"


@cache
def installed_registry() -> Registry:
    """Return the installed plugins, looked up once in a process, when first needed."""
    return Registry()


@dataclass(frozen=True, eq=False)
class FitInput:
    """A table as numbers, with the rows that have a target apart from those that have none."""

    X: Matrix
    y: Array
    X_unlabelled: Matrix | None
    categories: dict[int, tuple[str, ...]]
    """The labels of the columns that held text."""
    decimal_commas: tuple[str, ...]


def read(
    estimator: Any, X: Any, y: Any, X_unlabelled: Any, *, sparse: bool, y_numeric: bool = False
) -> FitInput:
    """Check what ``fit`` of an estimator is given, and set what it is to know of the columns.

    Rows whose target is missing join those of `X_unlabelled`.
    """
    X, y, without = labelled_rows(X, y)
    unlabelled = [each for each in (without, X_unlabelled) if each is not None]
    rules = {
        "accept_sparse": "csr" if sparse else False,
        "ensure_all_finite": "allow-nan",
        "dtype": np.float64,
    }
    of_target = {"ensure_min_samples": 2, "y_numeric": y_numeric}
    categories: dict[int, tuple[str, ...]] = {}
    notes = Notes()
    if not any(map(holds_text, [X, *unlabelled])):
        X, y = validate_data(estimator, X, y, **of_target, **rules)
        more = [validate_data(estimator, each, reset=False, **rules) for each in unlabelled]
    else:
        validate_data(estimator, X, skip_check_array=True)  # for the names of the columns
        for each in unlabelled:
            validate_data(estimator, each, skip_check_array=True, reset=False)
        where = estimator.name or UNNAMED
        (X, *more), categories = numbers_of_text([X, *unlabelled], where, notes)
        X, y = check_X_y(X, y, **of_target, **rules)
    together = stacked(more[0], *more[1:]) if more else None
    return FitInput(X, y, together, categories, tuple(notes.columns.get(COMMAS, ())))


def row_metadata(estimator: Any, y: Any, groups: Any, sample_weight: Any) -> dict[str, Any]:
    """Return groups and weights of the rows that have a target, as far as they were given."""
    given = {"groups": (groups, fit_groups), "sample_weight": (sample_weight, fit_weights)}
    where = estimator.name or UNNAMED
    return {
        name: labelled_rows(checked(values, _num_samples(y), where), y)[0]
        for name, (values, checked) in given.items()
        if values is not None
    }


def kept_positions(
    keep: Sequence[str | int] | None, names: Array | None, n_features: int
) -> list[int]:
    """Return the positions of the columns to keep, which may be given by name."""
    place: dict[Any, int] = {}
    place |= {} if names is None else {name: index for index, name in enumerate(names)}
    place |= {index: index for index in range(n_features)}
    unknown = [column for column in keep or () if column not in place]
    if unknown:
        raise UsageError(f"there is no column {unknown[0]!r} to keep.")
    return [place[column] for column in keep or ()]
