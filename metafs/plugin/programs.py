"""Programs as JSON: ``{"feature": ..., "above": 3.5}``, ``{"and": [...]}``, ``{"not": {...}}``.

A literal has one condition: "above", "at_most", or "is" 1 or 0 for a column of ones and zeros.
Features go by number in a table, and by name in the memory.
"""

from collections.abc import Callable, Mapping
from typing import Any

Program = Mapping[str, Any]

OPERATORS = {"above": ">", "at_most": "<="}


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


def written(program: Program) -> str:
    """Return a program as text.

    Examples
    --------
    >>> written({"and": [{"feature": "spam", "is": 0}, {"or": [
    ...     {"feature": "age", "above": 3.5}, {"feature": "sex", "is": 1}]}]})
    '(age > 3.5 or sex) and not spam'
    """
    if "feature" in program:
        return _literal(**program)
    ((operator, operands),) = program.items()
    if isinstance(operands, Mapping):
        return f"not ({written(operands)})"
    parts = [
        written(each) if "feature" in each else f"({written(each)})"
        for each in sorted(operands, key=_order)
    ]
    return f" {operator} ".join(parts)


def _order(program: Program) -> int:
    """Sort what is in brackets before literals, and what a row has before what it lacks."""
    if "feature" not in program:
        return 0
    return 2 if "at_most" in program or not program.get("is", True) else 1


def _literal(feature: Any, **condition: Any) -> str:
    ((kind, value),) = condition.items()
    name = _quoted(str(feature))
    if kind == "is":
        return name if value else f"not {name}"
    number = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f"{name} {OPERATORS.get(kind, kind)} {number}"


def _quoted(name: str) -> str:
    """Put a name in quotes that could be read as something else: a keyword, or several words.

    >>> _quoted("not"), _quoted("age")
    ("'not'", 'age')
    """
    plain = name.isprintable() and not set(name) & set(" ()'<>:,")
    return name if plain and name not in ("and", "or", "not", "") else repr(name)
