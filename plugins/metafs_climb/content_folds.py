r"""Folds that depend on the content of a problem, not on the order in which its rows are stored.

Rows are sorted by a key before they are assigned to folds, so that the same table with rows or
columns in another order, dense or sparse, has the same folds. A row's key is computed from its
values and the keys of their columns, a column's key from its values and the keys of their rows:

.. math:: c_j = \sum_{i: x_{ij} \ne 0} h(x_{ij}, r_i), \qquad
          r_i = \sum_{j: x_{ij} \ne 0} h(x_{ij}, c_j) \pmod{2^{64}}

beginning with :math:`r_i`, the number of rows with the target of row i, and going round twice.
Sums do not depend on order, and zeros add nothing.
"""

from collections.abc import Iterator

import numpy as np

from metafs.data.typing import Array, Matrix

ROUNDS = 2
_BLOCK_VALUES = 2**20


def mixed(bits: Array) -> Array:
    """Return a pseudo-random 64-bit hash of the 64 bits given.

    Examples
    --------
    >>> np.unique(mixed(np.arange(1000, dtype=np.uint64))).size
    1000
    """
    # The finaliser of SplitMix64.
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Array = bits ^ (bits >> np.uint64(31))
    return found


def value_bits(values: Array) -> Array:
    """Return 64 bits for each number; equal numbers have equal bits, and so have missing ones."""
    values = np.where(np.isnan(values), np.nan, values + 0.0)  # adding zero turns -0.0 into 0.0
    return mixed(values.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15))


def row_keys(X: Matrix, y: Array) -> Array:
    """Return a key for each row that depends neither on the order of rows nor on that of columns.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 2.0]]), np.array([0, 1, 1])
    >>> bool((row_keys(X[::-1, ::-1], y[::-1]) == row_keys(X, y)[::-1]).all())
    True
    """
    nonzeros, rows = Nonzeros(X), _first_keys(y)
    for _ in range(ROUNDS):
        rows = nonzeros.keys_of_rows(nonzeros.keys_of_columns(rows))
    return rows


def column_keys(X: Matrix, y: Array) -> Array:
    """Return a key for each column that depends neither on the order of rows nor of columns.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 2.0]]), np.array([0, 1, 1])
    >>> bool((column_keys(X[::-1, ::-1], y[::-1]) == column_keys(X, y)[::-1]).all())
    True
    """
    nonzeros = Nonzeros(X)
    rows = nonzeros.keys_of_rows(nonzeros.keys_of_columns(_first_keys(y)))
    return nonzeros.keys_of_columns(rows)


def _first_keys(y: Array) -> Array:
    _, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
    return counts[inverse].astype(np.uint64)


def content_order(X: Matrix, y: Array) -> Array:
    """Return the rows in canonical order: by key, and rows of equal values by target."""
    return np.lexsort((y, row_keys(X, y)))


class Nonzeros:
    """Rows, columns and bits of values of what is not zero; kept if the table is small."""

    def __init__(self, X: Matrix) -> None:
        self._X = X
        small = X.shape[0] * X.shape[1] <= _BLOCK_VALUES
        self._kept = list(self._blocks()) if small else None

    def keys_of_columns(self, rows: Array) -> Array:
        """Return the key of each column, from those of the rows."""
        columns, rows = np.zeros(self._X.shape[1], dtype=np.uint64), mixed(rows)
        for i, j, bits in self._kept or self._blocks():
            np.add.at(columns, j, mixed(bits + rows[i]))
        return columns

    def keys_of_rows(self, columns: Array) -> Array:
        """Return the key of each row, from those of the columns."""
        rows, columns = np.zeros(self._X.shape[0], dtype=np.uint64), mixed(columns)
        for i, j, bits in self._kept or self._blocks():
            np.add.at(rows, i, mixed(bits + columns[j]))
        return rows

    def _blocks(self) -> Iterator[tuple[Array, Array, Array]]:
        step = max(1, _BLOCK_VALUES // max(1, self._X.shape[1]))
        for start in range(0, self._X.shape[0], step):
            block = self._X[start : start + step]
            i, j = block.nonzero()
            yield i + start, j, value_bits(np.asarray(block[i, j]))
