"""The rich console of a terminal: its width, and colour unless that was turned off.

Colours and other styles are off if NO_COLOR is set (https://no-color.org) or TERM is dumb. Nothing
in a text is interpreted: no markup, no emoji names, no highlighting.
"""

import os
from functools import lru_cache
from typing import Any

from rich.console import Console
from rich.text import Text


class CursorShown(Console):
    """A console that never hides the cursor: nothing has to be put right if we are killed."""

    def show_cursor(self, show: bool = True) -> bool:
        """Leave the cursor as it is."""
        return False


def is_dumb() -> bool:
    """Tell whether the terminal can only print."""
    return os.environ.get("TERM", "").lower() in ("dumb", "unknown")


@lru_cache(maxsize=4)
def console_of(stream: Any) -> Console:
    """Return the console of a stream that is a terminal."""
    plain = bool(os.environ.get("NO_COLOR")) or is_dumb()
    return CursorShown(
        file=stream,
        force_terminal=True,
        color_system=None if plain else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )


def print_line(stream: Any, text: str, style: str = "", *, wraps: bool = False) -> None:
    """Print a line on a terminal, cut at its width unless it wraps, then between words."""
    console, line = console_of(stream), Text(text, style)
    lines = line.wrap(console, console.width, overflow="fold") if wraps else [line]
    for each in lines:
        if wraps:
            each.rstrip()
        console.print(each, no_wrap=True, overflow="crop")
