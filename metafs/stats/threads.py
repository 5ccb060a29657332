"""Threads of linear algebra: one for matrices that are too small to be shared.

Several threads gain nothing on them. Where others use the cores they even wait for each other, ten
times as long as the work takes, as was seen.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController

SMALL = 2**20
"""Values of a matrix up to which one thread is the better choice."""


@cache
def _blas() -> Any:
    return ThreadpoolController().select(user_api="blas")


def threads_for(n_values: int) -> AbstractContextManager[Any]:
    """Return a context in which a matrix of so many values is worked on by one thread if small.

    Examples
    --------
    >>> with threads_for(300 * 64):
    ...     pass
    """
    if n_values > SMALL:
        return nullcontext()
    limited: AbstractContextManager[Any] = _blas().limit(limits=1)
    return limited
