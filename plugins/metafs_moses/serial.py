"""Programs as JSON can hold them, with features by name or number instead of codes.

A literal is ``{"feature": "age", "above": 3.5}`` or ``{"feature": "age", "at_most": 3.5}``, of a
column of ones and zeros ``{"feature": "free", "is": 1}`` or ``{"feature": "free", "is": 0}``, and
programs are ``{"and": [...]}``, ``{"or": [...]}`` and, where they come from outside,
``{"not": ...}``.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np

from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs_moses.literals import Literals
from metafs_moses.program import Program, negated

Serial = dict[str, Any]

ONE_OR_ZERO = 0.5
"""The threshold between the two."""


def serialised(
    program: Program,
    literals: Literals,
    names: Sequence[str] | None,
    binary: Collection[int] = frozenset(),
) -> Serial:
    """Return a program in a form that JSON can hold; `binary` are the columns of ones and zeros.

    >>> literals = Literals.of([(0, 0.5), (1, 2.0)])
    >>> serialised(("or", 0, 3), literals, ["free", "height"], {0})
    {'or': [{'feature': 'free', 'is': 1}, {'feature': 'height', 'at_most': 2.0}]}
    """
    if isinstance(program, int):
        column, threshold = literals.cuts[program >> 1]
        feature = column if names is None else str(names[column])
        if column in binary and threshold == ONE_OR_ZERO:
            return {"feature": feature, "is": 1 - (program & 1)}
        return {"feature": feature, "at_most" if program & 1 else "above": threshold}
    return {program[0]: [serialised(each, literals, names, binary) for each in program[1:]]}


def cuts_in(given: Any, columns: Callable[[Any], int | None]) -> Iterator[tuple[int, float]]:
    """Yield the cuts that a serialised program needs."""
    if _is_literal(given):
        column = columns(given["feature"])
        if column is not None:
            yield column, _condition(given)[0]
        return
    for operand in _operands(given)[1]:
        yield from cuts_in(operand, columns)


def parsed(given: Any, literals: Literals, columns: Callable[[Any], int | None]) -> Program | None:
    """Return the program that a serialised one stands for, None if none of its features is here.

    Literals of features that are not here are left out.

    >>> literals = Literals.of([(0, 0.5), (1, 2.0)])
    >>> given = {"or": [{"feature": 0, "above": 0.5}, {"not": {"feature": 1, "above": 2.0}}]}
    >>> parsed(given, literals, lambda feature: feature)
    ('or', 0, 3)
    """
    if _is_literal(given):
        column = columns(given["feature"])
        if column is None:
            return None
        threshold, above = _condition(given)
        return literals.code(column, threshold, above)
    op, operands = _operands(given)
    inner = [parsed(each, literals, columns) for each in operands]
    there = [each for each in inner if each is not None]
    if operands and not there:
        return None
    return negated(there[0]) if op == "not" else (op, *there)


def columns_by(names: Array | None, n_features: int) -> Callable[[Any], int | None]:
    """Return a function from a feature, by name or number, to its column, None if not there.

    >>> columns = columns_by(np.array(["age", "height"]), 2)
    >>> columns("height"), columns(0), columns("weight"), columns(7)
    (1, 0, None, None)
    """
    by_name = {} if names is None else {str(name): j for j, name in enumerate(names)}

    def column(feature: Any) -> int | None:
        if isinstance(feature, (int, np.integer)) and not isinstance(feature, bool):
            return int(feature) if 0 <= feature < n_features else None
        return by_name.get(str(feature))

    return column


def _is_literal(given: Any) -> bool:
    return isinstance(given, dict) and "feature" in given


def _condition(given: Serial) -> tuple[float, bool]:
    """Return the threshold of a literal, and whether it asks for values above."""
    try:
        (kind,) = given.keys() & {"above", "at_most", "is"}
        value = float(given[kind])
    except (TypeError, ValueError):
        raise _malformed(given) from None
    if not np.isfinite(value) or (kind == "is" and value not in (0, 1)):
        raise _malformed(given)
    return (ONE_OR_ZERO, value == 1) if kind == "is" else (value, kind == "above")


def _operands(given: Any) -> tuple[str, list[Any]]:
    if isinstance(given, dict) and len(given) == 1:
        ((op, operands),) = given.items()
        if op == "not" and isinstance(operands, dict):
            return op, [operands]
        if op in ("and", "or") and isinstance(operands, (list, tuple)):
            return op, list(operands)
    raise _malformed(given)


def _malformed(given: Any) -> UsageError:
    return UsageError(
        f"{str(given)[:80]} is no program: give {{'and': [...]}}, {{'or': [...]}}, {{'not': ...}} "
        "or {'feature': ..., 'above': ...}, as in programs_."
    )
