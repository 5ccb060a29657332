"""Which sets a climb tries next: features to add or remove, d at a time, drawn at random.

Without expectations every feature is as likely as any other. With them, a feature s is drawn
with probability (1 - e) P(s) / sum P + e / |F|: most draws follow what is expected, the share
e explores.
"""

from itertools import combinations
from math import comb

import numpy as np

from metafs.typing import Array

EXPLORE = 0.2


def draw_weights(expected: Array) -> Array | None:
    """Return the probability of drawing each feature; None where nothing is expected."""
    total = expected.sum()
    if total <= 0:
        return None
    weights: Array = (1 - EXPLORE) * expected / total + EXPLORE / len(expected)
    return weights


def n_proposals(m: int, n_features: int, d: int) -> int:
    """Return h, the sets to try at distance d with m evaluations left, as integers allow.

    The paper's min(m / 10, n_features ** d), at least 1, and counting each set only once.

    Examples
    --------
    >>> n_proposals(1000, 64, 1), n_proposals(1000, 64, 2), n_proposals(9, 64, 1)
    (64, 100, 1)
    """
    return min(max(1, m // 10), comb(n_features, d))


def proposals(
    rng: np.random.Generator, h: int, d: int, n_features: int, weights: Array | None = None
) -> Array:
    """Return h rows of d distinct features each, in the order in which to try them.

    No single feature is proposed twice, nor is any set if h is the number of all sets.
    """
    if d == 1 or h == comb(n_features, d):
        sets = np.arange(n_features)[:, None]
        if d > 1:
            sets = np.array(list(combinations(range(n_features), d)), dtype=np.int64)
            sets = sets.reshape(-1, d)
        # Gumbel's trick: the largest h keys are h weighted draws without replacement.
        keys = rng.gumbel(size=len(sets))
        if weights is not None:
            keys += np.log(weights)[sets].sum(axis=1)
        return sets[np.argsort(-keys, kind="stable")[:h]]
    drawn = np.empty((h, d), dtype=np.int64)
    for slot in range(d):
        redraw = np.arange(h)
        while len(redraw):
            drawn[redraw, slot] = _draw(rng, len(redraw), n_features, weights)
            taken = (drawn[redraw, :slot] == drawn[redraw, slot, None]).any(axis=1)
            redraw = redraw[taken]
    return drawn


def _draw(rng: np.random.Generator, size: int, n_features: int, weights: Array | None) -> Array:
    if weights is None:
        return rng.integers(n_features, size=size)
    return rng.choice(n_features, size=size, p=weights)
