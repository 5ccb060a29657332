"""Let Ctrl-C wait while something is written."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait until the block is done."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals only ever reach the main thread
        return
    interrupted: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        interrupted.append(number)

    previous = signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if interrupted:
        raise KeyboardInterrupt
