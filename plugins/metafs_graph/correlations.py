r"""The matrix of absolute rank correlations, as something to multiply vectors by.

.. math:: |R| v, \qquad R_{ij} = z_i^\top z_j

Only the upper triangle is worked on, in tiles that fit the cache. The tiles are kept in double
precision while they take at most `KEPT_BYTES`, that is up to about 16,000 features; in single
precision up to about 23,000; beyond that they are computed anew for each product, which then
needs little more memory than the ranks.
"""

from collections.abc import Iterator

import numpy as np

from metafs.data.typing import Array

KEPT_BYTES = 2**30
"""Tiles are kept as long as all of them together are not larger than this."""

TILE = 512


class Correlations:
    """Absolute correlations of the rows of a matrix, each centred and of unit length.

    Parameters
    ----------
    unit : ndarray of shape (n_features, n_samples)
        See `metafs_graph.ranks.Ranks`.
    kept_bytes : int, default=KEPT_BYTES
        Memory for tiles, which decides on precision and on whether they are kept.

    Attributes
    ----------
    precision : float
        The rounding error of one correlation.

    Examples
    --------
    >>> unit = np.array([[0.6, 0.8, 0.0], [-0.6, -0.8, 0.0], [0.0, 0.0, 1.0]])
    >>> Correlations(unit) @ np.array([1.0, 2.0, 3.0])
    array([3., 3., 3.])
    """

    def __init__(self, unit: Array, *, kept_bytes: int = KEPT_BYTES) -> None:
        n_kept = len(unit) * (len(unit) + TILE) // 2
        single = n_kept * 8 > kept_bytes
        self._dtype = np.float32 if single else np.float64
        self._unit: Array = unit.astype(self._dtype, copy=False)
        self.precision = float(np.finfo(self._dtype).eps)
        self._kept: list[tuple[int, int, Array]] | None = None
        if n_kept * self._unit.itemsize <= kept_bytes:
            # One piece of memory for all tiles: large pieces come in large pages.
            room = np.empty(n_kept, dtype=self._dtype)
            self._kept = []
            for i, j in self._corners():
                self._kept.append((i, j, self._tile(i, j, room)))
                room = room[self._kept[-1][2].size :]

    def _corners(self) -> Iterator[tuple[int, int]]:
        starts = range(0, len(self._unit), TILE)
        return ((i, j) for i in starts for j in starts if i <= j)

    def _tile(self, i: int, j: int, room: Array) -> Array:
        """Compute a tile at the beginning of ``room``."""
        rows, columns = self._unit[i : i + TILE], self._unit[j : j + TILE]
        tile = room[: len(rows) * len(columns)].reshape(len(rows), len(columns))
        np.matmul(rows, columns.T, out=tile)
        if i == j:
            np.fill_diagonal(tile, 1.0)
        return self._strength(tile)

    def _strength(self, tile: Array) -> Array:
        return np.abs(tile, out=tile)

    def tiles(self) -> Iterator[tuple[int, int, Array]]:
        """Yield the first row, the first column and the values of each tile.

        Tiles that are not kept all use the same memory: done with one, ask for the next.
        """
        if self._kept is not None:
            return iter(self._kept)
        room = np.empty(TILE * TILE, dtype=self._dtype)
        return ((i, j, self._tile(i, j, room)) for i, j in self._corners())

    def __matmul__(self, v: Array) -> Array:
        v = v.astype(self._dtype, copy=False)
        product = np.zeros(len(v))
        for i, j, tile in self.tiles():
            product[i : i + TILE] += tile @ v[j : j + TILE]
            if i != j:
                product[j : j + TILE] += v[i : i + TILE] @ tile
        return product
