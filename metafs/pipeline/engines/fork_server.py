"""Worker processes, and the server that forks them.

A plugin may end the process it runs in, or leave it in a state in which the next problem fails. So
it never runs in the process that holds the stream. The fork server is forked once, before any
plugin has run; it runs no plugin itself, and forks a worker whenever one is wanted. A worker is
ready within milliseconds, because it inherits all that was imported.

No worker outlives the stream, however that ends: the server kills the workers when the connection
to its parent closes or its parent is gone, and the kernel kills a worker whose server is gone.
"""

import gc
import os
import select
import signal
import socket
import sys
import traceback
import warnings
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NoReturn

import cloudpickle

from metafs.memory.uninterrupted import uninterrupted
from metafs.pipeline.engines.worker import WorkerLoop
from metafs.pipeline.events import Event

AVAILABLE = sys.platform == "linux"
"""Elsewhere libraries of linear algebra are known to hang in a forked process."""

POLL_S = 1.0
"""Seconds between checks whether the parent is alive."""

START, END, QUIT = b"+", b"-", b"q"
PID_BYTES = 8


class Worker:
    """A worker process, as its parent sees it."""

    def __init__(self, server: "ForkServer", pid: int, connection: "Connection[Any, Any]") -> None:
        self.server, self.pid, self.connection = server, pid, connection
        self._function: Callable[[Any], Any] | None = None

    def send(self, function: Callable[[Any], Any], task: Any) -> None:
        """Start to work on a task; the function is sent only if it is another than before."""
        pickled = cloudpickle.dumps(task)
        new = b"" if function is self._function else cloudpickle.dumps(function)
        self.connection.send_bytes(new)
        self.connection.send_bytes(pickled)
        self._function = function

    def interrupt(self) -> None:
        """Ask for the best that the function has by now; one that has nothing to keep ends."""
        os.kill(self.pid, signal.SIGINT)

    def answer(self) -> tuple[bool, Any, bool]:
        """Return whether the function returned, what it returned or raised, and if it is worn."""
        while isinstance(heard := self.heard(), Event):
            pass
        return heard

    def heard(self) -> tuple[bool, Any, bool] | Event:
        """Return the next that the worker says: an event, if it sends any, or its answer."""
        heard: tuple[bool, Any, bool] | Event = cloudpickle.loads(self.connection.recv_bytes())
        return heard


class ForkServer:
    """A process that forks workers, each of which may use so many threads, and may send events.

    Examples
    --------
    >>> server = ForkServer()
    >>> worker = server.start()
    >>> worker.send(abs, -3)
    >>> worker.answer()
    (True, 3, False)
    >>> server.close()
    """

    def __init__(self, n_threads: int | None = None, *, sends_events: bool = False) -> None:
        self._control, theirs = socket.socketpair()
        self._parent = os.getpid()
        try:
            with uninterrupted():  # what is raised in a callback of a fork is only printed
                self.pid = _fork()
                if not self.pid:
                    self._control.close()
                    _run(_Serving(theirs, self._parent, n_threads, sends_events).run)
                theirs.close()
        except KeyboardInterrupt:
            self.close()
            raise

    def start(self) -> Worker:
        """Fork a worker."""
        ours, theirs = Pipe()
        socket.send_fds(self._control, [START + bytes(PID_BYTES)], [theirs.fileno()])
        theirs.close()
        return Worker(self, self._number(), ours)

    def end(self, worker: Worker) -> int:
        """Kill a worker and all it has started; return its exit code, negative for a signal."""
        worker.connection.close()
        self._control.sendall(END + worker.pid.to_bytes(PID_BYTES, "little"))
        return self._number()

    def close(self) -> None:
        """Kill all workers, and end."""
        if os.getpid() != self._parent:
            return  # a copy in a process that was forked meanwhile
        try:
            self._control.sendall(QUIT + bytes(PID_BYTES))
        except OSError:
            pass  # it is gone
        self._control.close()
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass  # another thread has waited for it

    def _number(self) -> int:
        answer = self._control.recv(PID_BYTES, socket.MSG_WAITALL)
        if len(answer) < PID_BYTES:
            raise EOFError("the fork server has ended")
        return int.from_bytes(answer, "little", signed=True)


def _fork() -> int:
    """Fork; the child never returns to the code of its parent and must end by `os._exit`."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()  # or both processes would write what is in the buffer
    with warnings.catch_warnings():
        # Python warns of other threads. Their locks are not used in the child, or are Python's own.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if not pid:
        gc.freeze()  # what belongs to the parent is not ours to finalise
    return pid


def _run(work: Callable[[], object]) -> NoReturn:
    """Do the work of a forked process, then end it."""
    try:
        work()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


class _Serving:
    """The work of the fork server."""

    def __init__(
        self, control: socket.socket, parent: int, n_threads: int | None, sends_events: bool
    ) -> None:
        self._control, self._parent, self._n_threads = control, parent, n_threads
        self._sends_events = sends_events
        self._workers: set[int] = set()

    def run(self) -> None:
        os.setsid()  # Ctrl-C reaches the parent alone, which then closes us
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        # A worker is asked to stop by this signal, perhaps before it is ready to handle it.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            while (asked := self._asked()) is not None:
                request, fds = asked
                if request[:1] == START:
                    self._reply(self._start(fds[0]))
                else:
                    self._reply(self._end(int.from_bytes(request[1:], "little")))
        finally:
            for pid in tuple(self._workers):
                self._end(pid)

    def _asked(self) -> tuple[bytes, list[int]] | None:
        """Wait for a request; None if there will be no more."""
        while not select.select([self._control], [], [], POLL_S)[0]:
            if os.getppid() != self._parent:
                return None
        try:
            request, fds, _, _ = socket.recv_fds(self._control, 1 + PID_BYTES, 1)
        except OSError:
            return None
        return None if request[:1] in (b"", QUIT) else (request, fds)

    def _reply(self, number: int) -> None:
        self._control.sendall(number.to_bytes(PID_BYTES, "little", signed=True))

    def _start(self, fd: int) -> int:
        server = os.getpid()
        pid = _fork()
        if not pid:
            self._control.close()
            _run(WorkerLoop(fd, server, self._n_threads, self._sends_events).run)
        os.close(fd)
        self._workers.add(pid)
        return pid

    def _end(self, pid: int) -> int:
        self._workers.discard(pid)
        for kill in (os.kill, os.killpg):  # its group too, unless it has not made one yet
            try:
                kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
