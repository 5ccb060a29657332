"""What a target is: classes with canonical labels, or numbers.

Text and booleans are classes. Numbers are classes when there are two of them, or when they are
whole and few: up to 10 that occur twice on average, or up to 50 that occur ten times on average.
Otherwise they are numbers; exam marks, say, are whole but seldom repeat so often. How a number is
stored plays no part: 1, 1.0 and "1" in a file are the same.

This is decided once, where data come in, and nowhere else: `settled` returns integers for classes
and floats for numbers, and code that gets a settled target asks `holds_classes`. The rows of
a fold are fewer than those that decided, so they must not decide again.
"""

from dataclasses import dataclass

import numpy as np

from metafs.data.columns import Column, convert, number_text
from metafs.data.typing import Array
from metafs.errors import ProblemError, UsageError

TASKS = ("auto", "classes", "numbers")
MAX_CLASSES = 50
LARGEST = 1e150
"""Sums of squares of larger numbers overflow, and with them every score and every fit."""


@dataclass(frozen=True, eq=False)
class Target:
    """Codes or numbers of the rows that have a target; `present` marks those rows."""

    y: Array
    classes: tuple[str, ...] | None
    present: Array
    assumed: tuple[str, ...] = ()
    """What was assumed in reading the values, constants of `metafs.data.notes`."""


def looks_like_classes(values: Array) -> bool:
    """Tell whether these numbers, none missing, are labels rather than amounts.

    >>> looks_like_classes(np.array([1.0, 2.0, 3.0] * 4)), looks_like_classes(np.array([1.5, 2, 3]))
    (True, False)
    """
    distinct = np.unique(values)
    n = len(distinct)
    few = n <= MAX_CLASSES and n * (2 if n <= 10 else 10) <= len(values)
    return n == 2 or (few and bool((distinct == np.floor(distinct)).all()))


def holds_classes(y: Array) -> bool:
    """Tell what a settled target holds: floats are numbers, anything else is classes.

    Examples
    --------
    >>> holds_classes(np.array([0, 1, 2])), holds_classes(np.array([0.0, 1.0, 2.0]))
    (True, False)
    """
    return y.dtype.kind != "f"


def settled(y: Array, task: str = "auto", *, name: str = "y", where: str = "fit") -> Array:
    """Return the codes 0, 1, ... of classes as int64, or numbers as float64; NaN if missing.

    Examples
    --------
    >>> settled(np.array(["no", "yes", "no"])), settled(np.array([1, 2, 4]))
    (array([0, 1, 0]), array([1., 2., 4.]))
    """
    check_task(task)
    column = _read(y, name, where, task)
    known = column.values[~np.isnan(column.values)]
    if _are_classes(column, known, task) and len(known) == len(column.values):
        return np.unique(known, return_inverse=True)[1].astype(np.int64)
    return column.values


def _are_classes(column: Column, known: Array, task: str) -> bool:
    if column.labels is not None:
        return True
    return task == "classes" or (task == "auto" and looks_like_classes(known))


def check_task(task: str) -> None:
    """Refuse a task that is not one of `TASKS`."""
    if task not in TASKS:
        raise UsageError(f"the task '{task}' is unknown; choose one of {', '.join(TASKS)}.")


def encode_target(raw: Array, *, name: str, where: str, task: str = "auto") -> Target:
    """Turn a raw target into class codes or numbers, leaving out the rows without one."""
    check_task(task)
    column = _read(raw, name, where, task)
    present = ~np.isnan(column.values)
    values = column.values[present]
    if len(values) == 0:
        raise ProblemError(f"{where}: the target '{name}' has no values at all; choose another.")
    if np.isinf(values).any():
        row = int(np.flatnonzero(np.isinf(column.values))[0])
        raise ProblemError(
            f"{where}: the target '{name}' is infinite in row {row + 1}; fix or empty the value."
        )
    if len(values) == 1:
        raise ProblemError(
            f"{where}: only 1 row has a value of the target '{name}'; give at least two rows."
        )
    distinct, codes = np.unique(values, return_inverse=True)
    if column.labels is not None:
        classes = tuple(column.labels[int(code)] for code in distinct)
    elif _are_classes(column, values, task):
        classes = tuple(number_text(value) for value in distinct)
    else:
        _refuse_constant(len(distinct), name, where)
        _refuse_overflow(values, name, where)
        return Target(values, None, present, column.assumed)
    _refuse_constant(len(classes), name, where)
    return Target(codes.astype(np.int64), classes, present, column.assumed)


def _read(raw: Array, name: str, where: str, task: str) -> Column:
    column = convert(raw, name=name, where=where, mixed=True)
    if column.labels is None:
        return column
    if task == "numbers":
        numeric = convert(raw, name=name, where=where)
        if numeric.labels is not None:
            raise ProblemError(
                f"{where}: the target '{name}' is text, so it cannot be predicted as numbers; ask "
                "for classes or choose another target."
            )
    few = len(column.labels) <= MAX_CLASSES and 2 * len(column.labels) <= len(column.values)
    if task == "auto" and not few:
        # Many labels, most of them numbers: rather an amount with a slip of the pen than classes.
        return convert(raw, name=name, where=where)
    return column


def _refuse_overflow(values: Array, name: str, where: str) -> None:
    if np.abs(values).max() > LARGEST:
        raise ProblemError(
            f"{where}: the target '{name}' holds numbers beyond {LARGEST:.0e}, whose squares "
            "overflow; divide it by a constant."
        )


def _refuse_constant(n_distinct: int, name: str, where: str) -> None:
    if n_distinct == 1:
        raise ProblemError(
            f"{where}: the target '{name}' is constant, with only one class or value in all its "
            "rows, so there is nothing to predict; choose another target."
        )
