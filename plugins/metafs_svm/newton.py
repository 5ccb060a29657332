r"""Newton's method for a linear support vector machine, from one active set to the next.

The machine has labels :math:`s_i = \pm 1`, costs :math:`C_i`, and a constant 1 appended to every
sample, so that the intercept is a weight like any other, as in liblinear:

.. math:: \min_w \tfrac12 |w|^2 + \sum_i C_i \max(0, 1 - s_i\, w \cdot x_i)^2

On the active samples A, those with :math:`s_i\, w \cdot x_i < 1`, this is a ridge regression of s,
solved by one linear system. Newton's method takes its solution, or goes as far towards it as the
objective falls, finds the samples that are active there, and ends when these are the same. The
objective is strictly convex: where the search starts changes the time it takes and nothing else.

A machine keeps the inverse P of its system. A column that goes, or samples that enter or leave A,
change it by a term of low rank, :math:`P \pm U S^{-1} U^\top`. What rounding does to P is measured
by what is left of the system when its solution is put in; the solution is corrected by that, and
P computed anew when it has drifted too far.

S. S. Keerthi, D. DeCoste, "A modified finite Newton method for fast solution of large scale
linear SVMs", Journal of Machine Learning Research 6, 2005.
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.blas import dgemm, dger
from scipy.linalg.lapack import dposv, dpotrf, dpotri

from metafs.data.typing import Array

EXACT = 1e-11
"""The relative correction of a solution below which its accuracy is that of the inverse."""

DRIFT = 1e-5
"""The relative correction beyond which the inverse is computed anew."""

ROUNDING = 1e-12
"""The share of a quantity that may be nothing but rounding."""

_CORRECTIONS = 3
_STEPS = 1000
_STEPS_PER_INVERSE = 25


def inverse(S: Array) -> Array:
    """Return the inverse of a positive definite matrix, in Fortran's order."""
    if not len(S):
        return S
    factor, failed = dpotrf(S)
    if failed:
        raise LinAlgError("the matrix is not positive definite")
    upper, _ = dpotri(factor)
    both = np.asfortranarray(upper + upper.T)
    np.fill_diagonal(both, upper.diagonal())
    return both


def plus_rank_one(P: Array, sign: float, u: Array, s: float) -> Array:
    r"""Return :math:`P \pm u u^\top / s`, written over P, for a positive s."""
    if not s > 0:
        raise LinAlgError("the matrix is not positive definite")
    return np.asarray(dger(sign / s, u, u, a=P, overwrite_a=1))


def plus_low_rank(P: Array, sign: float, U: Array, S: Array) -> Array:
    r"""Return :math:`P \pm U S^{-1} U^\top`, written over P, for a positive definite S."""
    if len(S) == 1:
        return plus_rank_one(P, sign, U[:, 0], S[0, 0])
    _, V, failed = dposv(S, U.T)
    if failed:
        raise LinAlgError("the matrix is not positive definite")
    return np.asarray(dgemm(sign, U, V, 1.0, P, overwrite_c=1))


