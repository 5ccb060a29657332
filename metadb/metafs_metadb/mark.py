"""The mark by which a process knows a file again that nobody has written to since.

A process that has written, and still has the file to itself, dates it to a nanosecond of its own
choosing. Whoever writes next leaves the time of the kernel's clock instead. So a file with that
time has the content it had then, even if it is a copy put back with its times, unless somebody was
killed and has left a write-ahead log. All of this is told without opening the file, for closing it
would drop the lock that this process holds on it.
"""

import os
import time
from pathlib import Path

LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")


class Mark:
    """Knows whether the file at `path` is as this process left it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._logs = [f"{path}{suffix}" for suffix in LOGS]
        self._left: int | None = None  # when this process left it, in nanoseconds

    def holds(self) -> bool:
        """Tell whether nobody wrote since `leave`; asked while the file is open here.

        A mark that once failed to hold is given up: what was learnt since is of another file.
        """
        if self._left is not None and (
            self._modified() != self._left or any(map(os.path.exists, self._logs))
        ):
            self._left = None
        return self._left is not None

    def leave(self) -> None:
        """Date the file; everything is written, and nobody else can write yet."""
        self._left = time.time_ns()
        try:
            os.utime(self._path, ns=(self._left, self._left))
        except OSError:  # somebody else's file, which we may write to but not date
            self._left = None
        if self._left != self._modified():  # rounded, so others' times may look the same
            self._left = None

    def _modified(self) -> int:
        return self._path.stat().st_mtime_ns
