"""The Dask engine: tasks go to a cluster, and each runs in a worker process of its Dask worker.

A plugin that ends its process then leaves the Dask worker alive. Otherwise Dask would run the task
again, up to four times, and with it those that waited for the same Dask worker.
"""

import logging
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from time import sleep
from typing import Any
from uuid import uuid4

from metafs.memory.uninterrupted import uninterrupted
from metafs.pipeline.engines.fork_server import AVAILABLE
from metafs.pipeline.engines.pool import Function, Map, Pool, Results

POLL_S = 0.02

_of_thread = threading.local()
_pools: list[Pool] = []
_running: dict[str, list[Results]] = {}
"""By stream what its tasks wait for in this Dask worker."""
_interrupted: set[str] = set()
"""The streams that Ctrl-C has ended."""


@contextmanager
def open_dask(jobs: int) -> Iterator[Map]:
    """Give a ``map`` over the workers of a cluster, and leave nothing running in the end."""
    started: list[Any] = []
    with _client(jobs) as client:
        try:
            yield partial(_map, client, started)
        finally:
            unfinished = [each for each in started if not each.done()]
            if unfinished:  # interrupted or abandoned: their results are not needed
                with suppress(Exception):
                    client.cancel(unfinished)
                    client.run(_end_pools)


def _map(
    client: Any, started: list[Any], function: Function, tasks: Iterable[Any]
) -> Iterator[Any]:
    stream = uuid4().hex
    futures = client.map(partial(_apart, stream, function), list(tasks), pure=False)
    started[:] = futures
    return _Futures(client, stream, futures)


class _Futures:
    """An iterator over the results of a stream's tasks, as `pool.Results` is."""

    def __init__(self, client: Any, stream: str, futures: Iterable[Any]) -> None:
        self._client, self._stream, self._futures = client, stream, iter(futures)
        self._interrupted = False

    def __iter__(self) -> "_Futures":
        return self

    def __next__(self) -> Any:
        future = next(self._futures, None)
        if future is None:
            raise KeyboardInterrupt if self._interrupted else StopIteration
        try:
            _wait(future)
        except KeyboardInterrupt:
            if self._interrupted:
                raise
            self._interrupted = True
            with uninterrupted():
                self._client.run(_interrupt, self._stream)
            _wait(future)
        with uninterrupted():
            done, value = future.result()
        if not done:
            raise value
        return value


def _wait(future: Any) -> None:
    """Wait for a future; Dask itself complains of Ctrl-C where it waits."""
    while not future.done():
        sleep(POLL_S)


def _apart(stream: str, function: Function, task: Any) -> tuple[bool, Any]:
    """Run a function in a worker process of this Dask worker, which then survives it."""
    if not AVAILABLE:
        return True, function(task)
    pool = getattr(_of_thread, "pool", None)
    if pool is None or pool.closed:
        pool = _of_thread.pool = Pool(1)
        _pools.append(pool)
    results = pool.map(function, [task])
    _running.setdefault(stream, []).append(results)
    try:
        if stream in _interrupted:
            return False, KeyboardInterrupt()
        return True, next(results)
    except (Exception, KeyboardInterrupt) as error:
        return False, error
    finally:
        _running[stream].remove(results)


def _interrupt(stream: str) -> None:
    """Ask the tasks of a stream that are worked on for the best they have, and begin no other."""
    _interrupted.add(stream)
    for each in tuple(_running.get(stream, ())):
        each.interrupt()


def _end_pools() -> None:
    """End what runs in this Dask worker; it can stop only when its threads are free."""
    for pool in _pools:
        pool.close()


@contextmanager
def _client(jobs: int) -> Iterator[Any]:
    """Connect to the scheduler that Dask's configuration names, or start one on this machine."""
    import dask
    from distributed import Client, LocalCluster

    if dask.config.get("scheduler-address", None):
        with Client() as client:
            yield client
        return
    with _children_ignore_ctrl_c():
        cluster = LocalCluster(
            n_workers=None if jobs < 0 else jobs,
            threads_per_worker=1,
            dashboard_address=":0",  # any port: the usual one may be taken
            silence_logs=logging.ERROR,
        )
    with cluster, Client(cluster) as client:
        yield client


@contextmanager
def _children_ignore_ctrl_c() -> Iterator[None]:
    """Start processes that ignore the terminal's Ctrl-C: their parent ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may change what signals do
        return
    # Blocking the signal would keep one that comes now, but multiprocessing unblocks it.
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