class Machine(ABC):
    """One linear machine: its coefficients, what it says of each sample, and its active set.

    Parameters
    ----------
    signs : ndarray of shape (n_samples,)
        1 for the class, -1 for the rest.
    costs : ndarray of shape (n_samples,)
        The cost of a loss of 1, positive, one per sample.
    """

    coefficients: Array
    inverse: Array
    _negligible = 0.0  # the squared length of a residual that needs no correction

    def __init__(self, signs: Array, costs: Array) -> None:
        self.signs = signs
        self.costs = costs
        self.ridge = 0.5 / costs
        self.active = np.ones(len(signs), dtype=bool)
        self.decision = np.zeros(len(signs))

    @abstractmethod
    def _factorise(self) -> None:
        """Compute the inverse from the active set."""

    @abstractmethod
    def _enter(self, samples: Array) -> None:
        """Bring samples into the inverse."""

    @abstractmethod
    def _leave(self, samples: Array) -> None:
        """Take samples out of the inverse."""

    @abstractmethod
    def _stationary(self) -> Array:
        """Return the coefficients that solve the system of the active set."""

    @abstractmethod
    def _residual(self, coefficients: Array, decision: Array) -> Array:
        """Return by how much coefficients fail to solve the system of the active set."""

    @abstractmethod
    def _decide(self, coefficients: Array) -> Array:
        """Return w . x of every sample."""

    @abstractmethod
    def _loss(self, coefficients: Array, decision: Array) -> Array:
        """Return 1 - s w . x at a solution of the system."""

    @abstractmethod
    def _rounding(self, coefficients: Array, decision: Array) -> Array:
        """Return how large a loss may be that is nothing but rounding."""

    @abstractmethod
    def _dot(self, coefficients: Array, decision: Array, other: Array) -> float:
        """Return the product of two weight vectors, the first of which decides as given."""

    def train(self) -> None:
        """Move to the optimum, from wherever the machine stands."""
        for step in range(1, _STEPS + 1):
            target, decided = self._solution()
            misplaced = self._misplaced(target, decided)
            if not np.count_nonzero(misplaced):
                break
            part = self._part_of_way(target, decided)
            if part == 1:
                self.coefficients, self.decision = target, decided
            else:
                self.coefficients = self.coefficients + part * (target - self.coefficients)
                self.decision = self.decision + part * (decided - self.decision)
                misplaced = (self.signs * self.decision < 1) != self.active
            if part == 0 and not np.count_nonzero(misplaced):
                break
            self._switch(misplaced)
            if step % _STEPS_PER_INVERSE == 0:
                self._factorise()
        self.coefficients, self.decision = target, decided

    def _misplaced(self, coefficients: Array, decision: Array) -> Array:
        """Return which samples a solution puts on the other side of their margin than A does."""
        loss = self._loss(coefficients, decision)
        other: Array = (loss > 0) != self.active
        if np.count_nonzero(other):
            other &= np.abs(loss) > self._rounding(coefficients, decision)
        return other

    def _solution(self) -> tuple[Array, Array]:
        """Solve the system of the active set, and correct what rounding does to the solution."""
        coefficients = self._stationary()
        decision = self._decide(coefficients)
        for _ in range(_CORRECTIONS):
            residual = self._residual(coefficients, decision)
            if residual @ residual <= self._negligible:
                break
            correction = self.inverse @ residual
            size, whole = correction @ correction, coefficients @ coefficients
            if size <= EXACT**2 * whole:
                break
            if size <= DRIFT**2 * whole:
                coefficients = coefficients + correction
            else:
                self._factorise()
                coefficients = self._stationary()
            decision = self._decide(coefficients)
        return coefficients, decision

    def _objective(self, coefficients: Array, decision: Array) -> float:
        loss = np.maximum(0.0, 1.0 - self.signs * decision)
        return float(
            self._dot(coefficients, decision, coefficients) / 2 + self.costs @ (loss * loss)
        )

    def _part_of_way(self, target: Array, decided: Array) -> float:
        """Return how far to go towards a target for the objective to fall; 0 if it cannot."""
        way, ahead = target - self.coefficients, decided - self.decision
        loss = np.maximum(0.0, 1.0 - self.signs * self.decision)
        slope = self._dot(self.coefficients, self.decision, way)
        slope -= 2 * float((self.costs * self.signs * loss) @ ahead)
        here = self._objective(self.coefficients, self.decision)
        part = 1.0
        while slope * part < -1e-15 * here:
            there = self.coefficients + part * way, self.decision + part * ahead
            if self._objective(*there) <= here + 1e-4 * part * slope:
                return part
            part /= 2
        return 0.0

    def _switch(self, samples: Array) -> None:
        """Let samples enter or leave the active set."""
        leave, enter = np.flatnonzero(samples & self.active), np.flatnonzero(samples & ~self.active)
        self.active = self.active ^ samples
        if 4 * (len(leave) + len(enter)) > len(self.inverse):
            self._factorise()
            return
        try:
            if len(leave):
                self._leave(leave)
            if len(enter):
                self._enter(enter)
        except LinAlgError:
            self._factorise()
