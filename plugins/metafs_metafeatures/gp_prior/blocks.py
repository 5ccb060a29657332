r"""Equal blocks of a covariance and their root, taken apart along the axes of a grid.

A block is a Kronecker product of factors, :math:`C = C_1 \otimes C_2 \otimes \dots`, or one factor
where the features of a block form no grid. Its symmetric root is that of the factors,
:math:`R = C_1^{1/2} \otimes C_2^{1/2} \otimes \dots`, and blocks that are equal share it: their
rows are multiplied together.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import eigh

from metafs.data.typing import Array

_SMALL = 1_500
_COLUMNS_AT_ONCE = 2_048


def symmetric_root(C: Array) -> Array:
    """Return the symmetric R with R R = C, negative eigenvalues of C taken for 0.

    Examples
    --------
    >>> symmetric_root(np.array([[4.0, 0.0], [0.0, 9.0]]))
    array([[2., 0.],
           [0., 3.]])
    """
    values, vectors = eigh(C)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


@dataclass(frozen=True)
class Factor:
    """The covariance along an axis of a block, or of a whole block that has no axes."""

    matrix: Array

    @cached_property
    def root(self) -> Array:
        """Its symmetric root."""
        return symmetric_root(self.matrix)

    @cached_property
    def covariance(self) -> Array:
        """The covariance itself, without negative eigenvalues where those are cheap to know."""
        return self.root @ self.root if self.is_small else self.matrix

    @property
    def is_small(self) -> bool:
        """Whether the cost of the root is small compared with its use."""
        return len(self.matrix) <= _SMALL


def along_axes(rows: Array, matrices: list[Array]) -> Array:
    """Return rows times the Kronecker product of symmetric matrices.

    Examples
    --------
    >>> A, B = np.array([[2.0, 1.0], [1.0, 0.0]]), np.array([[0.0, 1.0], [1.0, 5.0]])
    >>> along_axes(np.array([[1.0, 2.0, 3.0, 4.0]]), [A, B])
    array([[ 8., 45.,  2., 11.]])
    >>> np.array([1.0, 2.0, 3.0, 4.0]) @ np.kron(A, B)
    array([ 8., 45.,  2., 11.])
    """
    shape = rows.shape
    for matrix in matrices:  # the axis multiplied comes last, and the next one after it
        size = len(matrix)
        turned = rows.reshape(shape[0], size, -1).swapaxes(1, 2)
        rows = np.matmul(turned, matrix.astype(rows.dtype, copy=False))
    return np.asarray(rows.reshape(shape))


@dataclass(frozen=True)
class EqualBlocks:
    """Blocks of the covariance that are equal but for a factor."""

    columns: Array
    """(n_blocks, block_size): the features of each block, in the order of its grid."""
    variances: Array
    """(n_blocks,): the factor of each block."""
    factors: tuple[Factor, ...]
    """Of which the block is the Kronecker product, the axis that changes slowest first."""

    @property
    def has_root(self) -> bool:
        """Whether its root costs little."""
        return all(factor.is_small for factor in self.factors)

    def parts(self) -> Iterator["EqualBlocks"]:
        """Yield some of the blocks at a time."""
        n = max(1, _COLUMNS_AT_ONCE // self.columns.shape[1])
        for start in range(0, len(self.columns), n):
            some = slice(start, start + n)
            yield replace(self, columns=self.columns[some], variances=self.variances[some])

    def times_root(self, rows: Array) -> Array:
        """Return rows, of which the columns are those of the blocks, times the root."""
        return self._times(rows, [factor.root for factor in self.factors], self.variances**0.5)

    def times_covariance(self, rows: Array) -> Array:
        """Return rows, of which the columns are those of the blocks, times the covariance."""
        return self._times(rows, [factor.covariance for factor in self.factors], self.variances)

    def _times(self, rows: Array, matrices: list[Array], scales: Array) -> Array:
        n_blocks, size = self.columns.shape
        moved = along_axes(rows.reshape(len(rows) * n_blocks, size), matrices)
        moved = moved.reshape(len(rows), n_blocks, size)
        if np.any(scales != 1.0):
            moved = moved * scales.astype(rows.dtype)[:, None]
        return np.asarray(moved.reshape(rows.shape))
