"""The search in memory: exact, like the SQL join, and made to be asked often.

`HellingerLists`, and before it `Balls` where keys are few, rule out whoever a bound excludes; the
rest is evaluated by the formula in `divergence`, so the answer is that of the join. Problems
added while a stream runs are compared one by one until there are enough of them to build the
lists anew.
"""

import math

import numpy as np
from numpy.typing import NDArray

from metafs_metadb import balls
from metafs_metadb.divergence import Best, Distributions, Floats, Ints
from metafs_metadb.hellinger import HellingerLists
from metafs_metadb.rows import Neighbour, Signatures

# Additions are scanned one by one until there are this many.
FEWEST_TO_MERGE = 256
MOST_TO_MERGE = 2048


class MemoryIndex:
    """The signatures of one space in memory, answering as `SqlSearch` does.

    `add` extends it while a stream runs. Searches share scratch memory: one thread at a time.
    """

    def __init__(self, signatures: Signatures) -> None:
        self._ids = signatures.problem_id.tolist()
        self._names = list(signatures.names)
        self._fingerprints = list(signatures.fingerprints)
        self._known = set(self._ids)
        self._rows_named: dict[str, list[int]] = {}
        self._rows_printed: dict[str, list[int]] = {}
        for row, (name, fingerprint) in enumerate(
            zip(self._names, self._fingerprints, strict=True)
        ):
            self._rows_named.setdefault(name, []).append(row)
            self._rows_printed.setdefault(fingerprint, []).append(row)
        self._new_keys: dict[int, int] = {}
        self._recent_keys: list[NDArray[np.int64]] = []
        self._recent_p: list[Floats] = []
        self._recent: Distributions | None = None
        self._q_by_key: Floats = np.empty(0)
        self._build(signatures.starts, signatures.keys, signatures.p)

    def __len__(self) -> int:
        return len(self._ids)

    def add(
        self,
        problem_id: int,
        name: str,
        fingerprint: str,
        keys: NDArray[np.uint64],
        p: NDArray[np.float64],
    ) -> None:
        """Add a problem; one that is already there stays as it is."""
        if problem_id in self._known:
            return
        row = len(self._ids)
        self._known.add(problem_id)
        self._ids.append(problem_id)
        self._names.append(name)
        self._fingerprints.append(fingerprint)
        self._rows_named.setdefault(name, []).append(row)
        self._rows_printed.setdefault(fingerprint, []).append(row)
        numbers = self._number(np.asarray(keys, np.uint64))
        for place in np.flatnonzero(numbers < 0).tolist():
            numbers[place] = self._new_keys[int(keys[place])] = self._n_keys
            self._n_keys += 1
        self._recent_keys.append(numbers)
        self._recent_p.append(np.asarray(p, np.float64))
        self._recent = None
        limit = min(max(len(self._base) // 16, FEWEST_TO_MERGE), MOST_TO_MERGE)
        if len(self._recent_p) >= limit:
            self._merge()

    def nearest(
        self,
        keys: NDArray[np.uint64],
        p: NDArray[np.float64],
        k: int,
        *,
        exclude_fingerprint: str | None = None,
        exclude_name: str | None = None,
    ) -> list[Neighbour]:
        """Return the k problems nearest to the distribution `keys` -> `p`, nearest first."""
        excluded: set[int] = set()
        if exclude_name is not None:
            excluded.update(self._rows_named.get(exclude_name, ()))
        if exclude_fingerprint is not None:
            excluded.update(self._rows_printed.get(exclude_fingerprint, ()))
        numbers = self._number(np.asarray(keys, np.uint64))
        held = numbers >= 0
        numbers, q = numbers[held], np.asarray(p, np.float64)[held]
        if k < 1 or not len(numbers):
            return []
        # What is excluded takes its place among the best and is left out at the end.
        best = Best(k + len(excluded))
        if self._n_keys > len(self._q_by_key):
            self._q_by_key = np.zeros(2 * self._n_keys)
        self._q_by_key[numbers] = q
        try:
            self._search_base(numbers, q, best)
            self._search_recent(best)
        finally:
            self._q_by_key[numbers] = 0.0
        order = sorted(
            (value, self._ids[row], row)
            for value, row in zip(best.values.tolist(), best.rows.tolist(), strict=True)
            if row not in excluded
        )
        return [
            Neighbour(problem_id, self._names[row], math.sqrt(value), self._fingerprints[row])
            for value, problem_id, row in order[:k]
        ]

    def _search_base(self, numbers: Ints, q: Floats, best: Best) -> None:
        def evaluate(rows: Ints) -> None:
            values, shares = self._base.divergence(rows, self._q_by_key)
            best.offer(rows[shares], values[shares])

        listed = numbers < len(self._vocabulary)  # the rest came with recent additions
        if not listed.any():
            return
        numbers, q = numbers[listed], q[listed]
        done: Ints | None = np.empty(0, np.int64)
        if self._balls is not None:
            done = self._balls.search(numbers, q, best, evaluate)
        if done is not None:
            self._lists.search(numbers, q, best, evaluate, done)

    def _search_recent(self, best: Best) -> None:
        if not self._recent_p:
            return
        if self._recent is None:
            lengths = [len(p) for p in self._recent_p]
            self._recent = Distributions(
                np.append(0, np.cumsum(lengths)),
                np.concatenate(self._recent_keys),
                np.concatenate(self._recent_p),
            )
        rows = np.arange(len(self._recent))
        values, shares = self._recent.divergence(rows, self._q_by_key)
        best.offer(rows[shares] + len(self._base), values[shares])

    def _number(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return our number of each key, -1 for one that nobody has."""
        places = np.searchsorted(self._vocabulary, keys)
        places[places == len(self._vocabulary)] = 0
        if len(self._vocabulary):
            numbers = np.where(self._vocabulary[places] == keys, places, -1)
        else:
            numbers = np.full(len(keys), -1)
        if self._new_keys:
            for place in np.flatnonzero(numbers < 0).tolist():
                numbers[place] = self._new_keys.get(int(keys[place]), -1)
        return numbers.astype(np.int64)

    def _build(self, starts: Ints, keys: NDArray[np.uint64], p: Floats) -> None:
        self._vocabulary = np.unique(keys)
        numbers = np.searchsorted(self._vocabulary, keys)  # faster than unique's own inverse
        self._n_keys = len(self._vocabulary)
        self._base = Distributions(starts, numbers.astype(np.int32), p)
        self._q_by_key = np.zeros(self._n_keys)
        self._new_keys, self._recent_keys, self._recent_p = {}, [], []
        self._recent = None
        self._lists = HellingerLists(self._base, self._n_keys)
        few_keys = self._n_keys <= balls.MOST_KEYS and len(self._base) >= balls.FEWEST_PROBLEMS
        self._balls = balls.Balls(self._base, self._n_keys) if few_keys else None

    def _merge(self) -> None:
        """Build everything anew, the recent additions included."""
        new_keys = np.fromiter(self._new_keys, np.uint64, len(self._new_keys))
        all_keys = np.concatenate([self._vocabulary, new_keys])
        numbers = np.concatenate([self._base.keys, *self._recent_keys])
        lengths = np.append(self._base.lengths, [len(p) for p in self._recent_p])
        self._build(
            np.append(0, np.cumsum(lengths)),
            all_keys[numbers],
            np.concatenate([self._base.p, *self._recent_p]),
        )
