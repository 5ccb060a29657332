"""The work of a worker process: one task after the other, until its connection closes."""

import ctypes
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NoReturn

import cloudpickle
from threadpoolctl import threadpool_limits

from metafs.errors import MetafsError, describe
from metafs.pipeline.engines import interruption
from metafs.pipeline.events import Event, Thinned, listening

PR_SET_PDEATHSIG = 1


class WorkerError(MetafsError):
    """A worker process ended before it had an answer, or what it raised was no error."""


class WorkerLoop:
    """The work of a worker."""

    def __init__(self, fd: int, server: int, n_threads: int | None, sends_events: bool) -> None:
        self._connection: Connection[Any, Any] = Connection(fd)
        self._server, self._n_threads = server, n_threads
        self._listener = Thinned(self._send_event) if sends_events else None

    def _send_event(self, event: Event) -> None:
        self._connection.send_bytes(cloudpickle.dumps(event))

    def run(self) -> NoReturn:
        """Work until there are no more tasks, and end the process."""
        os.setpgid(0, 0)  # what a plugin starts can be killed with the worker
        interruption.forget()
        with interruption.waiting():
            signal.signal(signal.SIGINT, interruption.interrupt)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            self._prepare()
            self._answer_all()

    def _prepare(self) -> None:
        _die_with(self._server)
        _close_stdin()
        # GNU OpenMP waits for ever in a child of a process that has used several of its threads.
        threadpool_limits(1, user_api="openmp")
        if self._n_threads is not None:
            threadpool_limits(self._n_threads, user_api="blas")
            os.environ["LOKY_MAX_CPU_COUNT"] = str(self._n_threads)

    def _answer_all(self) -> NoReturn:
        pid, before = os.getpid(), _state()
        function: Any = None
        while True:
            try:
                new, task = self._connection.recv_bytes(), self._connection.recv_bytes()
            except (EOFError, OSError):
                os._exit(0)
            function = cloudpickle.loads(new) if new else function
            with listening(self._listener):
                done, value = _attempt(function, task)
            if os.getpid() != pid:
                os._exit(0)  # a plugin forked, and its child came back to us
            signal.setitimer(signal.ITIMER_REAL, 0)
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            self._connection.send_bytes(_pickled(done, value, _state() != before))
            interruption.forget()


def _attempt(function: Callable[[Any], Any], task: bytes) -> tuple[bool, Any]:
    """Return whether the function returned, and what it returned or raised."""
    found: list[Any] = []
    try:
        if interruption.broken_off(lambda: found.append(function(cloudpickle.loads(task)))):
            return False, KeyboardInterrupt()
        return True, found[0]
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)))
        return False, error
    except BaseException as error:
        return False, WorkerError(describe(error))


def _pickled(done: bool, value: Any, worn: bool) -> bytes:
    try:
        pickled: bytes = cloudpickle.dumps((done, value, worn))
        if not done:
            cloudpickle.loads(pickled)  # some exceptions can be written and not be read
    except Exception as error:
        answer = describe(error if done else value)
        pickled = cloudpickle.dumps((False, WorkerError(answer), worn))
    return pickled


def _state() -> tuple[Any, ...]:
    """Return what must be as before for a worker to be used again."""
    left = [each for each in threading.enumerate() if not _kept_by_joblib(each)]
    try:
        folder = os.getcwd()
    except FileNotFoundError:
        folder = ""
    return folder, len(left), dict(os.environ)


def _kept_by_joblib(thread: threading.Thread) -> bool:
    """Return whether a thread is an idle one of joblib's, which keeps processes for reuse."""
    return type(thread).__module__.startswith("joblib.") or thread.name == "QueueFeederThread"


def _die_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _close_stdin() -> None:
    """Read nothing that is meant for the parent."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
