r"""Covariance functions: what two features' meta-features say of how alike their weights are.

Weights are a Gaussian process over the meta-features, :math:`C_{ij} = C(u_i, u_j)`. Smooth in
all meta-features (equation 6):

.. math:: C(u_i, u_j) = e^{-\|u_i - u_j\|^2 / 2 \sigma^2}

Smooth in the position :math:`p` only, and 0 between features that differ in the others
(equation 7):

.. math:: C(u_i, u_j) = [g_i = g_j] \; e^{-\|p_i - p_j\|^2 / 2 \sigma_P^2}

Smooth in the orientation as well, with variances that depend on the group:

.. math:: C(u_i, u_j) = [g_i = g_j] \; A_t(u_t) A_r(u_r) \;
          e^{-\|p_i - p_j\|^2 / 2 \sigma_P^2} \; e^{-\Delta\phi_{ij}^2 / 2 \sigma_\phi^2}

with :math:`\Delta\phi` the shorter way round. Here the paper multiplies equation 7, which is 0
already where orientations differ; we take the orientation out of the group, since the last factor
would change nothing otherwise. A Gaussian wrapped round a circle is no covariance for a large
:math:`\sigma_\phi`: negative eigenvalues are left out. Any other ``C(U, V)`` that returns a
matrix of shape (len(U), len(V)) will do too, if it is symmetric and positive semi-definite. Those
here are products over the columns, which is what `metafs_metafeatures.gp_prior.root` makes use of.

E. Krupka, N. Tishby, "Incorporating prior knowledge on features into learning", AISTATS 2007,
sections 2.1 and 3.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from metafs.data.parameters import check_between
from metafs.data.typing import Array
from metafs.errors import UsageError

CovarianceFunction = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class AlongColumn:
    """The Gaussian factor that one column contributes; a period makes the column a circle.

    Examples
    --------
    >>> AlongColumn(sigma=10.0, period=360.0)(np.array([0.0]), np.array([350.0, 10.0])).round(3)
    array([[0.607, 0.607]])
    """

    sigma: float
    period: float = np.inf

    def __call__(self, a: Array, b: Array) -> Array:
        """Return the factor for each pair of values."""
        apart = np.abs(np.subtract.outer(a, b, dtype=np.float64))
        if self.period < np.inf:
            apart %= self.period
            np.minimum(apart, self.period - apart, out=apart)
        apart /= self.sigma  # in place: a block may be as large as memory allows
        np.square(apart, out=apart)
        apart *= -0.5
        return np.asarray(np.exp(apart, out=apart))


@dataclass(frozen=True)
class Gaussian:
    """Weights are alike where the meta-features are (equation 6).

    Parameters
    ----------
    sigma : float, default=None
        How far likeness reaches, in the unit of the meta-features. None leaves the choice to
        whoever uses the covariance, such as the learner ``gp-prior``.
    positions : tuple of int, default=None
        The columns of the meta-features that count; None takes all.

    Examples
    --------
    >>> U = np.array([[0.0, 0.0], [0.0, 2.0]])
    >>> Gaussian(sigma=2.0)(U, U).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    sigma: float | None = None
    positions: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if self.sigma is not None:
            check_between("sigma", self.sigma)

    def __call__(self, U: Array, V: Array) -> Array:
        """Return the covariance of the weights of features described by U and by V."""
        columns = list(self.position_columns(U.shape[1]))
        self.check_columns(U.shape[1])
        C: Array = np.exp(
            -0.5 * cdist(U[:, columns], V[:, columns], "sqeuclidean") / self._sigma**2
        )
        return C

    def position_columns(self, k: int) -> tuple[int, ...]:
        """Return the columns that are smoothed over, of k."""
        return tuple(range(k)) if self.positions is None else tuple(self.positions)

    def group_columns(self) -> tuple[int, ...]:
        """Return the columns in which features must be equal to have anything in common."""
        return ()

    def along(self, u: Array) -> tuple[tuple[int, AlongColumn], ...]:
        """Return the factors of the group of which u is a member, each with its column."""
        return tuple((column, AlongColumn(self._sigma)) for column in self.position_columns(len(u)))

    def variance(self, u: Array) -> float:
        """Return the prior variance of the weights in the group of u."""
        return 1.0

    def used_columns(self, k: int) -> list[int]:
        """Return the columns that matter, of k."""
        return sorted({*self.position_columns(k), *self.group_columns()})

    def check_columns(self, k: int) -> None:
        """Refuse columns that meta-features of k columns do not have."""
        if not all(0 <= column < k for column in self.used_columns(k)):
            raise UsageError(
                f"the covariance needs meta-feature {max(self.used_columns(k))}, but they are "
                f"numbered 0 to {k - 1}: give its columns by these numbers."
            )

    @property
    def _sigma(self) -> float:
        if self.sigma is None:
            raise UsageError("sigma of the covariance is not set: give it a number above 0.")
        return float(self.sigma)


