"""The sets a climb tries next: features to add or remove, d at a time, drawn at random."""

from itertools import combinations
from math import comb

import numpy as np

from metafs.data.typing import Array


def n_proposals(m: int, n_features: int, d: int) -> int:
    """Return h, the number of sets to try at distance d with m evaluations left.

    This is the paper's min(m / 10, n_features ** d) in integers, at least 1, counting each set
    once; it is 0 if fewer than d features are left.

    Examples
    --------
    >>> n_proposals(1000, 64, 1), n_proposals(1000, 64, 2), n_proposals(9, 64, 1)
    (64, 100, 1)
    """
    return min(max(1, m // 10), comb(n_features, d))


def proposals(rng: np.random.Generator, h: int, d: int, n_features: int) -> Array:
    """Return h rows of d distinct features each, drawn uniformly.

    With d = 1, or with h equal to the number of all sets, no row occurs twice.
    """
    if d == 1:
        return rng.permutation(n_features)[:h, None]
    if h == comb(n_features, d):
        sets = np.array(list(combinations(range(n_features), d)), dtype=np.int64)
        return rng.permutation(sets.reshape(-1, d))
    drawn = np.empty((h, d), dtype=np.int64)
    for slot in range(d):
        redraw = np.arange(h)
        while len(redraw):
            drawn[redraw, slot] = rng.integers(n_features, size=len(redraw))
            taken = (drawn[redraw, :slot] == drawn[redraw, slot, None]).any(axis=1)
            redraw = redraw[taken]
    return drawn
