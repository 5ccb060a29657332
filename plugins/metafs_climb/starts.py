"""Starting sets of a guided climb: features of high priority, tried together."""

from collections.abc import Sequence

import numpy as np

from metafs.data.typing import Array

DOUBLED = (4, 8, 16, 32)
"""Sizes of the starting sets if the number of features to select is unknown."""
LARGE = 64
"""Size of the starting set if the measure does not penalise size."""


def likely_starts(order: Array, size: int, *, several: bool) -> list[Array]:
    """Return starting sets: the first ``size`` features of the order.

    If ``size`` is 0, return sets of ``several`` sizes, or none.

    Examples
    --------
    >>> [len(each) for each in likely_starts(np.arange(20), 5, several=True)]
    [5]
    >>> [len(each) for each in likely_starts(np.arange(20), 0, several=True)]
    [4, 8, 16]
    """
    if size:
        return [order[:size]]
    return [order[:n] for n in DOUBLED if n <= len(order)] if several else []


def large_starts(by_relevance: Array, proposed: Sequence[Array]) -> list[Array]:
    """Return starting sets for a measure that does not penalise size.

    Parameters
    ----------
    by_own : array of int
        The features, highest univariate relevance first.
    proposed : sequence of arrays of int
        Sets that memory proposes.

    Examples
    --------
    >>> [len(each) for each in large_starts(np.arange(100), [np.array([1, 98]), np.array([99])])]
    [66, 64]
    """
    most = by_relevance[:LARGE]
    alone = [most] if LARGE < len(by_relevance) else []
    return [np.unique(np.concatenate([most, *proposed])), *alone] if proposed else alone
