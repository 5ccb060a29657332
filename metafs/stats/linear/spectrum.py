r"""Ridge regression in the space of rows, for every strength of regularisation at once.

With K the covariance of the rows under the prior, centred, and :math:`K = Q E Q'`, the fitted
values for any :math:`\lambda` are :math:`\bar t + Q \, E (E + \lambda)^{-1} Q' t`, and the values
that a fold F gets from a model that was fitted without it are, exactly,

.. math:: t_F - (I - H_{FF})^{-1} (t - \hat t)_F .

So cross-validation over all regularisations costs one decomposition. Weights of rows multiply rows
and targets by their roots. Where the intercept has a prior of its own, K is not centred but has the
prior variance of the intercept as a further term, and there is no :math:`\bar t`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from metafs.data.typing import Array

_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Rows in the coordinates in which their covariance is diagonal."""

    vectors: Array
    """(n_rows, r)"""
    values: Array
    """(r,) The eigenvalues, above 0."""
    root_weight: Array
    """(n_rows,) The roots of the weights of rows, of mean square 1."""
    constant: Array
    """(n_rows,) The direction of a free intercept, of unit length; 0 where it has a prior."""

    def held_out(self, targets: Array, lambdas: Array, folds: Sequence[Sequence[Array]]) -> Array:
        """Return what each row is predicted without its fold: (lambda, repeat, row, output)."""
        scaled = targets * self.root_weight[:, None]
        along, inside = self.constant @ scaled, self.vectors.T @ scaled
        out = np.empty((len(lambdas), len(folds), *targets.shape))
        shrunk = self.values / (self.values + lambdas[:, None])
        fitted = np.outer(self.constant, along) + self.vectors @ (shrunk[:, :, None] * inside)
        residual = scaled - fitted
        for r, repeat in enumerate(folds):
            for rows in repeat:
                Q, one = self.vectors[rows], self.constant[rows]
                hat = (Q * shrunk[:, None, :]) @ Q.T + np.outer(one, one)
                left = np.eye(len(rows)) * (1 + 1e-9) - hat
                out[:, r, rows] = scaled[rows] - np.linalg.solve(left, residual[:, rows])
        return np.asarray(out / self.root_weight[:, None])

    def ridge(self, targets: Array, regularisation: float) -> tuple[Array, Array]:
        """Return (alpha, fitted values): the weights of rows in the solution, and what it fits."""
        scaled = targets * self.root_weight[:, None]
        shrunk = self.values / (self.values + regularisation)
        inside = self.vectors @ (shrunk[:, None] * (self.vectors.T @ scaled))
        fitted = np.outer(self.constant, self.constant @ scaled) + inside
        alpha = (scaled - fitted) * self.root_weight[:, None] / regularisation
        return alpha, fitted / self.root_weight[:, None]


def spectrum_of(
    covariance: Array, sample_weight: Array | None = None, *, intercept: float | None = None
) -> Spectrum:
    """Return the spectrum of the covariance of rows.

    Parameters
    ----------
    covariance : array of shape (n_rows, n_rows)
    sample_weight : array of shape (n_rows,), default=None
    intercept : float, default=None
        The prior variance of the intercept, in units of the mean variance of a row; None for a
        free intercept.
    """
    root, constant = _roots(len(covariance), sample_weight, free=intercept is None)
    if intercept is not None:
        covariance = covariance + intercept * np.mean(np.diag(covariance) * root**2)
    scaled = covariance * np.outer(root, root)
    across = scaled @ constant
    centred = scaled - np.outer(constant, across) - np.outer(across, constant)
    centred += (constant @ across) * np.outer(constant, constant)
    values, vectors = eigh(
        (centred + centred.T) / 2, overwrite_a=True, check_finite=False, driver="evd"
    )
    kept = values > _ROUNDING * max(values[-1], _ROUNDING)
    return Spectrum(vectors[:, kept], values[kept], root, constant)


def spectrum_of_rows(
    rows: Array, sample_weight: Array | None = None, *, intercept: float | None = None
) -> Spectrum:
    """Return the same from rows of few columns, already multiplied by the roots of variances."""
    root, constant = _roots(len(rows), sample_weight, free=intercept is None)
    if intercept is not None:
        level = np.sqrt(intercept * np.mean(np.sum(rows**2, axis=1) * root**2))
        rows = np.column_stack([rows, np.full(len(rows), level)])
    scaled = rows * root[:, None]
    scaled -= np.outer(constant, constant @ scaled)
    values, vectors = eigh(scaled.T @ scaled, overwrite_a=True, check_finite=False, driver="evd")
    kept = values > _ROUNDING * max(values[-1], _ROUNDING)
    values = values[kept]
    return Spectrum(scaled @ vectors[:, kept] / np.sqrt(values), values, root, constant)


def _roots(n: int, sample_weight: Array | None, *, free: bool) -> tuple[Array, Array]:
    """Return the roots of the weights of rows, and the direction of the intercept if it is free."""
    root = np.ones(n) if sample_weight is None else np.sqrt(sample_weight * n / sample_weight.sum())
    return root, root / np.linalg.norm(root) if free else np.zeros(n)
