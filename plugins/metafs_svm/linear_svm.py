r"""Linear support vector machines, one class against the rest, that lose column after column.

With two classes there is one machine, otherwise one per class, as in scikit-learn's LinearSVC.
What a column counts for is the sum over the machines of its squared weights,

.. math:: c_j = \sum_k w_{kj}^2
"""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs_svm.large import LargeMachine
from metafs_svm.table import TableWithConstant
from metafs_svm.tall import TallMachine
from metafs_svm.wide import GramTable, WideMachine

HARD_MARGIN = 1e10
"""The cost of a sample, in units of its inverse square, beyond which more changes nothing."""

MEMORY = 2**29
"""Memory in bytes that all machines may use in addition to the table; beyond it they iterate."""

_SQUEEZE = 7 / 8


def largest_square(X: Matrix) -> float:
    """Return the largest squared length of a row, with a constant 1 appended."""
    with np.errstate(over="ignore"):
        squares = X.multiply(X).sum(axis=1) if issparse(X) else np.einsum("ij,ij->i", X, X)
    largest = float(np.max(squares)) + 1.0
    if not np.isfinite(largest):
        raise UsageError("the values are too large for a linear SVM: scale the features.")
    return largest


def labels_against_rest(y: Array) -> list[Array]:
    """Return for each machine 1 where a sample is of its class, else -1; y holds 0, 1, ...

    Examples
    --------
    >>> [signs.tolist() for signs in labels_against_rest(np.array([0, 1, 1]))]
    [[-1.0, 1.0, 1.0]]
    """
    classes = np.unique(y)
    classes = classes[1:] if len(classes) == 2 else classes
    return [np.where(y == c, 1.0, -1.0) for c in classes]


def kind_of_machine(shape: tuple[int, int], sparse: bool, n_machines: int) -> Any:
    """Return the class of machine for a table, by what each would have to keep."""
    m, n = shape
    if (n_machines + 1) * min(m, n) ** 2 * 8 > MEMORY:
        return LargeMachine
    if n > m:
        return WideMachine
    return LargeMachine if sparse and m * n * 8 > MEMORY else TallMachine


class LinearSVMs:
    """The machines of a problem, and the columns they still have.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The table.
    y : ndarray of shape (n_samples,)
        Classes 0, 1, ..., at least two of them.
    costs : ndarray of shape (n_samples,)
        C of each sample, positive.

    Examples
    --------
    >>> svms = LinearSVMs(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.array([0, 1]), np.ones(2))
    >>> svms.squared_weights()
    array([0.64, 0.  ])
    """

    def __init__(self, X: Matrix, y: Array, costs: Array) -> None:
        self._features = np.arange(X.shape[1])
        self._left = np.ones(X.shape[1], dtype=bool)
        self._labels = labels_against_rest(y)
        self._costs = np.minimum(costs, HARD_MARGIN / largest_square(X))
        self._begin(X)

    @property
    def features(self) -> Array:
        """The columns that are left, as numbered in X."""
        return self._features[self._left]

    def squared_weights(self) -> Array:
        """Train, and return what each column that is left counts for."""
        total = 0.0
        for machine in self.machines:
            machine.train()
            total = total + machine.weights() ** 2
        return np.asarray(total)[self._left]

    def drop(self, features: Array) -> None:
        """Do without columns, given as numbered in X; at least one must be left."""
        columns = np.searchsorted(self._features, features)
        self._left[columns] = False
        x = self._table.drop(columns)
        for machine in self.machines:
            machine.drop(columns, x)
        if np.count_nonzero(self._left) < _SQUEEZE * len(self._left):
            self._squeeze()

    def _begin(self, X: Matrix) -> None:
        """Make new machines of the kind that the shape of a table asks for."""
        kind = kind_of_machine(X.shape, issparse(X), len(self._labels))
        if kind is TallMachine and issparse(X):
            X = X.toarray()
        self._table = GramTable(X) if kind is WideMachine else TableWithConstant(X)
        self.machines = [kind(self._table, signs, self._costs) for signs in self._labels]

    def _squeeze(self) -> None:
        keep = np.flatnonzero(self._left)
        self._features = self._features[keep]
        self._left = self._left[keep]
        columns = self._table.columns
        shape = columns.shape[1], len(keep)
        kind = kind_of_machine(shape, issparse(columns), len(self._labels))
        if kind is not type(self.machines[0]):
            self._begin(columns[keep].T)
            return
        self._table.squeeze(keep)
        for machine in self.machines:
            machine.squeeze(keep)
