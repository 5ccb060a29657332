r"""Losses that do not change with the scale of decision values.

Rows of unit length make a model unsure and memory makes it sure, so plain log-loss prefers memory
even where accuracy falls. Here decision values are brought to unit spread and judged under the
slope that suits them best:

.. math:: \min_{c \ge 0} \frac{1}{n} \sum_i -\log p(y_i \mid c f_i / \mathrm{sd}(f)) .

For probabilities a slope far from the usual one has a price, as few rows are often separated by
chance.

For numbers the loss is the squared error in units of the target's variance.
"""

import numpy as np

from metafs.data.typing import Array

SLOPES = np.concatenate([[0.0], np.geomspace(0.05, 20.0, 20)])
_USUAL_SLOPE = 1.5
_AT_ONCE = 100_000  # numbers that stay in a processor's cache


def class_loss(
    decision: Array, codes: Array, *, surprise: float = 0.0, weight: Array | None = None
) -> tuple[Array, Array]:
    """Return the loss of each row under the best slope, and that slope, for decision values.

    Parameters
    ----------
    decision : array of shape (..., n_rows, n_outputs)
        One output for two classes, else one for each class.
    codes : array of shape (n_rows,)
        The class of each row as a number from 0.
    surprise : float
        What a slope costs that is ten times the usual one, in units of the loss of all rows.
    weight : array of shape (n_rows,), default=None
        How much each row counts.

    Returns
    -------
    losses : array of shape (..., n_rows)
    slopes : array of shape (...)
        In units of the given decision values.
    """
    spread = decision.std(axis=(-2, -1), keepdims=True)
    spread = np.where(spread > 1e-12, spread, 1.0)
    unit = decision / spread
    if unit.size * len(SLOPES) <= _AT_ONCE:
        by_slope = _log_loss(SLOPES.reshape(-1, *(1,) * unit.ndim) * unit, codes)
    else:
        by_slope = np.stack([_log_loss(slope * unit, codes) for slope in SLOPES])
    apart = np.log10(np.maximum(SLOPES, SLOPES[1]) / _USUAL_SLOPE) ** 2
    price = surprise / len(codes) * apart.reshape(-1, *(1,) * (unit.ndim - 2))
    best = (np.average(by_slope, axis=-1, weights=weight) + price).argmin(axis=0)
    losses = np.take_along_axis(by_slope, best[None, ..., None], axis=0)[0]
    return losses, SLOPES[best] / spread[..., 0, 0]


def _log_loss(decision: Array, codes: Array) -> Array:
    if decision.shape[-1] == 1:
        return np.asarray(np.logaddexp(0.0, np.where(codes == 1, -1.0, 1.0) * decision[..., 0]))
    own = np.take_along_axis(
        decision, np.broadcast_to(codes[:, None], (*decision.shape[:-1], 1)), axis=-1
    )
    highest = decision.max(axis=-1, keepdims=True)
    total = np.log(np.exp(decision - highest).sum(axis=-1)) + highest[..., 0]
    return np.asarray(total - own[..., 0])


def number_loss(decision: Array, target: Array) -> Array:
    """Return the squared error of each row in units of the target's variance."""
    variance = max(float(target.var()), 1e-300)
    return np.asarray((decision[..., 0] - target) ** 2 / variance)


def loss_of(decision: Array, targets: Array, codes: Array | None) -> Array:
    """Return the loss of each row, for decision values of shape (..., n_rows, n_outputs)."""
    if codes is None:
        return number_loss(decision, targets[:, 0])
    return class_loss(decision, codes)[0]
