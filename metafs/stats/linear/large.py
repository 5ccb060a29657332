r"""The same models for many rows and many columns, by quasi-Newton steps on augmented rows.

.. math:: \min_{u, b} \sum_i w_i \, \ell(t_i, f_i) + \frac{\lambda}{2} |u|^2,
          \quad f = b + [Z D^{1/2}, \; s S] \, u

with :math:`\ell` the logistic loss, :math:`\lambda / 4` for :math:`\lambda`, or half the squared
error. Sparse rows stay sparse.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from metafs.data.typing import Array
from metafs.stats.linear.rows import Rows, scaled_columns

_STEPS = 200


def fit_large(
    rows: Rows,
    targets: Array,
    strength: float,
    regularisation: float,
    *,
    classes: bool,
    sample_weight: Array | None = None,
) -> tuple[Array, Array, Array]:
    """Return weights of columns, the part that is memory's, and the fitted decision values."""
    root = np.sqrt(rows.variance)
    own = scaled_columns(rows.table, root)
    scores = strength * rows.scores
    n, p, m = len(rows), own.shape[1], scores.shape[1]
    weight = np.ones(n) if sample_weight is None else sample_weight * n / sample_weight.sum()
    penalty = regularisation / 4 if classes else regularisation
    offset = np.broadcast_to(rows.expected(strength), targets.shape)
    coef, remembered, fitted = [], [], []
    for k in range(targets.shape[1]):
        t, o = targets[:, k], offset[:, k]

        def objective(u: Array, t: Array = t, o: Array = o) -> tuple[float, Array]:
            f = own @ u[:p] + scores @ u[p:-1] + u[-1] + o
            if classes:
                loss, slope = np.logaddexp(0.0, -t * f), -t * expit(-t * f)
            else:
                loss, slope = (f - t) ** 2 / 2, f - t
            slope = weight * slope
            gradient = np.concatenate([own.T @ slope, scores.T @ slope, [slope.sum()]])
            gradient[:-1] += penalty * u[:-1]
            return float(weight @ loss + penalty / 2 * (u[:-1] @ u[:-1])), gradient

        found = minimize(
            objective,
            np.zeros(p + m + 1),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": _STEPS, "ftol": 1e-9, "gtol": 1e-4 * np.sqrt(n)},
        )
        from_memory = strength * found.x[p:-1] @ rows.directions if m else np.zeros(p)
        coef.append(root * found.x[:p] + from_memory)
        remembered.append(from_memory)
        fitted.append(own @ found.x[:p] + scores @ found.x[p:-1] + found.x[-1] + o)
    return np.array(coef), np.array(remembered), np.column_stack(fitted)
