r"""Machines for tall tables, at least as many rows as columns, which work with the Hessian H.

The system of the active set A is

.. math::
    H w = \sum_{i \in A} 2 C_i s_i x_i, \qquad H = I + \sum_{i \in A} 2 C_i x_i x_i^\top

When columns J go, and when samples z, as columns with costs C, enter (+) or leave (-), its inverse
P becomes

.. math::
    P &\leftarrow P - P_{\cdot J} P_{JJ}^{-1} P_{J \cdot} \\
    P &\leftarrow P \mp P z (\mathrm{diag}(1 / 2 C) \pm z^\top P z)^{-1} z^\top P

A column that has gone stays for a while, as zeros, with a weight of zero.
"""

import numpy as np
from scipy.linalg import LinAlgError

from metafs.data.typing import Array, Matrix
from metafs_svm.newton import ROUNDING, Machine, inverse, plus_low_rank
from metafs_svm.table import TableWithConstant


class TallMachine(Machine):
    """A machine whose coefficients are one weight per column, the last of them the intercept."""

    target: Array

    def __init__(self, table: TableWithConstant, signs: Array, costs: Array) -> None:
        super().__init__(signs, costs)
        self.table = table
        self.coefficients = np.zeros(table.columns.shape[0])
        self._factorise()

    def weights(self) -> Array:
        """Return the weight of every column of the table."""
        return self.coefficients[:-1]

    def drop(self, columns: Array, x: Matrix) -> None:
        """Do without columns that the table has dropped, x being what they were."""
        self._forget(columns, x)
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
        self._keep(keep)
        self.inverse = np.asfortranarray(self.inverse[np.ix_(keep, keep)])

    def _forget(self, columns: Array, x: Matrix) -> None:
        self.decision = self.decision - x.T @ self.coefficients[columns]
        self.coefficients[columns] = 0.0
        self.target[columns] = 0.0

    def _keep(self, weights: Array) -> None:
        self.coefficients = self.coefficients[weights]
        self.target = self.target[weights]

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
        return np.asarray(self.table.columns.T @ coefficients)

    def _loss(self, coefficients: Array, decision: Array) -> Array:
        return 1.0 - self.signs * decision

    def _rounding(self, coefficients: Array, decision: Array) -> Array:
        return ROUNDING * (1.0 + np.abs(decision))

    def _dot(self, coefficients: Array, decision: Array, other: Array) -> float:
        return float(coefficients @ other)
