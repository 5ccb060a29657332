r"""Large sets of features, solved in every fold from weights that are nearly right.

What `metafs_climb.newton_logistic` minimises has at some weights w the gradient g and the Hessian
H. With many features most of the work of Newton's method is H, and little of it changes from one
step to the next. So H is taken once, with its inverse M, and kept for as long as M g leads on. Each
step goes to the minimum, as the present Hessian :math:`H_k` tells, in the plane of :math:`M g_k`
and the step before; w becomes :math:`w - \Delta_k` with

.. math:: \Delta_k = a \, M g_k + b \, \Delta_{k-1}, \qquad
          P^\top H_k P \binom{a}{b} = P^\top g_k, \qquad P = (M g_k, \; \Delta_{k-1})

These are conjugate gradients that bear steps of any length before them. One costs :math:`n d`
multiplications for d columns, a step of Newton's method :math:`n d^2`. Where :math:`g^\top M g`
falls slowly, H is taken anew.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.special import expit

from metafs.data.typing import Array
from metafs_climb.newton_logistic import LONGEST, hessian, minimum

MANY = 56
"""Features from which on keeping a Hessian is quicker than Newton's method."""
MAX_HESSIANS = 50
LAST_STEP = 1e-9
"""A step that moves no decision further is the last."""
SLOWLY = 0.5
"""A step after which more than this is left of :math:`g^\\top M g` leads on too little."""
KEPT = 0.5
"""A Hessian is kept for the minimum if no row weighs less there than this share of before."""
_TINY = 1e-300
_PARALLEL = 1e-10  # squared sine below which two steps are one direction


@dataclass(frozen=True, eq=False)
class Hessian:
    """What rows weigh in the Hessian, by fold, and its inverse M."""

    weights: Array
    M: Array

    @classmethod
    def of(cls, A: Array, D: Array, weights: Array) -> Self:
        """Return the Hessian of rows that weigh so much.

        As `numpy.linalg` does, it raises LinAlgError if that is, or by rounding seems, singular.
        """
        H = hessian(A, D, weights)
        M = np.empty_like(H)
        for fold, each in enumerate(H):  # by Cholesky, in half the time of numpy.linalg.inv
            factor, failed = dpotrf(each.T, lower=True, overwrite_a=True)
            if failed:
                raise np.linalg.LinAlgError("the Hessian is not positive definite")
            half, _ = dpotri(factor, lower=True, overwrite_c=True)  # zeros above the diagonal
            np.add(half, half.T, out=M[fold])
        diagonal = np.arange(H.shape[-1])
        M[:, diagonal, diagonal] /= 2
        return cls(weights, M)


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
    near : Hessian or None
        One that was taken close to the minimum; None to have it taken there when it is needed.
    """

    features: Array
    A: Array
    D: Array
    n_in: Array
    n_one: Array
    w: Array
    near: Hessian | None = None

    @cached_property
    def decided(self) -> Array:
        """The decision on each row in each fold."""
        return np.asarray(self.w @ self.A.T)

    @cached_property
    def residual(self) -> Array:
        """By how much the decision on each row that is trained on is wrong."""
        return np.asarray(self.n_in * expit(self.decided) - self.n_one)

    @cached_property
    def hessian(self) -> Hessian:
        """The Hessian at the minimum or close to it."""
        return self.near or Hessian.of(self.A, self.D, _weights(self.n_in, expit(self.decided)))

    @cached_property
    def reach2(self) -> Array:
        """The squared :math:`r_i` of each row in each fold, see `metafs_climb.nearby_logistic`."""
        return np.asarray(((self.A @ self.hessian.M) * self.A).sum(axis=2))


def minimum_near(
    A: Array, D: Array, n_in: Array, n_one: Array, w: Array, within: float = LAST_STEP
) -> tuple[Array, Hessian] | None:
    """Return the weights in each fold, looked for from w, and a Hessian; None if that fails.

    The last step moved no decision further than ``within``. For the rest see `SolvedSet`.
    """
    A_T = np.ascontiguousarray(A.T)
    z = w @ A_T
    p = expit(z)
    for _ in range(MAX_HESSIANS):
        try:
            taken = Hessian.of(A, D, _weights(n_in, p))
        except np.linalg.LinAlgError:
            return None
        step, along, left = np.zeros_like(w), np.zeros_like(z), np.full(len(w), np.inf)
        while True:
            g = (n_in * p - n_one) @ A + D * w
            straight = (g[:, None] @ taken.M)[:, 0]
            was, left = left, _product(g, straight)
            if not 0 <= left.max() <= SLOWLY * was.max():
                break
            straight_on = straight, straight @ A_T
            step, along = best_step(g, D, _weights(n_in, p), straight_on, (step, along))
            w, z = w - step, z - along
            p = expit(z)
            if np.abs(along).max() < within:
                return w, taken
    return None


def solve(
    features: Array, A: Array, D: Array, n_in: Array, n_one: Array, w: Array
) -> SolvedSet | None:
    """Solve a set of features from weights w; None if that fails."""
    if len(features) < MANY:
        w = minimum(A, D, n_in, n_one, w)
        return None if np.isnan(w).any() else SolvedSet(features, A, D, n_in, n_one, w)
    found = minimum_near(A, D, n_in, n_one, w)
    if found is None:
        return None
    w, taken = found
    left = _weights(n_in, expit(w @ A.T)) >= KEPT * taken.weights
    return SolvedSet(features, A, D, n_in, n_one, w, near=taken if left.all() else None)


Step = tuple[Array, Array]
"""What is taken off the weights, and off the decisions by that."""


def best_step(g: Array, D: Array, weights: Array, one: Step, other: Step) -> Step:
    """Return the step to the minimum in the plane of two, as curvature tells; or along the first.

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


def _weights(n_in: Array, p: Array) -> Array:
    """Return what rows weigh in the Hessian, of class 1 with probability p."""
    return np.asarray(n_in * p * (1 - p))
