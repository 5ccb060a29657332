"""Events: what is going on inside a problem, for a listener that shows it.

The pipeline emits an event when a phase begins and when another pipeline was scored. Whoever
listens is called with each: in the process of the stream itself, also for what happens in a worker
process, which sends its events through the connection that its answer comes through. Without a
listener nothing is sent. Events depend on the clock, so no answer ever depends on them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic

LEAST_SECONDS = 0.1
"""Between two events of a phase that a worker sends: people read no faster."""


@dataclass(frozen=True)
class Event:
    """A phase of a problem, and how far the choice of its pipeline has come."""

    problem: str
    phase: str
    """reading, describing, comparing pipelines, fitting, recording, or stopping after Ctrl-C."""
    n_scored: int = 0
    """Pipelines scored so far, on at least one fold."""
    best: float | None = None
    """The best mean score so far."""


Listener = Callable[[Event], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)


def emit(event: Event) -> None:
    """Tell the listener, if there is one."""
    listener = _LISTENER.get()
    if listener is not None:
        listener(event)


def is_heard() -> bool:
    """Tell whether anybody listens."""
    return _LISTENER.get() is not None


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Call a listener with the events of the block.

    Examples
    --------
    >>> with listening(print):
    ...     emit(Event("iris", "fitting"))
    Event(problem='iris', phase='fitting', n_scored=0, best=None)
    """
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


class Thinned:
    """A listener that passes on only some of many events: every change of phase, and few others."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._last = ("", "")
        self._at = -LEAST_SECONDS

    def __call__(self, event: Event) -> None:
        """Pass an event on, unless the last one of its phase was just now."""
        now, which = monotonic(), (event.problem, event.phase)
        if which != self._last or now - self._at >= LEAST_SECONDS:
            self._last, self._at = which, now
            self._listener(event)
