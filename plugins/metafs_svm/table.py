"""The columns that machines share, each as a row, of which more and more are dropped."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from metafs.data.typing import Array, Matrix


class Table:
    """Columns of a table, each as a row of a dense or a sparse matrix."""

    columns: Any  # an ndarray or a csr_array

    def __init__(self, X: Matrix) -> None:
        self.columns = csr_array(X.T) if issparse(X) else np.array(X.T, order="C")

    def drop(self, columns: Array) -> Matrix:
        """Make columns zero, and return what they were, each as a row."""
        x: Matrix
        if issparse(self.columns):
            x = self.columns[columns]
            for j in columns.tolist():
                self.columns.data[self.columns.indptr[j] : self.columns.indptr[j + 1]] = 0.0
            return x
        rows = slice(columns[0], columns[0] + 1) if len(columns) == 1 else columns
        x = self.columns[rows].copy()
        self.columns[rows] = 0.0
        return x

    def squeeze(self, keep: Array) -> None:
        """Forget all columns but those to keep."""
        self.columns = self.columns[keep]


class TableWithConstant(Table):
    """Columns of a table and, as the last of them, a constant 1."""

    def __init__(self, X: Matrix) -> None:
        both = [X.T, np.ones((1, X.shape[0]))]
        self.columns = vstack(both, format="csr") if issparse(X) else np.vstack(both)

    def squeeze(self, keep: Array) -> None:
        """Forget all columns but those to keep and the constant."""
        super().squeeze(np.append(keep, self.columns.shape[0] - 1))
