"""What a search in memory needs of the stored problems, as arrays that a file can keep.

Keys are numbered in ascending order. `HellingerLists` rules out the problems that a bound excludes;
the rest is evaluated by the formula in `divergence`.
"""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from metafs_metadb.search.divergence import Best, Distributions, Floats, Ints
from metafs_metadb.search.hellinger import HellingerLists


class Structure:
    """Distributions, with the lists that rule most of them out."""

    def __init__(
        self,
        vocabulary: NDArray[np.uint64],
        rows: Distributions,
        lists: HellingerLists,
    ) -> None:
        self.vocabulary = vocabulary
        self.rows = rows
        self._lists = lists

    @classmethod
    def build(cls, starts: Ints, keys: NDArray[np.uint64], p: Floats) -> Self:
        """Number the keys and sort the rows, of which row i has keys[starts[i]:starts[i + 1]]."""
        vocabulary = np.unique(keys)
        numbers = np.searchsorted(vocabulary, keys)  # faster than unique's own inverse
        n_keys = len(vocabulary)
        rows = Distributions(starts, numbers.astype(np.int32), p)
        return cls(vocabulary, rows, HellingerLists.build(rows, n_keys))

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the structure that was written down."""
        rows = Distributions(arrays["row_starts"], arrays["row_keys"], arrays["row_p"])
        return cls(arrays["vocabulary"], rows, HellingerLists(len(rows), arrays))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays, to be written down."""
        return {
            "vocabulary": self.vocabulary,
            "row_starts": self.rows.starts,
            "row_keys": self.rows.keys,
            "row_p": self.rows.p,
            **self._lists.arrays(),
        }

    def number(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return our number of each key, -1 for one that no problem has."""
        if not len(self.vocabulary):
            return np.full(len(keys), -1, np.int64)
        places = np.searchsorted(self.vocabulary, keys)
        places[places == len(self.vocabulary)] = 0
        return np.where(self.vocabulary[places] == keys, places, -1).astype(np.int64)

    def search(self, numbers: Ints, q: Floats, q_by_key: Floats, best: Best) -> None:
        """Offer every problem that may be among the best; q is also given as an array by number."""

        def evaluate(rows: Ints) -> None:
            values, shares = self.rows.divergence(rows, q_by_key)
            best.offer(rows[shares], values[shares])

        if len(numbers):
            self._lists.search(numbers, q, best, evaluate)
