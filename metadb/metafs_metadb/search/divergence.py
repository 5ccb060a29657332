r"""The Jensen-Shannon divergence over shared keys, the same to the last digit as in SQL.

.. math:: JSD(p, q) = 1 - \sum_{k} a(p_k, q_k), \qquad
    a(x, y) = \tfrac12 \big[(x+y)\log_2(x+y) - x\log_2 x - y\log_2 y\big]

The affinity a is zero where x or y is, so only shared keys count. Each term of a is rounded to a
multiple of 2^-50 before it is added: sums of such numbers are exact in any order, so equal
problems come out equal, and the result is rounded to 12 digits.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]

UNITS = 2.0**50
DIGITS = 1e12


def affinity_units(x: Floats, y: Floats) -> Floats:
    """Return 2 a(x, y) for positive x and y, in whole units of 2^-50."""
    both = x + y
    return np.rint(UNITS * (both * np.log2(both) - x * np.log2(x) - y * np.log2(y)))


def from_units(units: Floats) -> Floats:
    """Return the divergence, rounded to 12 digits, of summed affinity units."""
    return np.maximum(np.rint((1 - units / (2 * UNITS)) * DIGITS) / DIGITS, 0.0)


class Distributions:
    """Sparse distributions, row after row: row i has keys[starts[i]:starts[i + 1]]."""

    def __init__(self, starts: Ints, keys: Ints, p: Floats) -> None:
        self.starts = starts
        self.lengths = np.diff(starts)
        self.keys = keys
        self.p = p

    def __len__(self) -> int:
        return len(self.lengths)

    def roots(self, n_keys: int) -> csr_array:
        """Return the square roots of all probabilities, in single precision."""
        roots = np.sqrt(self.p).astype(np.float32)
        fits = np.int32 if max(len(roots), n_keys) < 2**31 else np.int64  # half the memory
        parts = roots, self.keys.astype(fits), self.starts.astype(fits)
        return csr_array(parts, shape=(len(self), n_keys))

    def divergence(self, rows: Ints, q_by_key: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return for each row the divergence from q, and whether it shares a key with it."""
        lengths = self.lengths[rows]
        where = spans(self.starts[rows], lengths)
        q = q_by_key[self.keys[where]]
        shared = np.flatnonzero(q)
        owner = np.repeat(np.arange(len(rows)), lengths)[shared]
        units = affinity_units(self.p[where[shared]], q[shared])
        sums = np.asarray(np.bincount(owner, units, len(rows)), np.float64)
        return from_units(sums), np.bincount(owner, minlength=len(rows)) > 0


def spans(starts: Ints, lengths: Ints) -> Ints:
    """Return the positions starts[i] .. starts[i] + lengths[i] - 1 of all i, one after another."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - (ends - lengths), lengths))


class Best:
    """The problems evaluated so far, and the divergence that a newcomer has to beat."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.rows: Ints = np.empty(0, np.int64)
        self.values: Floats = np.empty(0)

    def offer(self, rows: Ints, values: Floats) -> None:
        """Take in rows that were not offered before, keeping ties with the k-th."""
        self.rows = np.concatenate([self.rows, rows])
        self.values = np.concatenate([self.values, values])
        keep = self.values <= self.to_beat
        self.rows, self.values = self.rows[keep], self.values[keep]

    @property
    def to_beat(self) -> float:
        """The k-th smallest divergence; infinite while there are fewer."""
        if len(self.values) < self.k:
            return np.inf
        return float(np.partition(self.values, self.k - 1)[self.k - 1])
