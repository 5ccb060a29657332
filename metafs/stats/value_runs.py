"""Runs of equal values: the distinct values of each column, how often each occurs, and where.

A run is all the equal values of one column; the missing ones are a run too. A sparse column
less than half full is never unfolded: one entry stands for all its zeros. Columns are taken in
blocks, so that no second copy of the matrix arises.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, issparse

from metafs.data.typing import Array, Matrix

_BLOCK = 100_000  # entries worked on at once


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of some columns of a matrix, by column and then by value, missing ones last.

    Attributes
    ----------
    columns : array
        Which columns of the matrix these are.
    column, value, count : array, an item for each run
        Its place in `columns`, its value, and the number of samples that have it.
    """

    n_samples: int
    columns: Array
    column: Array
    value: Array
    count: Array
    _rows: Array
    _starts: Array  # column j has the entries _starts[j] to _starts[j + 1]
    _order: Array  # the entries, run by run
    _sizes: Array  # entries in each run

    def spread(self, codes: Array) -> csc_array:
        """Give every sample the code of its run; the zeros of a sparse column must be code 0."""
        of_entry = np.empty(len(self._order), dtype=codes.dtype)
        of_entry[self._order] = np.repeat(codes, self._sizes)
        kept = np.flatnonzero(of_entry)
        rows = self._rows[kept].astype(np.int32, copy=False)
        starts = np.searchsorted(kept, self._starts).astype(np.int32)
        shape = (self.n_samples, len(self.columns))
        return csc_array((of_entry[kept], rows, starts), shape=shape)


def runs_of(X: Matrix) -> Iterator[Runs]:
    """Yield the runs of every column once, block by block, sparse columns first."""
    n_samples, n_features = X.shape
    if not issparse(X):
        for columns in _blocks(np.arange(n_features), np.full(n_features, n_samples)):
            yield _dense(np.asarray(X)[:, columns[0] : columns[-1] + 1], columns)
        return
    by_column = X.tocsc()
    by_column.sum_duplicates()
    by_column.eliminate_zeros()
    stored = np.diff(by_column.indptr)
    full = 2 * stored >= n_samples
    for columns in _blocks(np.flatnonzero(~full), stored[~full] + 1):
        yield _sparse(by_column[:, columns], columns)
    for columns in _blocks(np.flatnonzero(full), stored[full] * 2):
        yield _dense(by_column[:, columns].toarray(), columns)


def _blocks(columns: Array, costs: Array) -> Iterator[Array]:
    """Cut columns into groups of about `_BLOCK` entries."""
    group = np.cumsum(costs, dtype=np.int64) // _BLOCK
    if len(columns):
        yield from np.split(columns, np.flatnonzero(np.diff(group)) + 1)


def _dense(X: Array, columns: Array) -> Runs:
    n_samples, n_columns = X.shape
    values = np.ascontiguousarray(X.T, dtype=np.float64)
    starts = np.arange(n_columns + 1) * n_samples
    order = (values.argsort(axis=1) + starts[:-1, None]).ravel()
    column, value, sizes = _heads(values.ravel()[order], np.full(n_columns, n_samples))
    rows = np.tile(np.arange(n_samples, dtype=np.int32), n_columns)
    return Runs(n_samples, columns, column, value, sizes, rows, starts, order, sizes)


def _sparse(X: csc_array, columns: Array) -> Runs:
    n_samples, n_columns = X.shape
    stored = np.diff(X.indptr)
    # Behind all the entries stored comes one for the zeros of each column; it has no row.
    values = np.concatenate([X.data, np.zeros(n_columns)])
    place = np.arange(n_columns)
    order = np.lexsort((values, np.concatenate([np.repeat(place, stored), place])))
    column, value, sizes = _heads(values[order], stored + 1)
    count = np.where(value == 0, n_samples - stored[column], sizes)
    return Runs(n_samples, columns, column, value, count, X.indices, X.indptr, order, sizes)


def _heads(values: Array, lengths: Array) -> tuple[Array, Array, Array]:
    """Return column, value and size of each run of values sorted within columns."""
    column = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.ones(len(values), dtype=bool)
    same_value = (values[1:] == values[:-1]) | np.isnan(values[:-1])
    starts[1:] = (column[1:] != column[:-1]) | ~same_value
    heads = np.flatnonzero(starts)
    return column[heads], values[heads], np.diff(heads, append=len(values))
