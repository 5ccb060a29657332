"""Engines: where the problems of a wave are worked on, side by side.

An engine maps a function over tasks and yields results in the order of the tasks, so
answers never depend on the engine or on the number of jobs. The driver alone writes.

The function runs in worker processes, also for one job: a plugin that ends its process, or leaves
it in another state, costs the task it was called for and no other (`fork_server`). Such a task
raises `WorkerError` when its turn comes; the results after it can still be had.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from multiprocessing.connection import wait
from typing import Any

from joblib import Parallel, cpu_count, delayed

from metafs.errors import UsageError
from metafs.pipeline.fork_server import AVAILABLE, ForkServer, Worker, WorkerError

ENGINES = ("local", "dask", "inline")
Function = Callable[[Any], Any]
Map = Callable[[Function, Iterable[Any]], Iterator[Any]]


@contextmanager
def open_engine(engine: str = "local", jobs: int = 1) -> Iterator[Map]:
    """Give a ``map`` that runs on this machine's cores or on a Dask cluster.

    ``inline`` is this process itself, without any protection: for a debugger.

    Examples
    --------
    >>> with open_engine() as side_by_side:
    ...     list(side_by_side(abs, [-1, 2]))
    [1, 2]
    """
    require_engine(engine, jobs)
    if engine == "dask":
        with _dask_client(jobs) as client:
            yield partial(_map_in_dask, client)
    elif engine == "inline" or (jobs == 1 and not AVAILABLE):
        yield map
    elif not AVAILABLE:
        yield lambda function, tasks: Parallel(n_jobs=jobs, return_as="generator")(
            delayed(function)(task) for task in tasks
        )
    else:
        pool = Pool(cpu_count() if jobs < 0 else jobs)
        try:
            yield pool.map
        finally:
            pool.close()


def require_engine(engine: str, jobs: int) -> None:
    """Refuse an engine that is unknown or not installed, and a number of jobs without meaning."""
    if engine not in ENGINES:
        raise UsageError(f"there is no engine named {engine!r}: there are {', '.join(ENGINES)}.")
    if jobs < 1 and jobs != -1:
        raise UsageError(f"jobs must be at least 1, or -1 for every core, not {jobs}.")
    if engine == "inline" and jobs != 1:
        raise UsageError(f"engine 'inline' has one process, not {jobs} jobs: choose local.")
    if engine == "dask" and find_spec("distributed") is None:
        raise UsageError("the dask engine needs: pip install 'metafs-automl[dask]'.")


class Pool:
    """Worker processes of this machine, started when there is something to do."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        # Several workers share the cores; one has them all.
        self._n_threads = None if jobs == 1 else max(1, cpu_count() // jobs)
        self._server = ForkServer(self._n_threads)
        self._idle: list[Worker] = []

    def map(self, function: Function, tasks: Iterable[Any]) -> Iterator[Any]:
        """Apply a function to each task and return an iterator over what it returns."""
        return Results(self, function, list(tasks))

    def start(self, function: Function, task: Any) -> Worker:
        """Give a task to a worker; a worker that died while idle is replaced."""
        while self._idle:
            worker = self._idle.pop()
            try:
                worker.send(function, task)
                return worker
            except OSError:
                self.end(worker)
        try:
            worker = self._server.start()
        except (OSError, EOFError):  # somebody has killed the server, and with it the workers
            self._server.close()
            self._server = ForkServer(self._n_threads)
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
        """Kill all workers."""
        self._server.close()


class Results:
    """An iterator over the results of tasks; one that failed does not end it."""

    def __init__(self, pool: Pool, function: Function, tasks: Sequence[Any]) -> None:
        self._pool, self._function, self._tasks = pool, function, tasks
        self._busy: dict[Any, tuple[int, Worker]] = {}
        self._found: dict[int, tuple[bool, Any]] = {}
        self._waiting = deque(range(len(tasks)))
        self._again: set[int] = set()
        self._n_told = 0

    def __iter__(self) -> "Results":
        return self

    def __next__(self) -> Any:
        """Return what the function returned for the next task, or raise what it raised."""
        if self._n_told == len(self._tasks):
            raise StopIteration
        self._start()
        while self._n_told not in self._found:
            for connection in wait(list(self._busy)):
                self._collect(*self._busy.pop(connection))
            self._start()
        done, value = self._found.pop(self._n_told)
        self._n_told += 1
        if not done:
            raise value
        return value

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

    def _collect(self, place: int, worker: Worker) -> None:
        """Take a worker's answer, and keep the worker if it is fit for another task."""
        try:
            done, value, worn = worker.answer()
        except (OSError, EOFError):
            ended = self._pool.end(worker)
            if ended is None and place not in self._again:  # killed from outside, most likely
                self._again.add(place)
                self._waiting.appendleft(place)
                return
            told = ended or "ended together with its fork server"
            self._found[place] = False, WorkerError(f"the worker process {told}")
            return
        self._found[place] = done, value
        if worn:
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


_of_thread = threading.local()


def _apart(function: Function, task: Any) -> tuple[bool, Any]:
    """Run a function in a worker process of this Dask worker, which then survives it."""
    if not AVAILABLE:
        return True, function(task)
    pool = getattr(_of_thread, "pool", None)
    if pool is None or pool[0] != os.getpid():
        pool = _of_thread.pool = os.getpid(), Pool(1)
    try:
        return True, next(pool[1].map(function, [task]))
    except Exception as error:
        return False, error


def _map_in_dask(client: Any, function: Function, tasks: Iterable[Any]) -> Iterator[Any]:
    futures = client.map(partial(_apart, function), list(tasks), pure=False)

    def result(future: Any) -> Any:
        done, value = future.result()
        if not done:
            raise value
        return value

    return map(result, futures)


def _dask_client(jobs: int) -> Any:
    """Connect to the scheduler that Dask's configuration names, or start one on this machine."""
    import dask
    from distributed import Client

    if dask.config.get("scheduler-address", None):
        return Client()
    return Client(
        n_workers=None if jobs < 0 else jobs, threads_per_worker=1, dashboard_address=None
    )
