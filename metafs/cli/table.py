"""A table, printed row by row: plain text for a pipe, fitted to the width of a terminal.

On a terminal long texts are shortened by an ellipsis, the widest first, and numbers never. If the
columns do not fit even so, the last ones are left out: the important ones come first. A pipe gets
every column and every character.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

from metafs.data.printable import n_columns, padded, printable_lines, shortened

GAP = "  "
LEAST = 12
"""Columns of a terminal that a text is at least given, if it needs them: names stay readable."""


@dataclass(frozen=True)
class Column:
    """A column of a table: what it is called, and how many columns of a terminal it wants."""

    name: str
    width: int
    right: bool = False
    """Numbers: to the right, and never shortened."""
    middle: bool = True
    """Whether a text is shortened in its middle instead of at its end."""
    kept: bool = False
    """Whether the other texts are shortened first."""

    @property
    def least(self) -> int:
        """How narrow it may become."""
        return self.width if self.right else min(self.width, LEAST)

    def shown(self, text: str, *, cut: bool) -> str:
        """Return a cell."""
        text = shortened(text, self.width, middle=self.middle) if cut else text
        return padded(text, self.width, right=self.right)


def fitted(columns: Sequence[Column], width: int) -> list[Column]:
    """Return the columns that fit into a width, as wide as they can be.

    Examples
    --------
    >>> columns = [Column("name", 20), Column("score", 6, right=True), Column("near", 30)]
    >>> [each.width for each in fitted(columns, 50)]
    [20, 6, 20]
    >>> [each.name for each in fitted(columns, 20)]
    ['name', 'score']
    """
    shown = list(columns)
    while len(shown) > 1 and sum(each.least + len(GAP) for each in shown) - len(GAP) > width:
        shown.pop()
    excess = sum(each.width + len(GAP) for each in shown) - len(GAP) - width
    widths = [each.width for each in shown]
    floors = [each.least for each in shown]
    if len(shown) == 1:
        floors = [1]
    for _ in range(excess):
        shrinkable = [j for j in range(len(shown)) if widths[j] > floors[j]]
        if not shrinkable:
            break
        widths[max(shrinkable, key=lambda j: (not shown[j].kept, widths[j], j))] -= 1
    return [replace(each, width=width) for each, width in zip(shown, widths, strict=True)]


class Table:
    """A table on a stream whose rows are printed one by one."""

    def __init__(self, stream: Any, columns: Sequence[Column], *, ruled: bool = True) -> None:
        self._stream, self._ruled = stream, ruled
        self._on_terminal = stream.isatty()
        self.columns = list(columns)
        if self._on_terminal:
            from metafs.pipeline.display.console import console_of

            self.columns = fitted(columns, console_of(stream).width)
        self.left_out = [each.name for each in columns[len(self.columns) :]]

    def echo_header(self) -> None:
        """Print the names of the columns; for a pipe perhaps with a rule below."""
        self.echo_row([each.name for each in self.columns], "bold")
        if self._ruled and not self._on_terminal:
            self.echo_row(["-" * each.width for each in self.columns])

    def echo_row(self, cells: Sequence[str], style: str = "") -> None:
        """Print a row of printable cells; there may be fewer of them than columns."""
        shown = [
            column.shown(cell, cut=self._on_terminal)
            for column, cell in zip(self.columns, cells, strict=False)
        ]
        echo(self._stream, GAP.join(shown).rstrip(), style)


def width_of(texts: Sequence[str]) -> int:
    """Return the width of the widest text."""
    return max(map(n_columns, texts), default=0)


def echo(stream: Any, text: str, style: str = "", *, wraps: bool = False) -> None:
    """Print a text, in a style if the stream is a terminal; nothing in it steers that."""
    text = printable_lines(text)
    if not stream.isatty():
        click.echo(text, file=stream)
        return
    from metafs.pipeline.display.console import print_line

    print_line(stream, text, style, wraps=wraps)
