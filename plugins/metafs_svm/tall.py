r"""Machines for tall tables, at least as many rows as columns, which work with the Hessian H.

The system of the active set A is

.. math::
    H w = \sum_{i \in A} 2 C_i s_i x_i, \qquad H = I + \sum_{i \in A} 2 C_i x_i x_i^\top

A column that has gone is zero, with a zero weight.
"""

import numpy as np
from scipy.linalg import LinAlgError

from metafs.typing import Array
from metafs_svm.newton import Machine, inverse, plus_low_rank
from metafs_svm.table import Table


class TallTable(Table):
    """The columns of a dense table, the last of them a constant 1."""

    def __init__(self, X: Array) -> None:
        super().__init__(np.vstack([X.T, np.ones(len(X))]))

    def squeeze(self, keep: Array) -> None:
        """Forget all columns but those to keep and the constant."""
        super().squeeze(np.append(keep, len(self.columns) - 1))


class TallMachine(Machine):
    """A machine whose coefficients are one weight per column, the last of them the intercept."""

    target: Array

    def __init__(self, table: TallTable, signs: Array, costs: Array) -> None:
        super().__init__(signs, costs)
        self.table = table
        self.coefficients = np.zeros(len(table.columns))
        self._factorise()

    def weights(self) -> Array:
        """Return the weight of every column of the table."""
        return self.coefficients[:-1]

    def drop(self, columns: Array, x: Array) -> None:
        """Do without columns that the table has dropped, x being what they were."""
        self.decision = self.decision - self.coefficients[columns] @ x
        self.coefficients[columns] = 0.0
        self.target[columns] = 0.0
        U = self.inverse[:, columns]
        try:
            self.inverse = plus_low_rank(self.inverse, -1.0, U, U[columns])
        except LinAlgError:
            self._factorise()
        self.inverse[columns] = 0.0
        self.inverse[:, columns] = 0.0

    def squeeze(self, keep: Array) -> None:
        """Forget all columns but those to keep, as the table has done."""
        keep = np.append(keep, len(self.coefficients) - 1)
        self.coefficients = self.coefficients[keep]
        self.target = self.target[keep]
        self.inverse = np.asfortranarray(self.inverse[np.ix_(keep, keep)])

    def _factorise(self) -> None:
        x = self.table.columns[:, self.active]
        scaled = x / self.ridge[self.active]
        system = scaled @ x.T
        system.flat[:: len(system) + 1] += 1.0
        self.inverse = inverse(system)
        self.target = scaled @ self.signs[self.active]

    def _enter(self, samples: Array) -> None:
        self._low_rank(samples, 1.0)

    def _leave(self, samples: Array) -> None:
        self._low_rank(samples, -1.0)

    def _low_rank(self, samples: Array, sign: float) -> None:
        x = self.table.columns[:, samples]
        U = self.inverse @ x
        S = sign * (x.T @ U)
        S.flat[:: len(samples) + 1] += self.ridge[samples]
        self.inverse = plus_low_rank(self.inverse, -sign, U, S)
        self.target = self.target + sign * (x @ (self.signs[samples] / self.ridge[samples]))

    def _stationary(self) -> Array:
        return np.asarray(self.inverse @ self.target)

    def _residual(self, coefficients: Array, decision: Array) -> Array:
        pull = self.active * (self.signs - decision) / self.ridge
        return np.asarray(self.table.columns @ pull - coefficients)

    def _decide(self, coefficients: Array) -> Array:
        return np.asarray(coefficients @ self.table.columns)

    def _dot(self, coefficients: Array, decision: Array, other: Array) -> float:
        return float(coefficients @ other)
