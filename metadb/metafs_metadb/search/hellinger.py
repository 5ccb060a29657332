r"""Ruling out most problems by the Hellinger affinity, which is cheap to add up.

.. math:: JSD(p, q) \ge 1 - \sum_k \sqrt{p_k q_k}

term by term, as the binary entropy H(t) is at most 2 sqrt(t (1-t)). The square roots of the stored
probabilities are kept in single precision, key by key: a posting list where few problems have the
key, a column over all problems where many do. Adding up the lists and columns of the query's keys
bounds every problem at once. The nearest by the bound are evaluated exactly, then all that could
still be nearer than the k-th best: a few hundred of 100,000.
"""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from metafs_metadb.search.divergence import Best, Distributions, Floats, Ints

Singles = NDArray[np.float32]

# A column costs a pass over all problems, a list about eight times as much per entry.
COLUMN_SHARE = 1 / 8
MOST_COLUMNS = 256  # the longest lists only: at 100,000 problems a column is 0.4 MB
N_PROBES = 16  # evaluated beyond k, for a good k-th best
BLOCK = 256  # problems of which only the most promising is looked at first
TINY = np.float32(1e-30)  # no shared key may vanish


def rounding(n_terms: int) -> float:
    """Return by how much single precision may miss a sum of so many products that is at most 1.

    A root and a product are each off by 2^-24 of themselves at most, and each addition by 2^-24
    of a sum that stays below 1: (n + 3) 2^-24 in all, of which we take twice.
    """
    return float((n_terms + 3) * 2.0**-23)


class HellingerLists:
    """Square roots of stored probabilities by key, and the sum that a search borrows."""

    def __init__(self, n: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self._starts = arrays["list_starts"]
        self._rows = arrays["list_rows"]
        self._roots = arrays["list_roots"]
        keys = arrays["column_keys"].tolist()
        self._columns: dict[int, Singles] = dict(zip(keys, arrays["columns"], strict=True))
        # Padded to whole blocks, so that blocks are a reshape.
        self._sum = np.zeros(-(-n // BLOCK) * BLOCK, np.float32)
        self._product = np.zeros(n, np.float32)

    @classmethod
    def build(cls, rows: Distributions, n_keys: int) -> Self:
        """Sort the entries of all rows by key."""
        n = len(rows)
        lists = rows.roots(n_keys).tocsc()
        starts, of_rows = lists.indptr, lists.indices
        roots = np.maximum(lists.data, TINY, out=lists.data)
        sizes = np.diff(starts)
        longest = np.argsort(-sizes, kind="stable")[:MOST_COLUMNS]
        column_keys = longest[sizes[longest] >= max(COLUMN_SHARE * n, 1)]
        columns = np.zeros((len(column_keys), n), np.float32)
        for column, key in zip(columns, column_keys.tolist(), strict=True):
            part = slice(starts[key], starts[key + 1])
            column[of_rows[part]] = roots[part]
        arrays = {
            "list_starts": starts,
            "list_rows": of_rows,
            "list_roots": roots,
            "column_keys": column_keys,
            "columns": columns,
        }
        return cls(n, arrays)

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return all that a search needs, to be written down."""
        return self._arrays

    def search(self, keys: Ints, q: Floats, best: Best, evaluate: Callable[[Ints], None]) -> None:
        """Have everything evaluated that may belong to the best."""
        at_most = self._affinities(keys, q)
        tops = at_most.reshape(-1, BLOCK).max(axis=1)
        n_probes = min(best.k + N_PROBES, len(tops))
        promising = np.partition(tops, len(tops) - n_probes)[-n_probes]
        probes = np.flatnonzero(at_most >= max(promising, TINY))
        # A block may be full of near problems; a few of them will do to know what is near.
        probes = probes[np.argsort(-at_most[probes], kind="stable")][: 4 * n_probes]
        evaluate(probes)
        at_most[probes] = 0.0
        enough = 1 - rounding(len(keys)) - best.to_beat
        evaluate(np.flatnonzero((at_most > 0) & (at_most >= enough)))

    def _affinities(self, keys: Ints, q: Floats) -> Singles:
        """Return for each problem what it shares with q at most."""
        roots = np.maximum(np.sqrt(q), 1e-7).astype(np.float32)
        total = self._sum
        total[:] = 0.0
        affinities = total[: len(self._product)]
        listed, weights = [], []
        begins, ends = self._starts[keys].tolist(), self._starts[keys + 1].tolist()
        for key, root, begin, end in zip(keys.tolist(), roots, begins, ends, strict=True):
            if key in self._columns:
                np.multiply(self._columns[key], root, out=self._product)
                affinities += self._product
            else:
                listed.append(slice(begin, end))
                weights.append(root)
        if listed:
            sizes = [part.stop - part.start for part in listed]
            products = np.concatenate([self._roots[part] for part in listed])
            products *= np.repeat(np.array(weights, np.float32), sizes)
            np.add.at(total, np.concatenate([self._rows[part] for part in listed]), products)
        return total
