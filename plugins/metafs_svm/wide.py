r"""Machines for wide tables, more columns than rows, which work with the Gram matrix K.

With :math:`w = \sum_i \beta_i x_i` and :math:`D = \mathrm{diag}(1 / 2 C_i)` the system of the
active set A is

.. math:: (K_{AA} + D_{AA})\, \beta_A = s_A, \qquad \beta_i = 0 \text{ elsewhere}

and :math:`w \cdot x_i = (K \beta)_i`. The inverse P is kept with zeros in the rows and columns of
samples that are not active. When the columns z of the table go, and when samples B enter or leave,

.. math::
    P &\leftarrow P + P z (I - z^\top P z)^{-1} z^\top P \\
    P &\leftarrow P + U (K_{BB} + D_{BB} - K_{BA} P_{AA} K_{AB})^{-1} U^\top,
        \quad U = P K_{\cdot B} - I_{\cdot B} \\
    P &\leftarrow P - P_{\cdot B} P_{BB}^{-1} P_{B \cdot}
"""

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dger
from scipy.sparse import issparse

from metafs.data.typing import Array, Matrix
from metafs_svm.newton import ROUNDING, Machine, inverse, plus_low_rank, plus_rank_one
from metafs_svm.table import Table


class GramTable(Table):
    """The columns of a table and the products of its rows, each with a constant 1 appended.

    Taking a column out of the products leaves an error in proportion to what they were; they are
    computed anew each time their trace has halved.
    """

    gram: Array

    def __init__(self, X: Matrix) -> None:
        super().__init__(X)
        self._multiply()

    def drop(self, columns: Array) -> Matrix:
        """Make columns zero, and return what they were, each as a row."""
        x = super().drop(columns)
        if issparse(x):
            product = (x.T @ x).tocoo()
            self.gram[product.row, product.col] -= product.data
        elif len(x) == 1:
            self.gram = dger(-1.0, x[0], x[0], a=self.gram, overwrite_a=1)
        else:
            self.gram -= x.T @ x
        if 2 * self.gram.trace() < self._trace:
            self._multiply()
        return x

    def _multiply(self) -> None:
        product = self.columns.T @ self.columns
        self.gram = np.asfortranarray(product.toarray() if issparse(product) else product)
        self.gram += 1.0
        self._trace = float(self.gram.trace())


class WideMachine(Machine):
    """A machine whose coefficients are one beta per sample."""

    def __init__(self, table: GramTable, signs: Array, costs: Array) -> None:
        super().__init__(signs, costs)
        self.table = table
        self.coefficients = np.zeros(len(signs))
        self._negligible = len(signs) * (ROUNDING / 10) ** 2
        self._signed_ridge = signs * self.ridge
        self._factorise()

    def weights(self) -> Array:
        """Return the weight of every column of the table."""
        return np.asarray(self.table.columns @ self.coefficients)

    def drop(self, columns: Array, x: Matrix) -> None:
        """Do without columns that the table has dropped, x being what they were."""
        self.decision = self.decision - x.T @ (x @ self.coefficients)
        try:
            self._drop_low_rank(x)
        except LinAlgError:
            self._factorise()

    def squeeze(self, keep: Array) -> None:
        """Forget all columns but those to keep: there is nothing to forget."""

    def _drop_low_rank(self, x: Matrix) -> None:
        n_gone = x.shape[0]
        if n_gone == 1 and not issparse(x):
            u = self.inverse @ x[0]
            self.inverse = plus_rank_one(self.inverse, 1.0, u, 1.0 - x[0] @ u)
        elif 4 * n_gone > len(self.signs):
            self._factorise()
        else:
            U = self.inverse @ x.T
            self.inverse = plus_low_rank(self.inverse, 1.0, U, np.eye(n_gone) - x @ U)

    def _factorise(self) -> None:
        active = np.flatnonzero(self.active)
        block = np.ix_(active, active)
        system = self.table.gram[block]
        system.flat[:: len(active) + 1] += self.ridge[active]
        self.inverse = np.zeros((len(self.signs), len(self.signs)), order="F")
        self.inverse[block] = inverse(system)

    def _enter(self, samples: Array) -> None:
        U = self.inverse @ self.table.gram[:, samples]
        S = self.table.gram[np.ix_(samples, samples)] - self.table.gram[samples] @ U
        S.flat[:: len(samples) + 1] += self.ridge[samples]
        U[samples, np.arange(len(samples))] = -1.0
        self.inverse = plus_low_rank(self.inverse, 1.0, U, S)

    def _leave(self, samples: Array) -> None:
        U = self.inverse[:, samples]
        self.inverse = plus_low_rank(self.inverse, -1.0, U, U[samples])
        self.inverse[samples] = 0.0
        self.inverse[:, samples] = 0.0

    def _stationary(self) -> Array:
        return np.asarray(self.inverse @ self.signs)

    def _residual(self, coefficients: Array, decision: Array) -> Array:
        return self.active * (self.signs - decision - self.ridge * coefficients)

    def _decide(self, coefficients: Array) -> Array:
        return np.asarray(self.table.gram @ coefficients)

    def _loss(self, coefficients: Array, decision: Array) -> Array:
        # Where the margin is hard, the losses of active samples are too small for 1 - s w . x.
        exact = self._signed_ridge * coefficients
        return np.asarray(np.where(self.active, exact, 1.0 - self.signs * decision))

    def _rounding(self, coefficients: Array, decision: Array) -> Array:
        exact = ROUNDING * np.abs(coefficients).max() * self.ridge
        unsolved = np.abs(self._residual(coefficients, decision)).max()
        return np.asarray(np.where(self.active, exact, ROUNDING + 2 * unsolved))

    def _dot(self, coefficients: Array, decision: Array, other: Array) -> float:
        return float(decision @ other)
