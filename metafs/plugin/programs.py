"""Programs as JSON: ``{"feature": ..., "above": 3.5}``, ``{"and": [...]}``, ``{"not": {...}}``.

Features go by number in a table, and by name in the memory.
"""

from collections.abc import Callable, Mapping
from typing import Any

Program = Mapping[str, Any]


def with_features(program: Program, feature: Callable[[Any], Any]) -> Program | None:
    """Return a program with its features under other names or numbers.

    Literals of features for which the function returns None are left out; without any left there is
    no program, and None is returned.

    Examples
    --------
    >>> given = {"or": [{"feature": "age", "above": 3}, {"not": {"feature": "sex", "above": 0}}]}
    >>> with_features(given, {"age": 0}.get)
    {'or': [{'feature': 0, 'above': 3}]}
    """
    if "feature" in program:
        other = feature(program["feature"])
        return None if other is None else {**program, "feature": other}
    ((operator, operands),) = program.items()
    if isinstance(operands, Mapping):
        inner = with_features(operands, feature)
        return None if inner is None else {operator: inner}
    found = [with_features(each, feature) for each in operands]
    there = [each for each in found if each is not None]
    return {operator: there} if there else None
