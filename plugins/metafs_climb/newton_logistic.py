r"""Logistic regression on all folds of a cross-validation at once, by Newton's method on cells.

For a fold, with :math:`n_v` training rows in cell v, :math:`s_v` of them in class 1, and
:math:`a_v` the cell's values with a 1 for the intercept, the weights w minimise

.. math:: \sum_v \left[ n_v \log(1 + e^{a_v w}) - s_v a_v w \right]
          + \frac{1}{2C} \sum_j \sigma_j^2 w_j^2

which is what scikit-learn's ``LogisticRegression`` minimises on columns divided by their
standard deviation :math:`\sigma_j` in the training rows (1 for a constant column, and for columns
that are not scaled). The intercept is free. Each step solves

.. math:: H \Delta = g, \qquad H = A^\top \mathrm{diag}(n_v p_v (1 - p_v)) A + D, \qquad
          g = A^\top (n_v p_v - s_v) + D w

where D holds :math:`\sigma_j^2 / C`. Equal rows form one cell, so that the cost of a small set
grows with its number of distinct rows. The minimum is reached up to rounding, while scikit-learn
stops at 1e-4 and misses it where columns lie far from zero: predictions of single rows can differ.
"""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from metafs.data.typing import Array

MAX_STEPS = 50
MAX_VALUES = 2**22
"""Above this many values (cells x features x folds) scikit-learn's solver is the better one."""
CONVERGED = 1e-5
"""The last step moves no decision further than this; the next would move it by the square."""
LONGEST = 8.0
"""No step moves a decision further than this, which keeps Newton's method from overshooting."""
TIE = 1e-8
"""A decision nearer to zero than this is a tie and counts as the first class."""


def recognised(learner: Any) -> tuple[float, bool] | None:
    """Return C, and whether columns are scaled, of a plain logistic regression; None for others.

    Examples
    --------
    >>> recognised(LogisticRegression(C=2.0))
    (2.0, False)
    >>> recognised(LogisticRegression(class_weight="balanced")) is None
    True
    """
    scaled = False
    if type(learner) is Pipeline:
        steps = [step for _, step in learner.steps]
        if len(steps) != 2 or not isinstance(steps[0], StandardScaler) or not steps[0].with_std:
            return None
        scaled, learner = True, steps[1]
    if type(learner) is not LogisticRegression:
        return None
    # Parameters of when a solver stops or how much it prints do not change the objective.
    free = {"C": learner.C, "tol": learner.tol, "max_iter": learner.max_iter}
    free |= {name: getattr(learner, name) for name in ("n_jobs", "verbose", "random_state")}
    if learner.get_params() != LogisticRegression(**free).get_params():
        return None
    return float(learner.C), scaled


def spreads(values: Array, n_in: Array) -> Array:
    """Return the standard deviation of each column in each fold's training rows, 1 if constant.

    ``values`` is (..., n_cells, n_features), ``n_in`` the training rows in each (..., fold, cell).
    """
    n = n_in.sum(axis=-1, keepdims=True)
    mean = n_in @ values / n
    deviations = values[..., None, :, :] - mean[..., None, :]
    variance = (n_in[..., None, :] @ deviations**2)[..., 0, :] / n
    # scikit-learn's test for columns that only rounding makes uneven.
    eps = np.finfo(np.float64).eps
    constant = variance <= n * eps * variance + (n * mean * eps) ** 2
    return np.sqrt(np.where(constant, 1.0, variance))


def scales(values: Array, n_in: Array, C: float, scaled: bool) -> tuple[Array, Array, Array]:
    """Return the means, sizes and penalties of columns in each fold, for `design`.

    The free intercept absorbs the shift of columns; dividing them keeps H well conditioned.
    """
    mean = values.mean(axis=-2, keepdims=True)
    centred = values - mean
    size = np.abs(centred).max(axis=-2, keepdims=True)
    size[size == 0] = 1.0
    spread = spreads(centred, n_in) if scaled else np.ones((*n_in.shape[:-1], values.shape[-1]))
    return mean, size, (spread / size) ** 2 / C


def design(values: Array, mean: Array, size: Array, penalties: Array) -> tuple[Array, Array]:
    """Return A, with a first column of ones, and D, for the values of features in cells."""
    ones = np.ones((*values.shape[:-1], 1))
    A = np.concatenate([ones, (values - mean) / size], axis=-1)
    return A, np.concatenate([np.zeros((*penalties.shape[:-1], 1)), penalties], axis=-1)


def hessian(A: Array, D: Array, weights: Array) -> Array:
    """Return H in each fold, where the rows of a cell have weight n p (1 - p)."""
    A_T = np.swapaxes(A, -1, -2)[..., None, :, :]
    H: Array = (A_T * weights[..., None, :]) @ A[..., None, :, :]
    diagonal = np.arange(D.shape[-1])
    H[..., diagonal, diagonal] += D
    return H


def minimum(A: Array, D: Array, n_in: Array, n_one: Array, w: Array) -> Array:
    """Return the weights in each fold, starting from w; NaN where Newton's method diverges.

    A and D are from `design`, the others as in `decisions`.
    """
    A_T = np.swapaxes(A, -1, -2)
    for _ in range(MAX_STEPS):
        p = expit(w @ A_T)
        g = (n_in * p - n_one) @ A + D * w
        try:
            step = np.linalg.solve(hessian(A, D, n_in * p * (1 - p)), g[..., None])[..., 0]
        except np.linalg.LinAlgError:
            return np.full_like(w, np.nan)
        longest = np.abs(step @ A_T).max(axis=-1, keepdims=True)
        w = w - step * np.minimum(1.0, LONGEST / np.maximum(longest, LONGEST))
        if longest.max() < CONVERGED:
            break
    return np.where(longest < CONVERGED, w, np.nan)


def decisions(values: Array, n_in: Array, n_one: Array, C: float, scaled: bool) -> Array:
    """Return the decision on each cell in each fold, above 0 for class 1, for one set or many.

    Parameters
    ----------
    values : array of shape (..., n_cells, n_features)
        The values of the features in each cell.
    n_in, n_one : arrays of shape (..., n_folds, n_cells)
        Training rows of each fold in each cell, and those of class 1 among them.
    C, scaled
        As `recognised` returns them.

    Returns
    -------
    array of shape (..., n_folds, n_cells)
        NaN for the folds on which Newton's method did not converge.

    Examples
    --------
    >>> n_in, n_one = np.array([[5.0, 5.0]]), np.array([[1.0, 4.0]])
    >>> decisions(np.array([[0.0], [1.0]]), n_in, n_one, 1.0, scaled=True).round(2)
    array([[-0.9,  0.9]])
    """
    A, D = design(values, *scales(values, n_in, C, scaled))
    found: Array = minimum(A, D, n_in, n_one, np.zeros_like(D)) @ np.swapaxes(A, -1, -2)
    return found
