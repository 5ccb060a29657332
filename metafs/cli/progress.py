"""Progress on stderr: the current problem, speed and time left, on a terminal only."""

import sys
from shutil import get_terminal_size
from time import monotonic

import click

from metafs.cli.output import one_line


class Progress:
    """One line that is rewritten; silent when stderr is not a terminal."""

    def __init__(self, total: int, what: str = "problems") -> None:
        self._total, self._what = total, what
        self._done = 0
        self._started = monotonic()
        self._shown = sys.stderr.isatty()

    def working_on(self, name: str) -> None:
        """Show which problem is being solved."""
        if not self._shown:
            return
        line = f"[{min(self._done + 1, self._total)}/{self._total}] {one_line(name)}"
        elapsed = monotonic() - self._started
        if self._done and elapsed > 0:
            speed = self._done / elapsed
            left = (self._total - self._done) / speed
            line += f"   {speed:.1f} {self._what}/s   {format_seconds(left)} left"
        width = get_terminal_size().columns
        click.echo(f"\r\x1b[K{line[: width - 1]}", nl=False, err=True)

    def clear(self) -> None:
        """Take the line away, so that something else can be printed."""
        if self._shown:
            click.echo("\r\x1b[K", nl=False, err=True)

    def done(self) -> None:
        """Count a problem as done."""
        self._done += 1


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
