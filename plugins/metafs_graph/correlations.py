r"""The matrix of absolute rank correlations, as something to multiply vectors by.

.. math:: |R| v, \qquad R_{ij} = z_i^\top z_j

Only the upper triangle is worked on, in tiles that fit the cache. The tiles are kept in double
precision while they take at most `KEPT_BYTES`, that is up to about 16,000 features; in single
precision up to about 23,000; beyond that they are computed anew for each product, which then
needs little more memory than the ranks.
"""

from collections.abc import Iterator

import numpy as np

from metafs.typing import Array

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
        self._kept: list[Array] | None = None
        if n_kept * self._unit.itemsize <= kept_bytes:
            self._kept = [self._tile(*corner) for corner in self._corners()]
        self.precision = float(np.finfo(self._dtype).eps)

    def _corners(self) -> Iterator[tuple[int, int]]:
        starts = range(0, len(self._unit), TILE)
        return ((i, j) for i in starts for j in starts if i <= j)

    def _tile(self, i: int, j: int) -> Array:
        tile: Array = np.matmul(self._unit[i : i + TILE], self._unit[j : j + TILE].T)
        if i == j:
            np.fill_diagonal(tile, 1.0)
        return self._strength(tile)

    def _strength(self, tile: Array) -> Array:
        return np.abs(tile, out=tile)

    def tiles(self) -> Iterator[tuple[int, int, Array]]:
        """Yield the first row, the first column and the values of each tile."""
        corners = self._corners()
        if self._kept is None:
            yield from ((i, j, self._tile(i, j)) for i, j in corners)
        else:
            yield from ((i, j, tile) for (i, j), tile in zip(corners, self._kept, strict=True))

    def __matmul__(self, v: Array) -> Array:
        v = v.astype(self._dtype, copy=False)
        product = np.zeros(len(v))
        for i, j, tile in self.tiles():
            product[i : i + TILE] += tile @ v[j : j + TILE]
            if i != j:
                product[j : j + TILE] += v[i : i + TILE] @ tile
        return product
