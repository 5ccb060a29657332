"""Programs as JSON can hold them, with features by name or number instead of codes.

A literal is ``{"feature": "age", "above": 3.5}`` or ``{"feature": "age", "at_most": 3.5}``, and
programs are ``{"and": [...]}``, ``{"or": [...]}`` and, where they come from outside,
``{"not": ...}``.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs_moses.literals import Literals
from metafs_moses.program import Program, negated

Serial = dict[str, Any]


def serialised(program: Program, literals: Literals, names: Sequence[str] | None) -> Serial:
    """Return a program in a form that JSON can hold.

    >>> serialised(("or", 0, 3), Literals.of([(0, 0.5), (1, 2.0)]), ["age", "height"])
    {'or': [{'feature': 'age', 'above': 0.5}, {'feature': 'height', 'at_most': 2.0}]}
    """
    if isinstance(program, int):
        column, threshold = literals.cuts[program >> 1]
        feature = column if names is None else str(names[column])
        return {"feature": feature, "at_most" if program & 1 else "above": threshold}
    return {program[0]: [serialised(each, literals, names) for each in program[1:]]}


def cuts_in(given: Any, columns: Callable[[Any], int | None]) -> Iterator[tuple[int, float]]:
    """Yield the cuts that a serialised program needs."""
    if _is_literal(given):
        column = columns(given["feature"])
        if column is not None:
            yield column, _threshold(given)
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
        return literals.code(column, _threshold(given), "above" in given)
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


def _threshold(given: Serial) -> float:
    try:
        (key,) = given.keys() & {"above", "at_most"}
        threshold = float(given[key])
    except (TypeError, ValueError):
        raise _malformed(given) from None
    if not np.isfinite(threshold):
        raise _malformed(given)
    return threshold


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
