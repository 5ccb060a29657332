"""Ctrl-C or the time limit while a problem is solved: the best pipeline so far is its answer.

The first Ctrl-C breaks off the comparison of pipelines, and what follows is done as usual. A second
one ends everything, and so does the first where there is nothing yet that could be kept. When the
time is up, an alarm breaks off the comparison, also in the middle of a fit.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from types import FrameType
from typing import Literal

LONGEST_S = 1e8
"""What an alarm is set to at most: systems refuse a time that they cannot count."""

Reason = Literal["interrupted", "late"]


class Late(KeyboardInterrupt):
    """The time is up."""


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
    """Let the first Ctrl-C wait, except for what `broken_off` runs inside the block."""
    before, _state.waits = _state.waits, True
    try:
        yield
    finally:
        _state.waits = before


def broken_off(function: Callable[[], object], until: float | None = None) -> Reason | None:
    """Run a function; return why it was broken off, None if it ended by itself.

    Outside of a block that is `waiting` nothing uses what it has done by the time of
    Ctrl-C, so Ctrl-C ends that too.

    Parameters
    ----------
    function : callable
    until : float, optional
        When the time is up, by `time.perf_counter`. In a thread, and where the program uses the
        alarm of its process itself, only the function can heed it.

    Examples
    --------
    >>> broken_off(lambda: None) is None
    True
    >>> broken_off(lambda: __import__("time").sleep(5), until=perf_counter() + 0.01)
    'late'
    """
    before, _state.waits = _state.waits, False
    try:
        if _state.asked:
            raise KeyboardInterrupt
        with _alarm(until):
            function()
    except Late:
        return "late"
    except KeyboardInterrupt:
        if not (before and _state.asked):
            raise
        return "interrupted"
    finally:
        _state.waits = before
    return None


@contextmanager
def _alarm(until: float | None) -> Iterator[None]:
    """Raise `Late` in the block when the time is up."""
    in_main = threading.current_thread() is threading.main_thread()
    if until is None or not in_main or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return
    if signal.getsignal(signal.SIGALRM) not in (signal.SIG_DFL, _ring):
        yield
        return
    try:
        try:
            signal.signal(signal.SIGALRM, _ring)
            left = until - perf_counter()
            signal.setitimer(signal.ITIMER_REAL, min(max(left, 1e-6), LONGEST_S))
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:  # the alarm may ring in the other one
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _ring(number: int, frame: FrameType | None) -> None:
    raise Late
