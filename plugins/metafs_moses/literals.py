"""Literals: a column is above a threshold, or is not. Code 2k says above, 2k + 1 at most.

The literals of a table are numbered by column, then by threshold. A missing value satisfies
neither of the two, so that "not above" is not the same as "at most" in a column that has any.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple


class Related(NamedTuple):
    """Literals of the same column as one literal, by what they have to do with it."""

    implying: frozenset[int]
    implied: frozenset[int]
    excluding: frozenset[int]
    exhausting: frozenset[int]


@dataclass(frozen=True)
class Literals:
    """What can be asked of a row.

    Attributes
    ----------
    cuts : tuple of (int, float)
        Column and threshold of each pair of literals, in ascending order.
    with_missing : frozenset of int
        Columns in which values were missing.
    """

    cuts: tuple[tuple[int, float], ...]
    with_missing: frozenset[int] = frozenset()

    @classmethod
    def of(cls, cuts: Iterable[tuple[int, float]], with_missing: Iterable[int] = ()) -> "Literals":
        """Return the literals of these cuts, each once."""
        return cls(tuple(sorted(set(cuts))), frozenset(with_missing))

    def __len__(self) -> int:
        """Return the number of literals, two for each cut."""
        return 2 * len(self.cuts)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The column of each cut."""
        return tuple(column for column, _ in self.cuts)

    @cached_property
    def _codes(self) -> dict[tuple[int, float], int]:
        return {cut: 2 * k for k, cut in enumerate(self.cuts)}

    def code(self, column: int, threshold: float, above: bool) -> int:
        """Return the code of a literal that is there.

        >>> Literals.of([(4, 0.5), (0, 1.0)]).code(4, 0.5, above=False)
        3
        """
        return self._codes[column, threshold] + (not above)

    def implies(self, a: int, b: int) -> bool:
        """Tell whether every row that satisfies a satisfies b.

        >>> two = Literals.of([(0, 1.0), (0, 3.0)])
        >>> two.implies(2, 0), two.implies(0, 2), two.implies(1, 3)
        (True, False, True)
        """
        if (a ^ b) & 1 or self.columns[a >> 1] != self.columns[b >> 1]:
            return False
        return a <= b if a & 1 else a >= b

    def exclude(self, a: int, b: int) -> bool:
        """Tell whether no row satisfies both.

        >>> two = Literals.of([(0, 1.0), (0, 3.0)])
        >>> two.exclude(1, 2), two.exclude(0, 1), two.exclude(0, 3)
        (True, True, False)
        """
        if not (a ^ b) & 1 or self.columns[a >> 1] != self.columns[b >> 1]:
            return False
        above, at_most = (b, a) if a & 1 else (a, b)
        return above >> 1 >= at_most >> 1

    def exhaust(self, a: int, b: int) -> bool:
        """Tell whether every row satisfies one of the two at least.

        >>> two = Literals.of([(0, 1.0), (0, 3.0)])
        >>> two.exhaust(0, 3), two.exhaust(0, 1), two.exhaust(1, 2)
        (True, True, False)
        """
        column = self.columns[a >> 1]
        if not (a ^ b) & 1 or column != self.columns[b >> 1] or column in self.with_missing:
            return False
        above, at_most = (b, a) if a & 1 else (a, b)
        return above >> 1 <= at_most >> 1

    def related(self, code: int) -> "Related":
        """Return the literals that decide a literal, or are decided by it."""
        found = self._related.get(code)
        if found is None:
            column = self.columns[code >> 1]
            start = bisect_left(self.columns, column)
            stop = bisect_right(self.columns, column)
            same = range(2 * start, 2 * stop)
            found = self._related[code] = Related(
                frozenset(a for a in same if self.implies(a, code)),
                frozenset(a for a in same if self.implies(code, a)),
                frozenset(a for a in same if self.exclude(a, code)),
                frozenset(a for a in same if self.exhaust(a, code)),
            )
        return found

    @cached_property
    def _related(self) -> dict[int, "Related"]:
        return {}
