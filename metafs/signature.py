r"""How a problem is described: a sparse discrete distribution, 64-bit key to probability.

.. math:: JSD(P, Q) = 1 - \tfrac12 \sum_{shared} [(p+q)\log_2(p+q) - p\log_2 p - q\log_2 q]

needs only the keys that two problems share, and its square root is a metric in [0, 1].
At most `MAX_KEYS` keys are kept, the heaviest first; what remains lies in one key of its
own, so memory stays small and the distance stays a metric.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from metafs.typing import Array

MAX_KEYS = 512
REST = np.uint64(0)
"""The key that holds the mass of all keys which were not kept."""


@dataclass(frozen=True, eq=False)
class Signature:
    """A distribution over 64-bit keys: `keys` ascending and distinct, `p` positive, sum one."""

    keys: Array
    p: Array

    def __post_init__(self) -> None:
        if len(self.keys) == 0 or self.keys.shape != self.p.shape:
            raise ValueError("a signature needs as many probabilities as keys, and at least one")
        if not (np.all(self.p > 0) and abs(float(self.p.sum()) - 1.0) < 1e-9):
            raise ValueError("the probabilities of a signature are positive and sum to one")
        if np.any(self.keys[1:] <= self.keys[:-1]):
            raise ValueError("the keys of a signature are distinct and ascending")


def signature_of(keys: Array, mass: Array) -> Signature:
    """Collect mass by key into a signature, keeping the heaviest keys.

    Examples
    --------
    >>> signature_of(np.array([7, 5, 7], dtype=np.uint64), np.ones(3)).p.round(2)
    array([0.33, 0.67])
    """
    distinct, inverse = np.unique(np.asarray(keys, dtype=np.uint64), return_inverse=True)
    p = np.bincount(inverse, weights=mass)
    p = p / p.sum()
    positive = p > 0
    distinct, p = distinct[positive], p[positive]
    if len(distinct) > MAX_KEYS:
        # Equal masses are kept in order of key, so that the choice never depends on order of input.
        heaviest = np.lexsort((distinct, -np.round(p, 12)))[: MAX_KEYS - 1]
        kept = np.sort(heaviest)
        rest = max(1.0 - float(p[kept].sum()), np.finfo(float).tiny)
        distinct, p = np.append(REST, distinct[kept]), np.append(rest, p[kept])
        p = p / p.sum()
    return Signature(distinct, p)


def hash_key(*parts: str) -> int:
    """Return a 64-bit key for a tuple of texts; never the key of the rest.

    Examples
    --------
    >>> hash_key("pixel_3_4", "q1") == hash_key("pixel_3_4", "q1")
    True
    """
    text = "\x1f".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "little") or 1


def hash_keys(texts: Iterable[tuple[str, ...]]) -> Array:
    """Return the keys of many tuples of texts."""
    return np.array([hash_key(*parts) for parts in texts], dtype=np.uint64)


def jensen_shannon(a: Signature, b: Signature) -> float:
    """Return the Jensen-Shannon divergence in bits, between 0 and 1.

    Rounded to 12 decimals, as the MetaDB does, so that a problem is at distance 0 from
    itself and ties are ties whoever computes them.
    """
    _, in_a, in_b = np.intersect1d(a.keys, b.keys, assume_unique=True, return_indices=True)
    p, q = a.p[in_a], b.p[in_b]
    shared = (p + q) * np.log2(p + q) - p * np.log2(p) - q * np.log2(q)
    return float(np.clip(np.round(1.0 - 0.5 * shared.sum(), 12), 0.0, 1.0))
