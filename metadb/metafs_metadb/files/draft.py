"""Files that are written under another name, and put in place when they are whole."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

STALE_S = 3600.0
"""A draft this old was left behind by a process that died."""


@contextmanager
def draft_of(path: Path, stale_s: float = STALE_S) -> Iterator[Path]:
    """Give a name beside a file to write to, and remove what is left there afterwards.

    The name belongs to one thread, or one would take away what another is writing. What dead
    processes left goes as well, which shows by its age.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.new")
    for other in path.parent.glob(f".{escape(path.name)}.*.new*"):
        with suppress(OSError):  # another process may have removed it already
            if time.time() - other.stat().st_mtime > stale_s:
                other.unlink()
    try:
        yield draft
    finally:
        for left in (draft, draft.with_name(f"{draft.name}.wal")):
            left.unlink(missing_ok=True)
