"""The search in memory: exact, like the SQL join, and made to be asked often.

A `Structure` rules out problems by bounds and evaluates the rest by the formula in
`divergence`, so the answer is that of the join. Problems added while a stream runs are compared
one by one until there are enough of them to build it anew.
"""

import math
from typing import Self

import numpy as np
from numpy.typing import NDArray

from metafs_metadb.rows import Neighbour, Signatures, Signed
from metafs_metadb.search.divergence import Best, Distributions, Floats
from metafs_metadb.search.structure import Structure

# Additions are scanned one by one until there are this many.
FEWEST_TO_MERGE = 256
MOST_TO_MERGE = 2048


def most_recent(n: int) -> int:
    """Return how many additions to n problems make it worth building everything anew."""
    return min(max(n // 16, FEWEST_TO_MERGE), MOST_TO_MERGE)


class RowsBy:
    """The rows that have a value, for a list of values that may still grow."""

    def __init__(self, values: list[str]) -> None:
        self._values = values
        self._last: dict[str, int] = {}
        self._before: dict[int, int] = {}  # row -> the row before it with the same value
        self._n = 0

    def __getitem__(self, value: str) -> list[int]:
        for row in range(self._n, len(self._values)):
            if (before := self._last.get(self._values[row])) is not None:
                self._before[row] = before
            self._last[self._values[row]] = row
        self._n = len(self._values)
        rows: list[int] = []
        found = self._last.get(value)
        while found is not None:
            rows.append(found)
            found = self._before.get(found)
        return rows


class MemoryIndex:
    """The signatures of one space in memory, answering as `SqlSearch` does.

    `add` extends it while a stream runs. Searches share scratch memory: one thread at a time.
    """

    def __init__(self, signatures: Signatures) -> None:
        self._begin(signatures, Structure.build(signatures.starts, signatures.keys, signatures.p))

    @classmethod
    def of(cls, signed: Signed, structure: Structure) -> Self:
        """Return the index over a structure whose rows are those problems."""
        index = cls.__new__(cls)
        index._begin(signed, structure)
        return index

    def _begin(self, signed: Signed, structure: Structure) -> None:
        self._ids = signed.problem_id.tolist()
        self._names = list(signed.names)
        self._fingerprints = list(signed.fingerprints)
        self._known = set(self._ids)
        self._rows_named = RowsBy(self._names)
        self._rows_printed = RowsBy(self._fingerprints)
        self._start(structure)

    def _start(self, structure: Structure) -> None:
        """Search in a structure, with no problem added to it yet."""
        self.structure = structure
        self._n_keys = len(structure.vocabulary)
        self._q_by_key = np.zeros(self._n_keys)
        self._new_keys: dict[int, int] = {}
        self._recent_keys: list[NDArray[np.int64]] = []
        self._recent_p: list[Floats] = []
        self._recent: Distributions | None = None

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
        self._known.add(problem_id)
        self._ids.append(problem_id)
        self._names.append(name)
        self._fingerprints.append(fingerprint)
        numbers = self._number(np.asarray(keys, np.uint64))
        for place in np.flatnonzero(numbers < 0).tolist():
            numbers[place] = self._new_keys[int(keys[place])] = self._n_keys
            self._n_keys += 1
        self._recent_keys.append(numbers)
        self._recent_p.append(np.asarray(p, np.float64))
        self._recent = None
        if len(self._recent_p) >= most_recent(len(self.structure.rows)):
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
            excluded.update(self._rows_named[exclude_name])
        if exclude_fingerprint is not None:
            excluded.update(self._rows_printed[exclude_fingerprint])
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
            listed = numbers < len(self.structure.vocabulary)  # the rest came with additions
            self.structure.search(numbers[listed], q[listed], self._q_by_key, best)
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
        best.offer(rows[shares] + len(self.structure.rows), values[shares])

    def _number(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return our number of each key, -1 for one that no problem has."""
        numbers = self.structure.number(keys)
        if self._new_keys:
            for place in np.flatnonzero(numbers < 0).tolist():
                numbers[place] = self._new_keys.get(int(keys[place]), -1)
        return numbers

    def _merge(self) -> None:
        """Build everything anew, the recent additions included."""
        base = self.structure
        new_keys = np.fromiter(self._new_keys, np.uint64, len(self._new_keys))
        all_keys = np.concatenate([base.vocabulary, new_keys])
        numbers = np.concatenate([base.rows.keys, *self._recent_keys])
        lengths = np.append(base.rows.lengths, [len(p) for p in self._recent_p])
        self._start(
            Structure.build(
                np.append(0, np.cumsum(lengths)),
                all_keys[numbers],
                np.concatenate([base.rows.p, *self._recent_p]),
            )
        )
