"""Threads of linear algebra and of OpenMP: one thread for small matrices.

Several threads do not speed up small matrices. On busy cores they wait for each other, and took ten
times as long as the work itself when measured; boosting on a small table, fifty times.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

SMALL = 2**20
"""Values of a matrix up to which one thread is the better choice."""


@cache
def _pools() -> Any:
    import sklearn.utils._openmp_helpers  # noqa: F401  (loads OpenMP: pools are found once loaded)

    return ThreadpoolController()


def threads_for(n_values: int) -> AbstractContextManager[Any]:
    """Return a context that limits work on a matrix of this size to one thread if it is small.

    Examples
    --------
    >>> with threads_for(300 * 64):
    ...     pass
    """
    if n_values > SMALL:
        return nullcontext()
    limited: AbstractContextManager[Any] = _pools().limit(limits=1)
    return limited
