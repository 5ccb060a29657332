r"""How a problem is described: a sparse discrete distribution, 64-bit key to probability.

.. math:: JSD(P, Q) = 1 - \tfrac12 \sum_{shared} [(p+q)\log_2(p+q) - p\log_2 p - q\log_2 q]

needs only the keys that two problems share, and its square root is a metric in [0, 1].
As a rule at most `MAX_KEYS` keys are kept, the heaviest first; what remains lies in one key that
belongs to this problem alone. So memory stays small, the distance stays a metric, and problems
never seem nearer than they are: the sum above only ever loses terms. With a common key for the
rest, data sets with thousands of distinct rows would seem near although they share none.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Protocol, runtime_checkable

import numpy as np

from metafs.data.typing import Array

MAX_KEYS = 512


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


@runtime_checkable
class DescribedOtherwise(Protocol):
    """A distance whose signatures were made otherwise in an earlier version of its plugin."""

    @property
    def earlier(self) -> Mapping[str, Any]:
        """The distances that compare those signatures, by the name under which they are kept."""


def signature_of(keys: Array, mass: Array, max_keys: int = MAX_KEYS) -> Signature:
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
    if len(distinct) > max_keys:
        # Equal masses are kept in order of key, so that the choice never depends on order of input.
        heaviest = np.lexsort((distinct, -np.round(p, 12)))[: max_keys - 1]
        kept = np.zeros(len(distinct), dtype=bool)
        kept[heaviest] = True
        rest_key = _key(distinct.tobytes() + np.round(p, 12).tobytes())
        distinct = np.append(distinct[kept], np.uint64(rest_key))
        p = np.append(p[kept], p[~kept].sum())
        order = np.argsort(distinct)
        distinct, p = distinct[order], p[order] / p.sum()
    return Signature(distinct, p)


def hash_key(*parts: str) -> int:
    """Return a 64-bit key for a tuple of texts.

    Examples
    --------
    >>> hash_key("pixel_3_4", "q1") == hash_key("pixel_3_4", "q1")
    True
    """
    return _key("\x1f".join(parts).encode("utf-8", "surrogatepass"))


def _key(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


def hash_keys(texts: Iterable[tuple[str, ...]]) -> Array:
    """Return the keys of many tuples of texts."""
    return np.array([hash_key(*parts) for parts in texts], dtype=np.uint64)


def jensen_shannon(a: Signature, b: Signature) -> float:
    """Return the Jensen-Shannon divergence in bits, between 0 and 1.

    Rounded to 12 decimals, as the MetaDB does, so that a problem is at distance 0 from itself.
    """
    _, in_a, in_b = np.intersect1d(a.keys, b.keys, assume_unique=True, return_indices=True)
    p, q = a.p[in_a], b.p[in_b]
    shared = (p + q) * np.log2(p + q) - p * np.log2(p) - q * np.log2(q)
    return float(np.clip(np.round(1.0 - 0.5 * shared.sum(), 12), 0.0, 1.0))
