r"""Gaussian process with a length of its own for each column, and noise.

.. math:: \operatorname{cov}(q_i, q_j) = a \exp\left(-\tfrac12 \sum_r
          \frac{(u_{ir} - u_{jr})^2}{\ell_r^2}\right) + s \, \delta_{ij} = K_{ij}

Amplitude a, lengths and noise s are those with the largest likelihood,

.. math:: \log p(q) = -\tfrac12 q^T K^{-1} q - \tfrac12 \log |K| - \tfrac m2 \log 2\pi, \qquad
          \frac{\partial \log p}{\partial \theta} = \tfrac12 \sum_{ij}
          (K^{-1} q q^T K^{-1} - K^{-1})_{ij} \frac{\partial K_{ij}}{\partial \theta}

The cost grows with the cube of the number of rows, so they are found on a few hundred rows, and the
process is then fitted to about a thousand, drawn at random.

C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006,
equations 2.25, 2.26, 5.8 and 5.9.
"""

from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.linalg.lapack import dpotri
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from metafs.data.parameters import check_at_least
from metafs.data.typing import Array

_AMPLITUDES, _LENGTHS, _NOISES = (1e-3, 1e3), (0.05, 1e3), (1e-4, 1e1)
_STARTING_NOISES = (0.1, 1.0)
_MAX_STEPS = 50
_ROWS = 2000  # predicted at once


def covariance(A: Array, B: Array, amplitude: float, lengths: Array) -> Array:
    """Return the covariance of the process, without noise, between the rows of A and of B."""
    A, B = A / lengths, B / lengths
    squared = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B) - 2 * A @ B.T
    return np.asarray(amplitude * np.exp(-0.5 * np.maximum(squared, 0.0)))


def log_likelihood(theta: Array, X: Array, q: Array) -> tuple[float, Array]:
    """Return log p(q) and its gradient; theta holds the logarithms of a, all lengths, and s."""
    amplitude, lengths, noise = np.exp(theta[0]), np.exp(theta[1:-1]), np.exp(theta[-1])
    smooth = covariance(X, X, amplitude, lengths)
    factor = cho_factor(smooth + noise * np.eye(len(X)), lower=True)
    alpha = cho_solve(factor, q)
    lower = np.tril(dpotri(factor[0], lower=1)[0])
    inner = np.outer(alpha, alpha) - lower - np.tril(lower, -1).T
    value = -0.5 * q @ alpha - np.log(np.diag(factor[0])).sum() - 0.5 * len(q) * np.log(2 * np.pi)
    of_noise = 0.5 * noise * np.trace(inner)
    inner *= smooth
    Z = X / lengths
    # The sum of W_ij (z_i - z_j)^2 for symmetric W, one column of Z at a time.
    of_lengths = inner.sum(axis=1) @ Z**2 - np.einsum("ir,ir->r", Z, inner @ Z)
    return float(value), np.concatenate([[0.5 * inner.sum()], of_lengths, [of_noise]])


def most_likely(X: Array, q: Array) -> tuple[float, Array, float]:
    """Return amplitude, lengths and noise with the largest likelihood; X and q are standardised.

    All columns begin equally long, once with little noise and once with much, because the
    likelihood may have a maximum for either.
    """
    n_columns = X.shape[1]
    bounds = np.log([_AMPLITUDES, *[_LENGTHS] * n_columns, _NOISES])

    def loss(theta: Array) -> tuple[float, Array]:
        value, gradient = log_likelihood(theta, X, q)
        return -value, -gradient

    length = 0.5 * np.log(n_columns)
    starts = [np.r_[0.0, np.full(n_columns, length), np.log(s)] for s in _STARTING_NOISES]
    options = {"maxiter": _MAX_STEPS}
    found = [minimize(loss, s, jac=True, bounds=bounds, options=options) for s in starts]
    theta = min(found, key=lambda each: each.fun).x
    return float(np.exp(theta[0])), np.exp(theta[1:-1]), float(np.exp(theta[-1]))


class GaussianProcess(RegressorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Gaussian process regression that stays quick whatever the number of rows.

    Columns and target are standardised first.

    Parameters
    ----------
    max_rows : int, default=1000
        The process is fitted to at most this many rows.
    max_tuning_rows : int, default=300
        Amplitude, lengths and noise are found on at most this many of them.
    random_state : int, RandomState instance or None, default=None
        Which rows are drawn.

    Attributes
    ----------
    amplitude_, noise_ : float
        Variances of the process and of the noise, in units of the target's variance.
    lengths_ : ndarray of shape (n_features,)
        How far a column must go for the value to change, in standard deviations of the column.
    rows_ : ndarray
        The rows that were used.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(-2, 2, size=(60, 2))
    >>> map = GaussianProcess(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> map.lengths_.argmin()
    np.int64(0)
    >>> prediction, std = map.predict([[1.0, 0.0], [9.0, 0.0]], return_std=True)
    >>> abs(prediction[0] - np.sin(1.0)) < 0.05 < std[1]
    np.True_
    """

    def __init__(
        self, *, max_rows: int = 1000, max_tuning_rows: int = 300, random_state: Any = None
    ) -> None:
        self.max_rows = max_rows
        self.max_tuning_rows = max_tuning_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Find the most likely covariance, and fit the process to the values in y."""
        check_at_least("max_rows", self.max_rows)
        check_at_least("max_tuning_rows", self.max_tuning_rows)
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        self._scaler = StandardScaler().fit(X)
        self._centre, self._spread = float(y.mean()), float(y.std()) or 1.0
        X, q = self._scaler.transform(X), (y - self._centre) / self._spread
        self.rows_ = check_random_state(self.random_state).permutation(len(X))[: self.max_rows]
        tuning = self.rows_[: self.max_tuning_rows]
        self.amplitude_, self.lengths_, self.noise_ = most_likely(X[tuning], q[tuning])
        self._known = X[self.rows_]
        K = covariance(self._known, self._known, self.amplitude_, self.lengths_)
        self._factor = cho_factor(K + self.noise_ * np.eye(len(K)), lower=True)
        self._alpha = cho_solve(self._factor, q[self.rows_])
        return self

    def predict(self, X: Any, return_std: bool = False) -> Array | tuple[Array, Array]:
        """Predict, with ``return_std`` also the standard deviation, noise included."""
        check_is_fitted(self)
        X = self._scaler.transform(validate_data(self, X, dtype=np.float64, reset=False))
        mean, variance = np.empty(len(X)), np.full(len(X), self.amplitude_ + self.noise_)
        for start in range(0, len(X), _ROWS):
            part = slice(start, start + _ROWS)
            across = covariance(X[part], self._known, self.amplitude_, self.lengths_)
            mean[part] = across @ self._alpha
            if return_std:
                explained = solve_triangular(self._factor[0], across.T, lower=True)
                variance[part] -= np.einsum("ij,ij->j", explained, explained)
        prediction: Array = self._centre + self._spread * mean
        if not return_std:
            return prediction
        return prediction, self._spread * np.sqrt(np.maximum(variance, self.noise_))
