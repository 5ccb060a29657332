"""Sets to start a guided climb from: promising features, many of them tried together."""

from collections.abc import Sequence

import numpy as np

from metafs.data.typing import Array

DOUBLED = (4, 8, 16, 32)
"""So many of the most promising features are tried together, if nobody knows how many to try."""
LARGE = 64
"""So many of the features that tell most alone are tried together, where size has no price."""


def likely_starts(order: Array, size: int, *, several: bool) -> list[Array]:
    """Return the most promising features, as many as are expected to be needed.

    If nothing is expected, ``several`` numbers are tried, or none.

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
    """Return starts for a measure under which a set is no worse for being large.

    Parameters
    ----------
    by_own : array of int
        The features, those that tell most alone first.
    proposed : sequence of arrays of int
        What memory proposes.

    Examples
    --------
    >>> [len(each) for each in large_starts(np.arange(100), [np.array([1, 98]), np.array([99])])]
    [66, 64]
    """
    most = by_relevance[:LARGE]
    alone = [most] if LARGE < len(by_relevance) else []
    return [np.unique(np.concatenate([most, *proposed])), *alone] if proposed else alone
