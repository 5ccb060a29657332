r"""Logistic regression on neighbours of a solved set of features, many sets and folds at once.

A search asks for sets that differ in few features from its current set. For that set, the objective
of `metafs_climb.newton_logistic` has its minimum at w and, there or close by, the Hessian H with
the inverse M. Let W hold :math:`n_i p_i (1 - p_i)` of the rows there, and let an edit add the
columns a, with penalties d, and remove others. Removing a column means fixing its weight at 0 by a
Lagrange multiplier: a column of the system like any other, but without values and penalty. So with

.. math:: V = (A^\top W a, \; I_{\mathrm{out}}), \qquad U = M V, \qquad
          K = a^\top W a + \mathrm{diag}(d) - V^\top U, \qquad E = a - A U

and 0 for the a and d of removed columns, a step of Newton's method from gradients G, of the set,
and g, of the added columns, is

.. math:: t = K^{-1} (g - U^\top G), \qquad \Delta w = M G - U t, \qquad
          \Delta(\mathrm{decisions}) = A M G + E t

where t is the step of the added weights. The first step has G = 0, and the g of a removed column is
its weight. Later steps keep the Hessian: each goes to the minimum, by the current Hessian, in the
plane of the step from the kept Hessian and the previous step.

The iteration stops as soon as no test row can change its class. Let the Hessian at the current
point be no less than :math:`\kappa H`, and let no decision be further than :math:`\rho` from its
value at the minimum. On the way the weights of rows fall by :math:`e^{-\rho}` at most, so that the
decision on row i has at most

.. math:: \frac{e^\rho}{\kappa} \, r_i \sqrt{G^\top \Delta w + g^\top t}, \qquad
          r_i = \sqrt{(A M A^\top + E K^{-1} E^\top)_{ii}}

left, by the Cauchy-Schwarz inequality. If this is below :math:`\rho` for every row, the assumption
holds: otherwise the straight line to the minimum would contain a point at which some decision has
moved by :math:`\rho`, while up to that point the same inequality says that it has moved by less.

For :math:`\kappa`, let :math:`s_i` be the share of its weight in W that row i still has. A row
:math:`a_i` satisfies :math:`W_i a_i a_i^\top \le W_i r_i^2 H`. So for every :math:`\tau \le 1`,
rows with a share below :math:`\tau` reduce :math:`\tau H` by at most their leverage
:math:`W_i r_i^2` times the missing share:

.. math:: \kappa = \max_\tau \Big( \tau - \sum_i \max(0, \tau - s_i) \, W_i r_i^2 \Big)
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import expit

from metafs.data.typing import Array
from metafs_climb.newton_logistic import LONGEST, hessian

LITTLE = 0.25
"""The assumed :math:`\\rho`."""
SHARES = (0.05, 0.2, 0.5)
"""The values of :math:`\\tau` that are tried."""
SETTLED = 1e-10
"""Steps that move no decision further than this are negligible."""
_TINY = 1e-300
_NOTHING = 1e-30  # share of the Hessian if no bound is known
_ROUNDING = 1e-6  # relative rounding error of a small difference of large numbers
_PARALLEL = 1e-10  # squared sine below which two steps are one direction
_ZERO = 1e-8  # tolerance of a weight that is fixed at 0
_OF_SETS = (
    *("w", "decided", "to_go", "reach", "_furthest", "_a", "_stays", "_U", "_E", "_P", "_D"),
    *("_sound", "_leverage", "_weights", "_G", "_S", "_Sz", "_squared", "_dw", "_dz"),
)
"""The arrays of a descent that have the sets as their second axis."""


@dataclass(frozen=True, eq=False)
class SolvedSet:
    """A set of features that is solved in every fold.

    Attributes
    ----------
    features : array of int
        Ascending; the columns of A are these, after a first one of ones.
    A, D : arrays of shape (n_rows, d) and (n_folds, d)
        Columns and penalties.
    n_in, n_one : arrays of shape (n_folds, n_rows)
        Whether each row is trained on, and whether it is then of class 1.
    w : array of shape (n_folds, d)
        The weights at the minimum.
    """

    features: Array
    A: Array
    D: Array
    n_in: Array
    n_one: Array
    w: Array

    @cached_property
    def decided(self) -> Array:
        """The decision on each row in each fold."""
        return np.asarray(self.w @ self.A.T)

    @cached_property
    def residual(self) -> Array:
        """By how much the decision on each row that is trained on is wrong."""
        return np.asarray(self.n_in * expit(self.decided) - self.n_one)

    @cached_property
    def weights(self) -> Array:
        """What each row weighs in the Hessian at the minimum."""
        p = expit(self.decided)
        return np.asarray(self.n_in * p * (1 - p))

    @cached_property
    def M(self) -> Array:
        """The inverse of the Hessian; LinAlgError if it is, or by rounding seems, singular."""
        return np.asarray(np.linalg.inv(hessian(self.A, self.D, self.weights)))

    @cached_property
    def reach2(self) -> Array:
        """The squared :math:`r_i` of each row in each fold."""
        return np.asarray(((self.A @ self.M) * self.A).sum(axis=2))


@dataclass(frozen=True, eq=False)
class Edits:
    """Sets that differ from a solved one in k features each.

    Attributes
    ----------
    a, d : arrays of shape (1, n_sets, k, n_rows) and (n_folds, n_sets, k)
        The columns that are put in and their penalties, 0 for what is taken out.
    stays : array of shape (1, n_sets, d)
        0 for the columns that are taken out, 1 for the others.
    U, E : arrays of shape (n_folds, n_sets, k, d) and (n_folds, n_sets, k, n_rows)
    P, t : arrays of shape (n_folds, n_sets, k, k) and (n_folds, n_sets, k)
        The inverse of K, and the first step.
    """

    a: Array
    d: Array
    stays: Array
    U: Array
    E: Array
    P: Array
    t: Array

    @classmethod
    def of(cls, base: SolvedSet, a: Array, d: Array, out: Array) -> Self:
        """Return the edits of a set, from a and d without folds; ``out`` is I of what leaves."""
        a_rows, out_rows = a.reshape(-1, a.shape[-1]), out.reshape(-1, out.shape[-1])
        weighted = base.weights[:, None] * a_rows
        V = weighted @ base.A + out_rows
        U = V @ base.M
        E = a_rows - U @ base.A.T
        weighted, V, U, E = (each.reshape(*d.shape, -1) for each in (weighted, V, U, E))
        K = weighted @ np.swapaxes(a, 1, 2) - V @ np.swapaxes(U, 2, 3)
        each = np.arange(d.shape[2])
        K[:, :, each, each] += d
        P = np.linalg.inv(K)
        g = np.einsum("fn,ckn->fck", base.residual, a) + np.einsum("fd,ckd->fck", base.w, out)
        return cls(a[None], d, 1 - out.sum(axis=1)[None], U, E, P, (P @ g[..., None])[..., 0])


class Descent:
    """Sets near a solved one on their way to their minima.

    Parameters
    ----------
    base : SolvedSet
        Where they begin.
    edits : Edits
        By what they differ.

    Attributes
    ----------
    w : array of shape (n_folds, n_sets, d + k)
        Weights of the columns of the set, then those of the edit.
    decided : array of shape (n_folds, n_sets, n_rows)
        The decision on each row.
    to_go : array of shape (n_folds, n_sets)
        What decisions have to go at most, in units of ``reach``; holds where they are `assured`.
    reach : array of shape (n_folds, n_sets, n_rows)
        The :math:`r_i`.
    """

    def __init__(self, base: SolvedSet, edits: Edits) -> None:
        self._base, self._A_T = base, np.ascontiguousarray(base.A.T)
        self._half, self._n_one = base.n_in[:, None] / 2, base.n_one[:, None]
        self._before = base.n_in[:, None] / np.maximum(base.weights[:, None], _TINY)
        self._a, self._stays = edits.a, edits.stays
        self._U, self._E, self._P = edits.U, edits.E, edits.P
        w = base.w[:, None] + _along(edits.t, edits.U)
        gone = np.abs(w * (1 - edits.stays)).max(axis=2) < _ZERO
        w *= edits.stays
        self._D = np.concatenate([np.broadcast_to(base.D[:, None], w.shape), edits.d], axis=2)
        self.w = np.concatenate([w, -edits.t], axis=2)
        self.decided = base.decided[:, None] - _along(edits.t, edits.E)
        more = np.einsum("fckn,fckn->fcn", edits.P @ edits.E, edits.E)
        reach2, rounding = base.reach2[:, None] + more, base.reach2[:, None] + np.abs(more)
        # Where columns are nearly the same, nothing may be left of such numbers but rounding.
        self._sound = gone & (reach2 > _ROUNDING * rounding).all(axis=2)
        self.reach = np.sqrt(np.maximum(reach2, _ROUNDING * rounding))
        self._furthest = self.reach.max(axis=2)
        self._leverage = base.weights[:, None] * self.reach**2
        self._look()
        self._dw, self._dz = np.zeros_like(self.w), np.zeros_like(self.decided)

    def _look(self) -> None:
        """Take the gradient G where the sets are, and the step S that the kept Hessian makes of it.

        Sz is what the step does to the decisions.
        """
        base, d = self._base, self._base.w.shape[1]
        T = np.tanh(self.decided / 2)
        R = self._half * T + (self._half - self._n_one)  # n p - s, quicker than by expit
        self._weights = self._half * (1 - T * T) / 2
        penalties = self._D * self.w
        # Where a column is taken out its gradient plays no part; rounding would give it one.
        G = (R @ base.A + penalties[:, :, :d]) * self._stays
        g = np.einsum("fcn,fckn->fck", R, np.broadcast_to(self._a, self._E.shape))
        g += penalties[:, :, d:]
        S = G @ base.M
        t = (self._P @ (g - np.einsum("fcd,fckd->fck", G, self._U))[..., None])[..., 0]
        self._G = np.concatenate([G, g], axis=2)
        self._S = np.concatenate([(S - _along(t, self._U)) * self._stays, t], axis=2)
        self._Sz = S @ self._A_T + _along(t, self._E)
        self._squared = np.abs((self._G * self._S).sum(axis=2))
        self.to_go = np.exp(LITTLE) * np.sqrt(self._squared) / self._curvature_left()

    def _curvature_left(self) -> Array:
        """Return how much of the kept Hessian is left, for each fold and set."""
        left = self._weights * self._before
        found = np.full(left.shape[:2], _NOTHING)
        for share in SHARES:
            lost = np.einsum("fcn,fcn->fc", np.maximum(share - left, 0.0), self._leverage)
            np.maximum(found, share - lost, out=found)
        return found

    @property
    def assured(self) -> Array:
        """Whether what each set has to go in each fold is known to be no more than ``to_go``."""
        return np.asarray(self._sound & (self.to_go * self._furthest < LITTLE))

    @property
    def settled(self) -> Array:
        """Whether, by the kept Hessian, another step in each fold would change nothing."""
        return np.asarray(self._sound & (np.sqrt(self._squared) * self._furthest < SETTLED))

    def go_on(self) -> None:
        """Take a step."""
        self._dw, self._dz = best_step(
            self._G, self._D, self._weights, (self._S, self._Sz), (self._dw, self._dz)
        )
        self.w, self.decided = self.w - self._dw, self.decided - self._dz
        self._look()

    def keep(self, which: Array) -> None:
        """Go on with some of the sets only."""
        for name in _OF_SETS:
            setattr(self, name, getattr(self, name)[:, which])


def _along(t: Array, columns: Array) -> Array:
    """Return the sum of k columns times t, for each fold and set."""
    return np.asarray(np.einsum("fck,fckn->fcn", t, columns))


Step = tuple[Array, Array]
"""What is taken off the weights, and off the decisions by that."""


def best_step(g: Array, D: Array, weights: Array, one: Step, other: Step) -> Step:
    """Return the Newton step in the plane of two directions, or along the first if parallel.

    No decision moves further than `LONGEST`. ``g``, ``D`` and ``weights`` are those of the place
    where the step begins.
    """
    aa, ab, bb = (_curved(D, weights, *each) for each in ((one, one), (one, other), (other, other)))
    ga, gb = _product(g, one[0]), _product(g, other[0])
    area = aa * bb - ab**2
    plane = area > _PARALLEL * aa * bb
    area = np.where(plane, area, np.maximum(aa, _TINY))
    a = np.where(plane, ga * bb - gb * ab, ga) / area
    b = np.where(plane, gb * aa - ga * ab, 0.0) / area
    step, along = (a[..., None] * x + b[..., None] * y for x, y in zip(one, other, strict=True))
    furthest = np.abs(along).max(axis=-1, keepdims=True)
    shorter = LONGEST / np.maximum(furthest, LONGEST)
    return shorter * step, shorter * along


def _curved(D: Array, weights: Array, one: Step, other: Step) -> Array:
    return _product(weights * one[1], other[1]) + _product(D * one[0], other[0])


def _product(one: Array, other: Array) -> Array:
    return np.asarray(np.einsum("...n,...n->...", one, other))
