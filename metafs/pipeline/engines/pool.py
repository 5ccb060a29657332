"""A pool of worker processes on this machine, and an ordered map over them."""

import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import wait
from typing import Any

from joblib import cpu_count

from metafs.memory.uninterrupted import uninterrupted
from metafs.pipeline.engines.fork_server import ForkServer, Worker
from metafs.pipeline.engines.worker import WorkerError
from metafs.pipeline.events import Event, Listener

STOPPING = "stopping (Ctrl-C again: at once)"

Function = Callable[[Any], Any]
Map = Callable[[Function, Iterable[Any]], Iterator[Any]]


class Pool:
    """Worker processes of this machine, started when there is something to do."""

    def __init__(self, jobs: int, listener: Listener | None = None) -> None:
        self.jobs, self.listener = jobs, listener
        # Several workers share the cores; one has them all.
        self._n_threads = None if jobs == 1 else max(1, cpu_count() // jobs)
        self._server = self._new_server()
        self._idle: list[Worker] = []
        self.closed = False

    def _new_server(self) -> ForkServer:
        return ForkServer(self._n_threads, sends_events=self.listener is not None)

    def map(self, function: Function, tasks: Iterable[Any]) -> "Results":
        """Apply a function to each task and return an iterator over what it returns."""
        return Results(self, function, list(tasks))

    def start(self, function: Function, task: Any) -> Worker:
        """Give a task to a worker; a worker that died while idle is replaced."""
        if self.closed:
            raise WorkerError("the worker processes were ended")
        while self._idle:
            worker = self._idle.pop()
            try:
                worker.send(function, task)
                return worker
            except OSError:
                self.end(worker)
        try:
            worker = self._server.start()
        except (OSError, EOFError):  # the server was killed, and with it the workers
            self._server.close()
            self._server = self._new_server()
            worker = self._server.start()
        worker.send(function, task)
        return worker

    def keep(self, worker: Worker) -> None:
        """Let a worker wait for its next task."""
        self._idle.append(worker)

    def end(self, worker: Worker) -> str | None:
        """Kill a worker; return in words how it ended, None if its fork server is gone too."""
        try:
            return _in_words(worker.server.end(worker))
        except (OSError, EOFError):
            return None

    def close(self) -> None:
        """Kill all workers, and start no more."""
        self.closed = True
        self._server.close()


class Results:
    """An iterator over the results of tasks; one that failed does not end it.

    Ctrl-C does: the tasks that are being worked on are asked for the best they have by now, no
    other one is begun, and after these results the iterator raises `KeyboardInterrupt`. A second
    Ctrl-C is raised at once.
    """

    def __init__(self, pool: Pool, function: Function, tasks: Sequence[Any]) -> None:
        self._pool, self._function, self._tasks = pool, function, tasks
        self._busy: dict[Any, tuple[int, Worker]] = {}
        self._found: dict[int, tuple[bool, Any]] = {}
        self._waiting = deque(range(len(tasks)))
        self._again: set[int] = set()
        self._n_given = 0
        self._interrupted = False
        self._last = Event("", "")

    def __iter__(self) -> "Results":
        return self

    def __next__(self) -> Any:
        """Return what the function returned for the next task, or raise what it raised."""
        if self._n_given == len(self._tasks) and not self._interrupted:
            raise StopIteration
        while self._n_given not in self._found:
            if self._interrupted and not self._busy:
                raise KeyboardInterrupt
            try:
                self._work()
            except KeyboardInterrupt:
                self.interrupt()
        done, value = self._found.pop(self._n_given)
        self._n_given += 1
        if not done:
            raise value
        return value

    def interrupt(self) -> None:
        """Ask for the best that is found by now; a second time raise `KeyboardInterrupt`."""
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True
        self._waiting.clear()
        for _, worker in tuple(self._busy.values()):
            with suppress(ProcessLookupError):  # it has ended just now
                worker.interrupt()
        if self._pool.listener is not None:
            self._pool.listener(Event(self._last.problem, STOPPING))

    def _work(self) -> None:
        """Give every worker something to do, wait for one, and take what it says."""
        with uninterrupted():
            self._start()
        ready = wait(list(self._busy)) if self._busy else []
        with uninterrupted():
            for connection in ready:
                self._collect(*self._busy.pop(connection))

    def _start(self) -> None:
        """Give every worker something to do."""
        while len(self._busy) < self._pool.jobs and self._waiting:
            place = self._waiting.popleft()
            try:
                worker = self._pool.start(self._function, self._tasks[place])
            except Exception as error:  # a task that cannot be pickled
                self._found[place] = False, error
            else:
                self._busy[worker.connection] = place, worker
                if self._interrupted:  # in another thread, just now
                    worker.interrupt()

    def _collect(self, place: int, worker: Worker) -> None:
        """Take a worker's answer, and keep the worker if it is fit for another task."""
        try:
            heard = worker.heard()
        except (OSError, EOFError):
            ended = self._pool.end(worker)
            if ended is None and place not in self._again:  # killed from outside, most likely
                self._again.add(place)
                self._waiting.appendleft(place)
                return
            reason = ended or "ended together with its fork server"
            self._found[place] = False, WorkerError(f"the worker process {reason}")
            return
        if isinstance(heard, Event):
            self._busy[worker.connection] = place, worker
            self._last = heard
            if self._pool.listener is not None:
                self._pool.listener(heard)
            return
        done, value, worn = heard
        self._found[place] = done, value
        if worn or self._interrupted:  # the signal may come after the answer
            self._pool.end(worker)
        else:
            self._pool.keep(worker)


def _in_words(exit_code: int) -> str:
    """Say how a process ended.

    Examples
    --------
    >>> _in_words(3), _in_words(-11)
    ('ended with exit code 3', 'was killed by SIGSEGV (Segmentation fault)')
    """
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    name, words = signal.Signals(-exit_code).name, signal.strsignal(-exit_code)
    return f"was killed by {name} ({words})"
