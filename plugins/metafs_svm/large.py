r"""Machines for tables too large for a matrix of samples or of columns.

The system is that of `metafs_svm.tall`, solved by conjugate gradients that ask for nothing but
products with the table. They start from the weights before and are scaled by the diagonal of H.
"""

import numpy as np
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, cg

from metafs.data.typing import Array, Matrix
from metafs_svm.tall import TallMachine

UNSOLVED = 1e-11
"""The relative residual at which conjugate gradients stop."""

ON_MARGIN = 1e-8
"""A sample this near to its margin may count as active or not."""


class LargeMachine(TallMachine):
    """A machine whose system is solved by iteration."""

    def drop(self, columns: Array, x: Matrix) -> None:
        """Do without columns that the table has dropped, x being what they were."""
        self._forget(columns, x)

    def squeeze(self, keep: Array) -> None:
        """Forget all columns but those to keep, as the table has done."""
        self._keep(np.append(keep, len(self.coefficients) - 1))

    def _factorise(self) -> None:
        self.target = np.asarray(self.table.columns @ (self.active * self.signs / self.ridge))

    def _switch(self, samples: Array) -> None:
        self.active = self.active ^ samples
        self._factorise()

    def _solution(self) -> tuple[Array, Array]:
        columns, curvature = self.table.columns, self.active / self.ridge
        squares = columns.multiply(columns) if issparse(columns) else columns**2
        diagonal = 1.0 + squares @ curvature

        def hessian(w: Array) -> Array:
            return np.asarray(w + columns @ (curvature * (columns.T @ w)))

        size = (len(diagonal), len(diagonal))
        solution, _ = cg(
            LinearOperator(size, matvec=hessian, dtype=np.float64),
            self.target,
            x0=self.coefficients,
            rtol=UNSOLVED,
            M=LinearOperator(size, matvec=lambda r: r / diagonal, dtype=np.float64),
        )
        return solution, self._decide(solution)

    def _rounding(self, coefficients: Array, decision: Array) -> Array:
        return ON_MARGIN * (1.0 + np.abs(decision))
