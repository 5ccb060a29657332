"""Ctrl-C while a problem is solved: the best pipeline so far is its answer.

The first Ctrl-C breaks off the comparison of pipelines, and what follows is done as usual. A second
one ends everything, and so does the first where there is nothing yet that could be kept.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class _State(threading.local):
    """Signals only ever reach the main thread, so no other thread sees its state."""

    asked = False
    """Whether Ctrl-C was pressed."""
    waits = False
    """Whether the first Ctrl-C is only remembered."""


_state = _State()


def interrupt(number: int, frame: FrameType | None) -> None:
    """Handle SIGINT: remember it, and break off what does not wait."""
    first, _state.asked = not _state.asked, True
    if not (first and _state.waits):
        raise KeyboardInterrupt


def forget() -> None:
    """Begin anew: no Ctrl-C was pressed."""
    _state.asked = False


def is_interrupted() -> bool:
    """Tell whether Ctrl-C was pressed, in a block of `handled` or `waiting`."""
    return _state.asked


@contextmanager
def handled() -> Iterator[None]:
    """Let the first Ctrl-C of the block break off only what can be broken off.

    In a thread, and where the program has a handler of its own, everything is as it was.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    forget()
    previous = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        forget()


@contextmanager
def waiting() -> Iterator[None]:
    """Let the first Ctrl-C wait, except for what `ran_to_its_end` runs inside the block."""
    before, _state.waits = _state.waits, True
    try:
        yield
    finally:
        _state.waits = before


def ran_to_its_end(function: Callable[[], object]) -> bool:
    """Run a function; return whether it ended by itself, and was not broken off by Ctrl-C.

    Outside of a block that is `waiting` nobody would make use of what it has done by then, so
    Ctrl-C ends that too.

    Examples
    --------
    >>> ran_to_its_end(lambda: None)
    True
    """
    before, _state.waits = _state.waits, False
    try:
        if _state.asked:
            raise KeyboardInterrupt
        function()
    except KeyboardInterrupt:
        if not (before and _state.asked):
            raise
        return False
    finally:
        _state.waits = before
    return True
