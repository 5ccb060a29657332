"""Engines: where the problems of a wave are worked on, side by side.

An engine maps a function over tasks and yields results in the order of the tasks, so
answers never depend on the engine or on the number of jobs. The driver alone writes.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor

from metafs.errors import UsageError

ENGINES = ("local", "dask")
Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


@contextmanager
def open_engine(engine: str = "local", jobs: int = 1) -> Iterator[Map]:
    """Give a ``map`` that runs on this machine's cores or on a Dask cluster.

    Examples
    --------
    >>> with open_engine() as side_by_side:
    ...     list(side_by_side(abs, [-1, 2]))
    [1, 2]
    """
    require_engine(engine, jobs)
    if engine == "dask":
        with _dask_client(jobs) as client:
            yield lambda function, tasks: client.gather(
                client.map(function, list(tasks), pure=False), direct=False
            ).__iter__()
    elif jobs == 1:
        yield map
    else:
        # Processes, not threads: a selector spends its time in Python as well as in BLAS.
        try:
            yield lambda function, tasks: Parallel(n_jobs=jobs, return_as="generator")(
                delayed(function)(task) for task in tasks
            )
        except BaseException:  # interrupted or abandoned: nobody waits for the workers any more
            get_reusable_executor().shutdown(wait=True, kill_workers=True)
            raise


def require_engine(engine: str, jobs: int) -> None:
    """Refuse an engine that is unknown or not installed, and a number of jobs without meaning."""
    if engine not in ENGINES:
        raise UsageError(f"there is no engine named {engine!r}: there are {', '.join(ENGINES)}.")
    if jobs < 1 and jobs != -1:
        raise UsageError(f"jobs must be at least 1, or -1 for every core, not {jobs}.")
    if engine == "dask" and find_spec("distributed") is None:
        raise UsageError("the dask engine needs: pip install 'metafs-automl[dask]'.")


def _dask_client(jobs: int) -> Any:
    """Connect to the scheduler that Dask's configuration names, or start one on this machine."""
    import dask
    from distributed import Client

    if dask.config.get("scheduler-address", None):
        return Client()
    return Client(
        n_workers=None if jobs < 0 else jobs, threads_per_worker=1, dashboard_address=None
    )
