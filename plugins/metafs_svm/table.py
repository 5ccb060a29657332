"""The columns that machines share, each as a row, of which more and more are dropped."""

import numpy as np
from scipy.sparse import issparse

from metafs.typing import Array, Matrix


class Table:
    """Columns of a table, each as a row of a dense or a sparse matrix that it may write to."""

    def __init__(self, columns: Matrix) -> None:
        self.columns = columns

    def drop(self, columns: Array) -> Array:
        """Make columns zero, and return what they were, each as a row."""
        x = self.columns[columns]
        if not issparse(x):
            self.columns[columns] = 0.0
            return np.asarray(x)
        for j in columns.tolist():
            self.columns.data[self.columns.indptr[j] : self.columns.indptr[j + 1]] = 0.0
        return np.asarray(x.toarray())

    def squeeze(self, keep: Array) -> None:
        """Forget all columns but those to keep."""
        self.columns = self.columns[keep]
