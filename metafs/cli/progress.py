"""Progress on stderr: the current problem, its phase, speed and time left, on a terminal only."""

import sys
from shutil import get_terminal_size
from time import monotonic

import click

from metafs.cli.output import one_line
from metafs.pipeline.events import Event


class Progress:
    """One line that is rewritten; silent when stderr is not a terminal."""

    def __init__(self, total: int, what: str = "problems") -> None:
        self._total, self._what = total, what
        self._done = 0
        self._started = monotonic()
        self.is_shown = sys.stderr.isatty()

    def __call__(self, event: Event) -> None:
        """Show what is going on inside a problem."""
        self.working_on(event.problem, in_words(event))

    def working_on(self, name: str, doing: str = "") -> None:
        """Show which problem is being solved, and what is being done to it."""
        if not self.is_shown:
            return
        line = f"[{min(self._done + 1, self._total)}/{self._total}] {one_line(name)}"
        if doing:
            line += f": {doing}"
        elapsed = monotonic() - self._started
        if self._done and elapsed > 0:
            speed = self._done / elapsed
            left = (self._total - self._done) / speed
            line += f"   {speed:.1f} {self._what}/s   {format_seconds(left)} left"
        width = get_terminal_size().columns
        click.echo(f"\r\x1b[K{line[: width - 1]}", nl=False, err=True)

    def clear(self) -> None:
        """Take the line away, so that something else can be printed."""
        if self.is_shown:
            click.echo("\r\x1b[K", nl=False, err=True)

    def done(self) -> None:
        """Count a problem as done."""
        self._done += 1


def in_words(event: Event) -> str:
    """Return the phase, and how many pipelines were scored if any was.

    Examples
    --------
    >>> in_words(Event("iris", "comparing pipelines", 12, 0.9512))
    'comparing pipelines, 12 scored, best 0.951'
    """
    if not event.n_scored:
        return event.phase
    best = "" if event.best is None else f", best {event.best:.3f}"
    return f"{event.phase}, {event.n_scored} scored{best}"


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
