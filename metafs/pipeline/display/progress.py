"""Progress: the current problem, its phase, the best score so far, speed and time left.

It is one line, which is rewritten in place: on a terminal by rich, in a notebook by the notebook.
There is no thread that would redraw it, because worker processes are forked from this one. Where
it is too narrow for all, what matters least is left out and the name is shortened.
"""

import sys
from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from metafs.data.printable import n_columns, one_line, shortened
from metafs.pipeline.events import Event

if TYPE_CHECKING:
    from rich.console import Console

    from metafs.pipeline.solution import Solution

LEAST_NAME = 8
DROPPED_FIRST = ("speed", "phase", "left", "scored", "best")
"""What a narrow line does without, the least important first."""


class Line(Protocol):
    """A line that can be rewritten and taken away."""

    def show(self, text: str) -> None:
        """Show a text in place of the one before."""

    def clear(self) -> None:
        """Take the line away, so that something else can be printed."""


class OnTerminal:
    """The last line of a terminal."""

    def __init__(self, console: "Console") -> None:
        self._console = console
        self._live: Any = None

    def show(self, text: str) -> None:
        """Show a text in place of the one before."""
        from rich.live import Live
        from rich.text import Text

        shown = Text(text, no_wrap=True, overflow="crop")
        if self._live is None:
            self._live = Live(
                shown,
                console=self._console,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start(refresh=True)
        else:
            self._live.update(shown, refresh=True)

    def clear(self) -> None:
        """Take the line away."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class InNotebook:
    """A line of the output of a notebook's cell, as plain text."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str) -> None:
        """Show a text in place of the one before."""
        from IPython.display import display

        content = {"text/plain": text}
        if self._handle is None:
            self._handle = display(content, raw=True, display_id=True)
        else:
            self._handle.update(content, raw=True)

    def clear(self) -> None:
        """Empty the line."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)


class Progress:
    """One line on stderr that is rewritten; silent where that is no terminal and no notebook.

    It is a listener: `metafs.solve(..., progress=True)` calls it with each event.
    """

    def __init__(self, total: int, what: str = "problems") -> None:
        self._total, self._what = total, what
        self._done = 0
        self._started = monotonic()
        self._width = 0
        self._line = self._opened()
        self.is_shown = self._line is not None

    def _opened(self) -> Line | None:
        if sys.stderr is None or ("ipykernel" not in sys.modules and not sys.stderr.isatty()):
            return None
        from metafs.pipeline.display.console import console_of, is_dumb

        if not sys.stderr.isatty():
            self._width = 100
            return InNotebook()
        if is_dumb():
            return None
        return OnTerminal(console_of(sys.stderr))

    def __call__(self, event: Event) -> None:
        """Show what is going on inside a problem."""
        self._show(event.problem, _parts(event))

    def working_on(self, name: str, doing: str = "") -> None:
        """Show which problem is being solved, and what is being done to it."""
        self._show(name, {"phase": doing} if doing else {})

    def _show(self, name: str, parts: dict[str, str]) -> None:
        if self._line is None:
            return
        elapsed = monotonic() - self._started
        if self._done and elapsed > 0:
            speed = self._done / elapsed
            parts |= {
                "speed": f"{speed:.1f} {self._what}/s",
                "left": f"{format_seconds((self._total - self._done) / speed)} left",
            }
        place = f"[{min(self._done + 1, self._total)}/{self._total}]"
        self._line.show(fitted(self._columns() - 1, place, one_line(name), parts))

    def _columns(self) -> int:
        if self._width:
            return self._width
        from metafs.pipeline.display.console import console_of

        return console_of(sys.stderr).width

    def clear(self) -> None:
        """Take the line away, so that something else can be printed."""
        if self._line is not None:
            self._line.clear()

    def done(self) -> None:
        """Count a problem as done."""
        self._done += 1

    def through(self, solutions: "Iterator[Solution]") -> "Iterator[Solution]":
        """Count the solutions of a stream as they come; the line is away while they are used."""
        try:
            for each in solutions:
                self.done()
                self.clear()
                yield each
        finally:
            self.clear()


def fitted(width: int, place: str, name: str, parts: dict[str, str]) -> str:
    """Return the line of so many columns.

    Examples
    --------
    >>> parts = {"phase": "comparing pipelines", "scored": "12 scored", "best": "best 0.951"}
    >>> fitted(80, "[3/45]", "digits 0 vs 3", parts | {"left": "12 s left"})
    '[3/45] digits 0 vs 3: comparing pipelines, 12 scored, best 0.951   12 s left'
    >>> fitted(39, "[3/45]", "digits 0 vs 3", parts | {"left": "12 s left"})
    '[3/45] digi…vs 3: 12 scored, best 0.951'
    """
    kept = dict(parts)
    for each in (None, *DROPPED_FIRST):
        kept.pop(each or "", None)
        room = width - n_columns(_joined(place, "", kept))
        if room >= min(n_columns(name), LEAST_NAME):
            return _joined(place, shortened(name, room), kept)
    return shortened(f"{place} {name}", width, middle=False)


def _joined(place: str, name: str, parts: dict[str, str]) -> str:
    doing = ", ".join(parts[each] for each in ("phase", "scored", "best") if each in parts)
    at_end = [parts[each] for each in ("speed", "left") if each in parts]
    return "   ".join([f"{place} {name}" + (f": {doing}" if doing else ""), *at_end])


def _parts(event: Event) -> dict[str, str]:
    """Return the words for an event, by what they say."""
    parts = {"phase": event.phase}
    if event.n_scored:
        parts["scored"] = f"{event.n_scored} scored"
        if event.best is not None:
            parts["best"] = f"best {event.best:.3f}"
    return parts


def format_seconds(seconds: float) -> str:
    """Return a duration as people say it.

    Examples
    --------
    >>> format_seconds(75)
    '1 min 15 s'
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
