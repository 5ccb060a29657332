"""A program as a sentence: "spam if (viagra or free) and not meeting: 41 of 45 rows, 3 errors".

The program holds for 41 of the 45 rows of the class, and for 3 rows of other classes.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from metafs.data.checks import counted
from metafs.data.typing import Array
from metafs_moses.literals import Literals
from metafs_moses.program import FALSE, TRUE, Program


def condition(
    program: Program, literals: Literals, names: Sequence[str], binary: Collection[int]
) -> str:
    """Write a program; columns of zeros and ones are written as present or not.

    >>> literals = Literals.of([(0, 0.5), (1, 0.5), (2, 3.5)])
    >>> condition(("and", 3, ("or", 0, 4)), literals, ["free", "meeting", "age"], {0, 1})
    '(free or age > 3.5) and not meeting'
    """
    if isinstance(program, int):
        column, threshold = literals.cuts[program >> 1]
        name = _quoted(str(names[column]))
        if column in binary and threshold == 0.5:
            return f"not {name}" if program & 1 else name
        return f"{name} {'<=' if program & 1 else '>'} {threshold:.6g}"
    parts = []
    for operand in sorted(program[1:], key=_order):
        text = condition(operand, literals, names, binary)
        parts.append(text if isinstance(operand, int) else f"({text})")
    return f" {program[0]} ".join(parts)


def _quoted(name: str) -> str:
    """Put a name in quotes that could be read as something else: a keyword, or several words.

    >>> _quoted("not"), _quoted("age")
    ("'not'", 'age')
    """
    plain = name.isprintable() and not set(name) & set(" ()'<>:,")
    return name if plain and name not in ("and", "or", "not", "") else repr(name)


def _order(operand: Program) -> int:
    """Sort what is in brackets before literals, and what is above before what is not."""
    return 1 + (operand & 1) if isinstance(operand, int) else 0


def sentence(label: Any, program: Program, written: str, holds: Array, wanted: Array) -> str:
    """Write what a program says of a class, and of how many rows that is true.

    >>> holds, wanted = np.array([True, True, False]), np.array([True, False, False])
    >>> sentence("spam", 0, "free", holds, wanted)
    'spam if free: 1 of 1 row, 1 error'
    """
    when = {TRUE: "always", FALSE: "never"}.get(program, f"if {written}")
    n_right = int(np.count_nonzero(holds & wanted))
    n_wrong = int(np.count_nonzero(holds & ~wanted))
    rows, errors = counted(int(np.count_nonzero(wanted)), "row"), counted(n_wrong, "error")
    return f"{label} {when}: {n_right} of {rows}, {errors}"
