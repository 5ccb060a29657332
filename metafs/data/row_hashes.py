r"""Row hashes: to tell whether two problems share rows, from a few numbers of each.

The hash of a row is a sum, modulo 2^64, over its values that are not 0, each hashed together with
the name of its column; neither the order of columns nor the target matters. The 64 smallest
hashes of a problem are its sketch (A. Broder, "On the resemblance and containment of documents",
1997): of two problems that share the fraction J of all their rows, 64 J are expected to be in both.

The hash also says which rows are set apart: the same ones in every problem that has them. A second
set of weights of each problem does not learn from these, so that what memory is worth can be
measured on rows that no remembered model has seen.
"""

from functools import lru_cache
from hashlib import blake2b

import numpy as np
from scipy.sparse import issparse

from metafs.data.problem import Problem
from metafs.data.typing import Array, Matrix

SKETCH = 64

MOST_REPEATED = 0.05
"""Where a larger share of rows repeats, as in tables of few answers, equal rows prove nothing."""

ONE_APART_IN = 4
"""One in so many rows is set apart."""

_CELLS = 2**22


def row_hashes(problem: Problem) -> Array:
    """Return the distinct hashes of a problem's rows, ascending; none if rows repeat by chance.

    Examples
    --------
    >>> one = Problem.of([[1, 0], [0, 2]], [0, 1], feature_names=["a", "b"])
    >>> two = Problem.of([[2, 0], [3, 4]], [1, 0], feature_names=["b", "a"])
    >>> len(np.intersect1d(row_hashes(one), row_hashes(two)))
    1
    """
    return _distinct(_hashes_of_rows(problem))


def rows_apart(problem: Problem) -> Array | None:
    """Return which rows are set apart; None if rows repeat by chance, or groups tell of others.

    Examples
    --------
    >>> rows_apart(Problem.of([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]))
    array([ True, False, False, False])
    """
    hashes = _hashes_of_rows(problem)
    if problem.groups is not None or not len(_distinct(hashes)):
        return None
    return np.asarray(hashes % np.uint64(ONE_APART_IN) == 0)


def _hashes_of_rows(problem: Problem) -> Array:
    names = _name_hashes(problem.feature_names)
    labels = {column: _name_hashes(tuple(labels)) for column, labels in problem.categories.items()}
    X, n_rows = problem.X, problem.n_samples
    step = max(1, _CELLS // max(1, problem.n_features))
    parts = [_hashes(X[start : start + step], names, labels) for start in range(0, n_rows, step)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)


def _distinct(hashes: Array) -> Array:
    """Return distinct hashes, ascending; none if too many repeat."""
    n_rows = len(hashes)
    hashes = hashes[hashes != 0]  # a row without any value is no particular row
    distinct = np.unique(hashes)
    if len(hashes) - len(distinct) > MOST_REPEATED * n_rows:
        return distinct[:0]
    return distinct


def sketch(hashes: Array) -> Array:
    """Return the smallest of ascending hashes, which are kept."""
    return hashes[:SKETCH]


def _hashes(X: Matrix, names: Array, labels: dict[int, Array]) -> Array:
    if issparse(X):
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        columns, values = X.indices, X.data
        there = values != 0
        rows, columns, values = rows[there], columns[there], values[there]
    else:
        rows, columns = np.nonzero(X)
        values = X[rows, columns]
    bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)
    for column, of_labels in labels.items():
        of_column = np.flatnonzero((columns == column) & ~np.isnan(values))
        bits[of_column] = of_labels[values[of_column].astype(np.int64)]
    cells = _mixed(names[columns] ^ _mixed(bits))
    sums = np.zeros(X.shape[0], dtype=np.uint64)
    if len(cells):
        starts = np.flatnonzero(np.append(True, rows[1:] != rows[:-1]))
        sums[rows[starts]] = np.add.reduceat(cells, starts)
    return _mixed(sums)


def _mixed(x: Array) -> Array:
    """Return well spread bits (the finaliser of SplitMix64), 0 for 0."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


@lru_cache(maxsize=8)
def _name_hashes(names: tuple[str, ...]) -> Array:
    digests = b"".join(
        blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)