@dataclass(frozen=True)
class GroupedGaussian(Gaussian):
    """Weights are alike where the positions are, within a group only (equation 7).

    Parameters
    ----------
    sigma : float, default=None
        How far likeness reaches, in the unit of the positions.
    positions : tuple of int, default=None
        The columns that hold the position; None takes all that are not of the group.
    groups : tuple of int, default=()
        The columns in which two features must be equal for their weights to be related.

    Examples
    --------
    >>> U = np.array([[3, 0.0], [3, 2.0], [2, 0.0]])
    >>> GroupedGaussian(sigma=2.0, groups=(0,))(U, U).round(3)
    array([[1.   , 0.607, 0.   ],
           [0.607, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """

    groups: tuple[int, ...] = ()

    def __call__(self, U: Array, V: Array) -> Array:
        """Return the covariance of the weights of features described by U and by V."""
        C = super().__call__(U, V)
        for column in self.group_columns():
            C *= U[:, column, None] == V[:, column]
        return C

    def position_columns(self, k: int) -> tuple[int, ...]:
        """Return the columns that are smoothed over, of k."""
        if self.positions is not None:
            return tuple(self.positions)
        return tuple(column for column in range(k) if column not in self.groups)

    def group_columns(self) -> tuple[int, ...]:
        """Return the columns in which features must be equal to have anything in common."""
        return tuple(self.groups)


def whole_circle(*group: float) -> float:
    """Return 360 degrees, whatever the group."""
    return 360.0


@dataclass(frozen=True)
class OrientedGaussian(GroupedGaussian):
    """Weights are alike where positions and orientations are, within a group.

    With `sigma_phi` large against the period this is not a covariance any more: a root is then
    that of the nearest one, without the negative eigenvalues.

    Parameters
    ----------
    sigma : float, default=None
        How far likeness reaches, in the unit of the positions.
    positions : tuple of int, default=None
        The columns that hold the position; None takes all others.
    groups : tuple of int, default=()
        The columns in which two features must be equal for their weights to be related.
    orientation : int, default=0
        The column that holds the orientation.
    sigma_phi : float, default=22.5
        How far likeness reaches in orientation, in its unit.
    period : callable, default=whole_circle
        From the values of the group columns to the orientation that is the first again.
    amplitudes : tuple of callable, default=()
        For each group column a function from its value to a factor of the variance (the paper's
        A_t and A_r); empty for a variance of 1.

    Examples
    --------
    >>> C = OrientedGaussian(sigma=1.0, groups=(0,), orientation=1, amplitudes=(lambda t: t / 2,))
    >>> U = np.array([[2, 0.0, 5.0], [2, 337.5, 5.0], [3, 0.0, 5.0]])
    >>> C(U, U).round(3)
    array([[1.   , 0.607, 0.   ],
           [0.607, 1.   , 0.   ],
           [0.   , 0.   , 1.5  ]])
    """

    orientation: int = 0
    sigma_phi: float = 22.5
    period: Callable[..., float] = whole_circle
    amplitudes: tuple[Callable[[float], float], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between("sigma_phi", self.sigma_phi)
        if self.amplitudes and len(self.amplitudes) != len(self.groups):
            raise UsageError(
                f"there are {len(self.amplitudes)} amplitudes for {len(self.groups)} group "
                "columns: give one for each, or none."
            )

    def __call__(self, U: Array, V: Array) -> Array:
        """Return the covariance of the weights of features described by U and by V."""
        C = super().__call__(U, V)
        groups, members = np.unique(U[:, list(self.groups)], axis=0, return_inverse=True)
        for number in range(len(groups)):
            rows = np.flatnonzero(members.ravel() == number)
            column, along = self.along(U[rows[0]])[-1]
            C[rows] *= self.variance(U[rows[0]]) * along(U[rows, column], V[:, column])
        return C

    def position_columns(self, k: int) -> tuple[int, ...]:
        """Return the columns that are smoothed over, of k."""
        columns = super().position_columns(k)
        return tuple(column for column in columns if column != self.orientation)

    def along(self, u: Array) -> tuple[tuple[int, AlongColumn], ...]:
        """Return the factors of the group of u, each with its column, the orientation last."""
        turn = AlongColumn(self.sigma_phi, float(self.period(*u[list(self.groups)])))
        return (*super().along(u), (self.orientation, turn))

    def variance(self, u: Array) -> float:
        """Return the prior variance of the weights in the group of u."""
        values = u[list(self.groups)]
        factors = [float(A(value)) for A, value in zip(self.amplitudes, values, strict=False)]
        if not all(0 <= factor < np.inf for factor in factors):
            raise UsageError(
                f"the amplitudes of the group {values.tolist()} are {factors}: fix the functions, "
                "a variance cannot be negative."
            )
        return float(np.prod(factors))

    def used_columns(self, k: int) -> list[int]:
        """Return the columns that matter, of k."""
        return sorted({*super().used_columns(k), self.orientation})
