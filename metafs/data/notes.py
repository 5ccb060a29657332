"""What a reader assumed and left out, in sentences that a person can check.

A note names columns, never what a cell holds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from metafs.data.checks import counted, listing

EMPTY = "left out {count} without any value: {names}"
CONSTANT = "left out {count} with one value in all rows: {names}"
ROW_NUMBERS = "left out {count} of row numbers that pandas stored with the table: {names}"
TOO_LARGE = "left out {count} of numbers too large to be told apart: {names}"
INFINITE = "took infinite values for missing in {names}"
MARKERS = "took text such as n/a for missing in {names}"
COMMAS = "read the commas in {names} as decimal points"
LONE = "took each row without a value of {names} for a group of its own"
WEIGHTLESS = "left out the rows whose weight is 0 in {names}"
ENCODING = "read the text as {names}, because it is not UTF-8"


@dataclass
class Notes:
    """Collects columns by what was assumed of them."""

    columns: dict[str, list[str]] = field(default_factory=dict)

    def add(self, assumed: str, name: str) -> None:
        """Note for one column what was assumed, one of the constants of this module."""
        self.columns.setdefault(assumed, []).append(name)

    def add_all(self, assumed: Iterable[str], name: str) -> None:
        """Note several assumptions for one column."""
        for each in assumed:
            self.add(each, name)

    def texts(self) -> tuple[str, ...]:
        """Return one sentence for each assumption.

        Examples
        --------
        >>> notes = Notes()
        >>> notes.add(EMPTY, "a"), notes.add(EMPTY, "b")
        (None, None)
        >>> notes.texts()
        ("left out 2 columns without any value: 'a', 'b'",)
        """
        return tuple(_sentence(assumed, names) for assumed, names in self.columns.items())


def _sentence(assumed: str, names: Sequence[str]) -> str:
    return assumed.format(count=counted(len(names), "column"), names=listing(names))
