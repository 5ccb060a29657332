r"""Logistic regression by Newton steps in the coordinates of a spectrum.

.. math:: \min_{u, b} \sum_i w_i \log(1 + e^{-t_i f_i}) + \frac{\lambda}{8} |u|^2,
          \quad f = b + Q E^{1/2} u

A weakly fitted logistic model is twice the ridge regression of :math:`\lambda` on t = -1, 1, so
the regularisation that cross-validation finds for that serves here too.
"""

import numpy as np
from scipy.special import expit

from metafs.data.typing import Array
from metafs.stats.linear.spectrum import Spectrum

_STEPS = 50
_DIRECT = 100  # coordinates up to which the Hessian is formed
_EXACT = 1e-4  # of a step by conjugate gradients, relative to it
_CLOSE = 1e-4  # a step after which the next would be its square


def logistic(
    spectrum: Spectrum, targets: Array, regularisation: float, *, offset: Array | float = 0.0
) -> tuple[Array, Array]:
    """Return (alpha, fitted decision values) of one logistic model for each column of targets.

    The offset is what decision values are before anything is learned.
    """
    offset = np.broadcast_to(offset, targets.shape)
    fits = [
        _one_output(spectrum, targets[:, k], offset[:, k], regularisation)
        for k in range(targets.shape[1])
    ]
    alpha, fitted = (np.column_stack(each) for each in zip(*fits, strict=True))
    return alpha, fitted


def _one_output(
    spectrum: Spectrum, target: Array, offset: Array, regularisation: float
) -> tuple[Array, Array]:
    root, penalty = spectrum.root_weight, regularisation / 4
    weight = root**2
    free = bool(spectrum.constant.any())
    level = np.ones(len(root)) if free else np.zeros(len(root))
    basis = np.column_stack([level, spectrum.vectors * np.sqrt(spectrum.values) / root[:, None]])
    ridge = np.full(basis.shape[1], penalty)
    ridge[0] = 1e-8  # the intercept is free; this keeps a step finite where classes are separated
    u = np.zeros(basis.shape[1])  # twice the ridge regression, which is near
    u[0] = 2 * np.average(target - offset / 2, weights=weight) if free else 0.0
    along = spectrum.vectors.T @ (root * (target - offset / 2))
    u[1:] = 2 * np.sqrt(spectrum.values) / (spectrum.values + regularisation) * along
    f = basis @ u + offset
    value = _objective(f, u, target, weight, ridge)
    for _ in range(_STEPS):
        p = expit(-target * f)
        gradient = basis.T @ (-target * p * weight) + ridge * u
        curvature = np.maximum(p * (1 - p), 1e-10) * weight
        step = _newton_step(basis, curvature, ridge, gradient)
        length = 1.0
        while True:
            there = u - length * step
            f_there = basis @ there + offset
            value_there = _objective(f_there, there, target, weight, ridge)
            if value_there <= value or length < 1e-4:
                break
            length /= 2
        moved = np.abs(f_there - f).max()
        u, f, value = there, f_there, value_there
        if moved < _CLOSE * (1 + np.abs(f).max()):
            break
    alpha = target * expit(-target * f) * weight / penalty
    return alpha, f


def _newton_step(basis: Array, curvature: Array, ridge: Array, gradient: Array) -> Array:
    """Return the solution of the Hessian for the gradient.

    Where rows are many it is found by conjugate gradients: in the coordinates of the spectrum the
    Hessian is nearly diagonal while the model is unsure.
    """
    if basis.shape[1] <= _DIRECT:
        hessian = (basis * curvature[:, None]).T @ basis
        hessian[np.diag_indices_from(hessian)] += ridge
        return np.asarray(np.linalg.solve(hessian, gradient))
    diagonal = curvature @ basis**2 + ridge
    step = np.zeros_like(gradient)
    left, along = gradient.copy(), gradient / diagonal
    size = float(left @ along)
    enough = _EXACT**2 * size
    for _ in range(len(gradient)):
        if size <= enough:
            break
        across = basis.T @ (curvature * (basis @ along)) + ridge * along
        length = size / float(along @ across)
        step += length * along
        left -= length * across
        preconditioned = left / diagonal
        size, before = float(left @ preconditioned), size
        along = preconditioned + size / before * along
    return step


def _objective(f: Array, u: Array, target: Array, weight: Array, ridge: Array) -> float:
    return float(weight @ np.logaddexp(0.0, -target * f) + ridge @ u**2 / 2)
