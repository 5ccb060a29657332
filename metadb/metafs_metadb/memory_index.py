"""The search in memory: an inverted index over the signatures of one space."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metafs_metadb.rows import Neighbour, Signatures

SCALE = 2.0**50


def affinity_terms(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (p+q)log2(p+q) - p log2 p - q log2 q as whole multiples of 2^-50, times 2^50."""
    both = p + q
    return np.rint(SCALE * (both * np.log2(both) - p * np.log2(p) - q * np.log2(q)))


class MemoryIndex:
    """The signatures of one space, held in memory."""

    def __init__(self, signatures: Signatures) -> None:
        self._ids: list[int] = signatures.problem_id.tolist()
        self._names: list[str] = list(signatures.names)
        self._fingerprints: list[str] = list(signatures.fingerprints)
        self._known = set(self._ids)
        self._keys: list[NDArray[Any]] = np.split(signatures.keys, signatures.starts[1:-1])
        self._p: list[NDArray[Any]] = np.split(signatures.p, signatures.starts[1:-1])

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
        self._keys.append(np.asarray(keys, np.uint64))
        self._p.append(np.asarray(p, np.float64))

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
        found = []
        for row, problem_id in enumerate(self._ids):
            if self._fingerprints[row] == exclude_fingerprint or self._names[row] == exclude_name:
                continue
            _, mine, theirs = np.intersect1d(keys, self._keys[row], return_indices=True)
            if len(mine):
                shared = affinity_terms(p[mine], self._p[row][theirs]).sum() / SCALE
                found.append((max(round(1 - shared / 2, 12), 0.0), problem_id, row))
        found.sort()
        return [
            Neighbour(problem_id, self._names[row], math.sqrt(jsd), self._fingerprints[row])
            for jsd, problem_id, row in found[:k]
        ]
