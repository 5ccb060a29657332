r"""Search by posting lists, rarest key first: for memories with many distinct keys.

Reading the list of key k adds a(p_k, q_k) to every problem on it. When only lists with query mass
U are left, a problem with affinity A and mass m read so far has

.. math:: JSD \ge 1 - A - a(1 - m, U)

because a is concave and homogeneous, and a problem on none of the lists has JSD >= 1 - a(1, U).
The long lists come last, and as soon as no unseen problem can come under the k-th best divergence
found they need not be read: what is still possible among the seen is evaluated exactly.
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from metafs_metadb.divergence import (
    UNITS,
    Best,
    Distributions,
    Floats,
    Ints,
    affinity_units,
    from_units,
    largest_affinity,
    spans,
)

FIRST_READ = 8192  # postings before the first look at the bounds
GROWTH = 4
N_PROBES = 16  # evaluated beyond k, for a good k-th best
SLACK = 1e-6  # probabilities sum to one only almost


class RareFirst:
    """Posting lists of all keys, with accumulators that every search borrows."""

    def __init__(self, rows: Distributions, n_keys: int) -> None:
        n = len(rows)
        lists = csr_array((rows.p, rows.keys, rows.starts), shape=(n, n_keys)).tocsc()
        self._starts = lists.indptr.astype(np.int64)
        self._rows = lists.indices
        self._p = lists.data
        self._mean_length = len(rows.p) / max(n, 1)
        self._units = np.zeros(n)
        self._mass = np.zeros(n)
        self._stamp = np.zeros(n, np.int64)

    def search(self, keys: Ints, q: Floats, best: Best, evaluate: Callable[[Ints], None]) -> None:
        """Offer `best` every problem that may belong to it."""
        sizes = self._starts[keys + 1] - self._starts[keys]
        order = np.argsort(sizes, kind="stable")
        keys, q, volume = keys[order], q[order], np.cumsum(sizes[order])
        unread = np.append(np.cumsum(q[::-1])[::-1], 0.0)
        seen = np.empty(0, np.int64)
        done = np.empty(0, np.int64)
        read, allowance = 0, FIRST_READ
        try:
            while read < len(keys):
                upto = max(int(np.searchsorted(volume, allowance, "right")), read + 1)
                seen = np.concatenate([seen, self._read(keys[read:upto], q[read:upto])])
                read, allowance = upto, GROWTH * allowance
                if read == len(keys):
                    break
                affinity = self._units[seen] / (2 * UNITS)
                probes = _largest(affinity, best.k + N_PROBES)
                fresh = np.setdiff1d(seen[probes], done)
                evaluate(fresh)
                done = np.concatenate([done, fresh])
                if 1 - float(largest_affinity(1.0, unread[read])) - SLACK <= best.to_beat:
                    continue  # a problem on none of these lists could still be near
                possible = affinity + largest_affinity(1 - self._mass[seen], unread[read])
                hopeful = seen[1 - possible - SLACK <= best.to_beat]
                if len(hopeful) * self._mean_length <= volume[-1] - volume[read - 1]:
                    evaluate(np.setdiff1d(hopeful, done))
                    return
            rest = np.setdiff1d(seen, done)
            best.offer(rest, from_units(self._units[rest]))
        finally:
            self._units[seen] = 0.0
            self._mass[seen] = 0.0

    def _read(self, keys: Ints, q: Floats) -> Ints:
        """Add up the lists of these keys; return the problems seen for the first time."""
        sizes = self._starts[keys + 1] - self._starts[keys]
        where = spans(self._starts[keys], sizes)
        rows, p = self._rows[where], self._p[where]
        unseen = rows[self._mass[rows] == 0]
        # Of equal numbers the last one written stays: each problem once, without sorting.
        places = np.arange(len(unseen))
        self._stamp[unseen] = places
        unseen = unseen[self._stamp[unseen] == places]
        np.add.at(self._units, rows, affinity_units(p, np.repeat(q, sizes)))
        np.add.at(self._mass, rows, p)
        return np.asarray(unseen, np.int64)


def _largest(values: Floats, k: int) -> Ints:
    if len(values) <= k:
        return np.arange(len(values))
    return np.argpartition(values, len(values) - k)[-k:]
