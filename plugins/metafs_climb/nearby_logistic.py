r"""Logistic regression on sets of features near one that is solved, in all folds at once.

A search asks for sets that differ in few features from the set it stands on. What
`metafs_climb.newton_logistic` minimises has, for this set, its minimum at w and the Hessian H
there, with the inverse M. Taking the columns R out, or putting the columns J in, leaves

.. math:: M' = M - M_{\cdot R} M_{RR}^{-1} M_{R \cdot}, \qquad
          M'' = \begin{pmatrix} M + U K^{-1} U^\top & -U K^{-1} \\ -K^{-1} U^\top & K^{-1}
          \end{pmatrix}

.. math:: U = M B, \qquad K = H_{JJ} - B^\top U, \qquad B = A^\top W A_J, \qquad
          H_{JJ} = A_J^\top W A_J + D_J

as the inverse, at the same w with 0 for J; W holds :math:`n_i p_i (1 - p_i)` of the rows. From
there the minimum is looked for in steps that keep the Hessian (the chord method). A step costs
:math:`n d` multiplications for d columns, one of Newton's method :math:`n d^2`. Both come to the
same minimum; where chords are slow to, Newton's method takes over.

Chords stop as soon as no test row can change sides any more. Let the decisions on training rows
have moved by at most :math:`\delta` since w, and have at most :math:`\rho` to go to the minimum.
Their weights have then not fallen below :math:`e^{-\delta-\rho}` times what they were, so that, at
gradient g, the decision on row i with values a has at most

.. math:: e^{\delta + \rho} \, r_i \sqrt{g^\top M g}, \qquad r_i = \sqrt{a^\top M a}

to go, by the inequality of Cauchy and Schwarz. If this is below :math:`\rho` for every row, the
assumption was right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from metafs.typing import Array
from metafs_climb.fold_tables import FoldTables
from metafs_climb.newton_logistic import TIE, design, hessian, minimum

SETTLED = 1e-10
"""A chord that moves no decision further is the last: those to come would add up to as little."""
MAX_CHORDS = 30
"""Chords after which Newton's method is the better one."""
LITTLE = 0.25
"""The assumed :math:`\\rho`."""
NEAR = 8
"""Features by which a set may differ to count as near."""


def without(M: Array, places: Sequence[int]) -> Array:
    """Return the inverse of each matrix whose inverse is M, after some rows and columns leave it.

    Examples
    --------
    >>> H = np.array([[[2.0, 1.0], [1.0, 3.0]]])
    >>> without(np.linalg.inv(H), [1]).round(12)
    array([[[0.5]]])
    """
    left = np.delete(M, places, axis=2)
    of_places = M[:, places][:, :, places]
    both = np.delete(left, places, axis=1)
    product = np.linalg.solve(of_places, left[:, places])
    return np.asarray(both - np.swapaxes(left[:, places], 1, 2) @ product)


def bordered(M: Array, B: Array, H_JJ: Array) -> Array:
    """Return the inverse of each matrix whose inverse is M, after rows and columns join it.

    Examples
    --------
    >>> M, B, H_JJ = np.array([[[0.5]]]), np.array([[[1.0]]]), np.array([[[3.0]]])
    >>> np.linalg.inv(bordered(M, B, H_JJ)).round(12)
    array([[[2., 1.],
            [1., 3.]]])
    """
    U = M @ B
    U_T = np.swapaxes(U, 1, 2)
    K_inverse = np.linalg.inv(H_JJ - np.swapaxes(B, 1, 2) @ U)
    corner = -U @ K_inverse
    above = np.concatenate([M - corner @ U_T, corner], axis=2)
    below = np.concatenate([np.swapaxes(corner, 1, 2), K_inverse], axis=2)
    return np.concatenate([above, below], axis=1)


@dataclass(frozen=True, eq=False)
class SolvedSet:
    """A set of features that is solved in every fold.

    Attributes
    ----------
    features : array of int
        Ascending; the columns of A are these, after a first one of ones.
    A, D : arrays of shape (n_rows, d) and (n_folds, d)
        Columns and penalties.
    w, M : arrays of shape (n_folds, d) and (n_folds, d, d)
        The weights at the minimum, and the inverse Hessian there.
    decided, weights, reach2 : arrays of shape (n_folds, n_rows)
        The decision on each row, what the row weighs in the Hessian, and :math:`r_i^2`.
    """

    features: Array
    A: Array
    D: Array
    w: Array
    M: Array
    decided: Array
    weights: Array
    reach2: Array


