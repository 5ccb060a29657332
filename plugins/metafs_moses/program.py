"""Programs: a literal, or "and" or "or" with programs as operands.

A program is the code of a literal (see `metafs_moses.literals`) or a tuple of an operator and its
operands: ``("or", 0, ("and", 3, 4))``. ``("and",)`` is true and ``("or",)`` is false. "Not" stands
only before literals, as their odd codes: that of anything else goes down to them by De Morgan's
laws, so that a missing value satisfies no literal on either side.
"""

from typing import Any

Program = int | tuple[Any, ...]

TRUE: Program = ("and",)
FALSE: Program = ("or",)
OPPOSITE = {"and": "or", "or": "and"}


def negated(program: Program) -> Program:
    """Return the negation of a program.

    >>> negated(("or", 0, ("and", 3, 4)))
    ('and', 1, ('or', 2, 5))
    """
    if isinstance(program, int):
        return program ^ 1
    return OPPOSITE[program[0]], *map(negated, program[1:])


def size(program: Program) -> int:
    """Return the complexity of a program: how many literals are written in it.

    >>> size(("or", 0, ("and", 3, 4)))
    3
    """
    return 1 if isinstance(program, int) else sum(map(size, program[1:]))


def literals_of(program: Program) -> set[int]:
    """Return the codes of the literals in a program.

    >>> literals_of(("or", 0, ("and", 3, 0)))
    {0, 3}
    """
    if isinstance(program, int):
        return {program}
    return set().union(*map(literals_of, program[1:]))
