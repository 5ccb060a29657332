"""What the tests of the command share: calling it here or in a process of its own, and tables."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
from contextlib import contextmanager

import numpy as np
from click.testing import CliRunner
from sklearn.datasets import load_digits

from metafs.cli.app import cli

QUICK = ["--budget", "100", "--folds", "2"]

COMMAND = [sys.executable, "-c", "from metafs.cli import main; main()"]


def invoke(*arguments):
    return CliRunner().invoke(cli, [str(each) for each in arguments])


def run(*arguments, code=0):
    result = invoke(*arguments)
    assert result.exit_code == code, result.output
    return result


def start(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE):
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.Popen(command, stdout=stdout, stderr=stderr, text=True)


OUR_CODES = re.compile(r"\r?\x1b\[(?:[0-9;]*m|[0-9]*[AK])")
"""What we ourselves write: colours, and for the progress line going up and clearing a line."""


class Screen(threading.Thread):
    """What a terminal shows, read as it comes: whoever writes to it never has to wait."""

    def __init__(self, terminal):
        super().__init__(daemon=True)
        self.shown, self._ended = b"", False
        self._terminal, self._more = terminal, threading.Condition()
        self.start()

    def run(self):
        part = None
        while part != b"":
            part = self._read()
            with self._more:
                self.shown += part
                self._ended = part == b""
                self._more.notify_all()
        os.close(self._terminal)

    def _read(self):
        try:
            return os.read(self._terminal, 65536)
        except OSError:  # Linux's way to say that the other side has closed
            return b""

    def wait_for(self, text):
        """Wait until a text was shown."""
        with self._more:
            self._more.wait_for(lambda: text in self.shown or self._ended, timeout=120)
        assert text in self.shown, self.shown.decode()

    def whole(self):
        """Return all that was shown, once everybody who wrote has ended."""
        self.join(timeout=120)
        return self.shown


@contextmanager
def terminal(*arguments, stdout=None, width=80, **options):
    """Start the command on a terminal of so many columns; give its process and the screen.

    What is printed to stdout goes there too, or where `stdout` says.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    command = [*COMMAND, *map(str, arguments)]
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=theirs if stdout is None else stdout,
        stderr=theirs,
        text=True,
        **options,
    ) as process:
        os.close(theirs)
        try:
            yield process, Screen(ours)
        finally:
            process.kill()


def on_a_terminal(*arguments, width=80, interrupt_at=None, **environment):
    """Run the command on a terminal of so many columns, and return all that it printed there.

    It gets Ctrl-C when a text was printed, if one is given.
    """
    kept = {name: value for name, value in os.environ.items() if name not in TERMINAL_VARIABLES}
    env = {**kept, "TERM": "xterm-256color", **environment}
    with terminal(*arguments, width=width, env=env) as (process, screen):
        if interrupt_at is not None:
            screen.wait_for(interrupt_at.encode())
            process.send_signal(signal.SIGINT)
        return screen.whole().decode().replace("\r\n", "\n")


TERMINAL_VARIABLES = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "COLORTERM", "TTY_COMPATIBLE"}


def left_standing(printed):
    """Return the lines that stay on a terminal: what was written over is gone, and so is colour."""
    lines = []
    for line in re.sub(r"\n\r?\x1b\[1A", "", printed).split("\n"):
        lines.append(OUR_CODES.sub("", re.split(r"\x1b\[2K", line)[-1]))
    return lines


def write_tables(folder, headers):
    """Write a table of eight columns and a class for each header; two neighbouring ones tell it."""
    for number, header in enumerate(headers):
        rng = np.random.default_rng(number)
        X = (rng.random((60, 8)) < 0.5).astype(int)
        y = np.where(X[:, number] + X[:, number + 1] >= 1, "yes", "no")
        lines = [",".join([*map(str, x), t]) for x, t in zip(X, y, strict=True)]
        (folder / f"t{number}.csv").write_text("\n".join([",".join(header), *lines]) + "\n")


def write_digits(folder, stream, pairs):
    """Write pairs of digits as csv files, and a stream that lists them."""
    digits = load_digits()
    names = [f"pixel_{j // 8}_{j % 8}" for j in range(64)]
    entries = []
    for one, two in pairs:
        rows = [
            ",".join([*(f"{value:g}" for value in x), f"digit {y}"])
            for x, y in zip(digits.data, digits.target, strict=True)
            if y in (one, two)
        ]
        path = folder / f"{one}-{two}.csv"
        path.write_text("\n".join([",".join([*names, "digit"]), *rows]) + "\n")
        entries.append(f'[[problem]]\nsource = "{path.name}"\ntarget = "digit"\n')
    stream.write_text("\n".join(entries))