class LogisticRows:
    """Fits of many sets of features to the rows of one problem.

    Parameters
    ----------
    tables : FoldTables
        A problem of two classes, cut into folds.
    C, scaled
        As `metafs_climb.newton_logistic.recognised` returns them.
    """

    def __init__(self, tables: FoldTables, C: float, scaled: bool) -> None:
        self.tables, self.C, self.scaled = tables, C, scaled
        self.n_in = np.zeros((len(tables.folds), tables.problem.n_samples))
        for fold, (train, _) in enumerate(tables.folds):
            self.n_in[fold, train] = 1.0
        self.n_one = self.n_in * tables.problem.y
        self._trained = self.n_in > 0
        self._base: SolvedSet | None = None

    def decisions(self, base: Array, features: Array) -> Array | None:
        """Return a decision on each row in each fold, on test rows of the right sign at least.

        A set near ``base`` is fitted from there. ``base``, or a set that is far from it, is
        solved by Newton's method, and remembered until another one is. None if that fails.
        """
        far = len(set(base.tolist()) ^ set(features.tolist())) > NEAR
        start = features if far else base
        if self._base is None or not np.array_equal(self._base.features, start):
            self._base = self._solved(start, self._base)
        if self._base is None or far:
            return None if self._base is None else self._base.decided
        found = self._by_chords(self._base, features)
        if found is None:
            solved = self._solved(features, self._base)
            found = None if solved is None else solved.decided
        return found

    def _by_chords(self, base: SolvedSet, features: Array) -> Array | None:
        A, D, w, M, reach = self._moved(base, features)
        A_T = np.ascontiguousarray(A.T)
        decided = w @ A_T
        for _ in range(MAX_CHORDS):
            g = (self.n_in * expit(decided) - self.n_one) @ A + D * w
            step = (M @ g[:, :, None])[:, :, 0]
            moved = step @ A_T
            if np.abs(moved).max() < SETTLED:
                return np.asarray(decided)
            since = np.abs(decided - base.decided).max(axis=1) + LITTLE
            left = np.exp(since) * np.sqrt(np.maximum((g * step).sum(axis=1), 0.0))
            to_go = left[:, None] * reach
            if to_go.max() < LITTLE and (self._trained | (np.abs(decided) > to_go + TIE)).all():
                return np.asarray(decided)
            w, decided = w - step, decided - moved
        return None

    def _moved(self, base: SolvedSet, features: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Return A, D, w, M and the reach of a set near one that is solved, at its weights."""
        A, D, w, M, reach2 = base.A, base.D, base.w, base.M, base.reach2
        before, chosen = base.features.tolist(), set(features.tolist())
        if leaves := [1 + place for place, j in enumerate(before) if j not in chosen]:
            A, D, w = (np.delete(each, leaves, axis=1) for each in (A, D, w))
            M = without(M, leaves)
        joins = sorted(chosen.difference(before))
        if k := len(joins):
            A_J, D_J = (each[:, 1:] for each in self._design(joins))
            weighted = base.weights[:, :, None] * A_J
            M = bordered(M, A.T @ weighted, A_J.T @ weighted + D_J[:, :, None] * np.eye(k))
            A, D = np.concatenate([A, A_J], axis=1), np.concatenate([D, D_J], axis=1)
            w = np.concatenate([w, np.zeros_like(D_J)], axis=1)
            E = A @ M[:, :, -k:]
            reach2 = reach2 + (E * (E @ np.linalg.inv(M[:, -k:, -k:]))).sum(axis=2)
        return A, D, w, M, np.sqrt(reach2)

    def _solved(self, features: Array, before: SolvedSet | None) -> SolvedSet | None:
        """Solve a set by Newton's method, from the weights of one that was solved before."""
        A, D = self._design(features.tolist())
        w = np.zeros_like(D)
        if before is not None:
            _, here, there = np.intersect1d(features, before.features, return_indices=True)
            w[:, 0], w[:, 1 + here] = before.w[:, 0], before.w[:, 1 + there]
        w = minimum(A, D, self.n_in, self.n_one, w)
        if np.isnan(w).any():
            return None
        decided = w @ A.T
        p = expit(decided)
        M = np.linalg.inv(hessian(A, D, self.n_in, p))
        reach2 = ((A @ M) * A).sum(axis=2)
        return SolvedSet(features, A, D, w, M, decided, self.n_in * p * (1 - p), reach2)

    def _design(self, features: Sequence[int]) -> tuple[Array, Array]:
        values = np.stack([self.tables.column(j) for j in features], axis=1)
        return design(values, self.n_in, self.C, self.scaled)
