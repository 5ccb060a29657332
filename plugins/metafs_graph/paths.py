r"""The energy of all paths through a graph, from one Krylov space.

.. math:: x = (I - rA)^{-1} v = \sum_{l \ge 0} r^l A^l v, \qquad r = d / \rho(A)

for a symmetric A without negative entries, a positive v and a decay d below one. Lanczos'
iteration started at v turns A into a small tridiagonal T, with :math:`AQ = QT + \beta q e_k^\top`.
The largest eigenvalue of T tends to the spectral radius, because v cannot be orthogonal to
Perron's eigenvector, and :math:`Q (I - rT)^{-1} e_1 \lVert v \rVert` tends to x. What is missing
from both is known at every step, without a further product by A: the residuals are beta times
the last component. The basis is kept orthogonal throughout, so that after n steps at the latest
nothing is missing; usually about ten are enough.

C. Lanczos, "An iteration method for the solution of the eigenvalue problem of linear
differential and integral operators", Journal of Research of the National Bureau of Standards,
1950.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh_tridiagonal

from metafs.data.typing import Array

TOLERANCE = 1e-12
"""Residuals, relative to what they are residuals of, at which the iteration ends."""


@dataclass(frozen=True, eq=False)
class Paths:
    """The energies of all paths, and the spectral radius that their decay is measured by."""

    energies: Array
    """(n,): x, the path of length zero included."""
    spectral_radius: float
    n_products: int
    """How often A was multiplied by a vector."""


def path_energies(
    times: Callable[[Array], Array],
    v: Array,
    *,
    decay: float = 0.9,
    precision: float = np.finfo(np.float64).eps,
) -> Paths:
    """Return the energies of all paths through the graph that ``times`` multiplies by.

    A spectral radius which is no more than the rounding errors of A, each of size ``precision``,
    counts as zero: such a graph has no paths but those of length zero.

    Examples
    --------
    >>> A = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> path_energies(lambda v: A @ v, np.ones(2)).energies
    array([10., 10.])
    """
    length = float(np.linalg.norm(v))
    basis = np.empty((0, len(v)))
    q = v / length
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    while True:
        basis = np.vstack([basis, q])
        w = times(q)
        diagonal.append(float(q @ w))
        for _ in range(2):
            w = w - (basis @ w) @ basis
        beta = float(np.linalg.norm(w))
        theta, vectors = eigh_tridiagonal(diagonal, off_diagonal)
        radius = float(theta[-1])
        if radius <= 16 * precision * len(v):
            return Paths(v.copy(), 0.0, len(basis))
        x = vectors @ (vectors[0] / (1 - decay * theta / radius))
        missing = beta / radius * max(abs(vectors[-1, -1]), decay * abs(x[-1] / np.linalg.norm(x)))
        if missing <= TOLERANCE or len(basis) == len(v):
            return Paths(length * (x @ basis), radius, len(basis))
        off_diagonal.append(beta)
        q = w / beta


def times_larger(spread: Array) -> Callable[[Array], Array]:
    """Return how to multiply the matrix of max(spread_i, spread_j) by a vector, in linear time.

    Examples
    --------
    >>> times_larger(np.array([0.5, 1.0]))(np.array([1.0, 10.0]))
    array([10.5, 11. ])
    """
    order = np.argsort(spread)
    ascending = spread[order]

    def times(v: Array) -> Array:
        in_order = v[order]
        smaller = np.cumsum(in_order)
        larger = np.cumsum((ascending * in_order)[::-1])[::-1]
        product = np.empty(len(v))
        product[order] = ascending * smaller
        product[order[:-1]] += larger[1:]
        return product

    return times
