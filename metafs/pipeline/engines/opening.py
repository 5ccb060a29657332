"""Engines: where the problems of a batch are solved, in parallel.

An engine maps a function over tasks and yields results in the order of the tasks, so
results never depend on the engine or on the number of jobs. The driver alone writes.

The function runs in worker processes, also for one job: a plugin that ends its process, or leaves
it in another state, costs the task it was called for and no other (`fork_server`). Such a task
raises `WorkerError` in its place; the results after it are still returned.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any

from joblib import Parallel, cpu_count, delayed

from metafs.errors import UsageError
from metafs.pipeline.engines.cluster import open_dask
from metafs.pipeline.engines.fork_server import AVAILABLE
from metafs.pipeline.engines.interruption import handled, is_interrupted
from metafs.pipeline.engines.pool import Function, Map, Pool
from metafs.pipeline.events import Listener, listening

ENGINES = ("local", "dask", "inline")


@contextmanager
def open_engine(
    engine: str = "local", jobs: int = 1, listener: Listener | None = None
) -> Iterator[Map]:
    """Give a ``map`` that runs on this machine's cores or on a Dask cluster.

    ``inline`` is this process itself, without any protection: for a debugger. The listener hears
    the events of inline and local functions; those in a cluster cannot be heard.

    Examples
    --------
    >>> with open_engine() as side_by_side:
    ...     list(side_by_side(abs, [-1, 2]))
    [1, 2]
    """
    require_engine(engine, jobs)
    if engine == "dask":
        with open_dask(jobs) as in_dask:
            yield in_dask
    elif engine == "inline" or (jobs == 1 and not AVAILABLE):
        yield partial(_one_after_the_other, listener)
    elif not AVAILABLE:
        yield lambda function, tasks: Parallel(n_jobs=jobs, return_as="generator")(
            delayed(function)(task) for task in tasks
        )
    else:
        pool = Pool(cpu_count() if jobs < 0 else jobs, listener)
        try:
            yield pool.map
        finally:
            pool.close()


def _one_after_the_other(
    listener: Listener | None, function: Function, tasks: Iterable[Any]
) -> Iterator[Any]:
    """Apply a function to each task in this process; Ctrl-C is obeyed as in `pool.Results`."""
    for task in tasks:
        with handled(), listening(listener):
            found, ends = function(task), is_interrupted()
        yield found
        if ends:
            raise KeyboardInterrupt


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
