r"""Linear support vector machines, one class against the rest, that lose column after column.

With two classes there is one machine, otherwise one per class, as in scikit-learn's LinearSVC.
What a column counts for is the sum over the machines of its squared weights,

.. math:: c_j = \sum_k w_{kj}^2
"""

import numpy as np

from metafs.matrix import dense
from metafs.typing import Array, Matrix
from metafs_svm.tall import TallMachine, TallTable
from metafs_svm.wide import GramTable, WideMachine

_SQUEEZE = 7 / 8


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
        self._table: GramTable | TallTable
        self.machines: list[WideMachine] | list[TallMachine]
        if X.shape[1] > X.shape[0]:
            self._table = table = GramTable(X)
            self.machines = [WideMachine(table, signs, costs) for signs in labels_against_rest(y)]
        else:
            self._table = tall = TallTable(dense(X, "a linear SVM"))
            self.machines = [TallMachine(tall, signs, costs) for signs in labels_against_rest(y)]

    @property
    def features(self) -> Array:
        """The columns that are left, as numbered in X."""
        return self._features[self._left]

    def squared_weights(self) -> Array:
        """Train, and return what each column that is left counts for."""
        total = np.zeros(len(self._features))
        for machine in self.machines:
            machine.train()
            total += machine.weights() ** 2
        return total[self._left]

    def drop(self, features: Array) -> None:
        """Do without columns, given as numbered in X; at least one must be left."""
        columns = np.searchsorted(self._features, features)
        self._left[columns] = False
        x = self._table.drop(columns)
        for machine in self.machines:
            machine.drop(columns, x)
        if self._left.sum() < _SQUEEZE * len(self._left):
            self._squeeze()

    def _squeeze(self) -> None:
        keep = np.flatnonzero(self._left)
        self._table.squeeze(keep)
        for machine in self.machines:
            machine.squeeze(keep)
        self._features = self._features[keep]
        self._left = self._left[keep]
