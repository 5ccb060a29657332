"""From decision values to probabilities: a slope, and shares of classes that stay what they are."""

import numpy as np
from scipy.special import softmax

from metafs.data.typing import Array
from metafs.stats.linear.loss import class_loss

LEAST_SPREAD = 0.25
"""The standard deviation that decision values have at least when they become probabilities."""

ROUNDING = 1e-9
"""The standard deviation of fitted values that are all the same, but for rounding."""

SURPRISE = 1.0
"""What a slope costs that is ten times the usual one, in units of the loss of all rows."""

MOST_SHIFTS = 200
"""Steps until the means of probabilities are the shares of the classes."""


def slope_of(held_out: Array | None, fitted: Array, codes: Array | None) -> float:
    """Return the slope that makes probabilities of decision values.

    Held-out values of ridge regression are half of logistic ones where the fit is weak, so the
    slope is carried over by the spread of the fitted values. It is never 0, because then all
    rows would have the same probabilities. Without held-out values it is 1, and so it is where all
    rows have the same fitted value.
    """
    if codes is None or held_out is None:
        return 1.0
    slope = float(class_loss(held_out, codes, surprise=SURPRISE)[1])
    spread = float(fitted.std())
    if spread <= ROUNDING:
        return 1.0
    return max(slope * float(held_out.std()), LEAST_SPREAD) / spread


def shift_to_shares(
    decision: Array, y: Array, slope: float, sample_weight: Array | None = None
) -> Array:
    r"""Return what to add to decision values so that probabilities have the shares of the classes.

    The slope moves all probabilities towards each other or apart, and so their means away from the
    shares of the classes among the rows, the more the rarer a class. Until they agree,

    .. math:: b_c \leftarrow b_c + \frac{k - 1}{k} \,
              \frac{\log \pi_c - \log \bar p_c}{d \log \bar p_c / d b_c},

    with :math:`\pi` the shares, :math:`\bar p` the mean probabilities of the k classes, and b the
    logits that are added.

    Parameters
    ----------
    decision : array of shape (n_rows, n_outputs)
        One output for two classes, else one for each class.
    y : array of shape (n_rows,)
    slope : float
        By which decision values are multiplied before they become probabilities.
    sample_weight : array of shape (n_rows,), default=None
    """
    codes = np.unique(y, return_inverse=True)[1]
    counts = np.bincount(codes, weights=sample_weight)
    logits = slope * decision
    if decision.shape[1] == 1:
        logits = np.column_stack([np.zeros(len(decision)), logits])
    added = np.zeros(logits.shape[1])
    wanted = counts / counts.sum()
    for _ in range(MOST_SHIFTS):
        p = softmax(logits + added, axis=1)
        means = np.maximum(np.average(p, axis=0, weights=sample_weight), 1e-12)
        apart = np.log(wanted / means)
        if np.abs(apart).max() < 1e-4:
            break
        rate = np.average(p * (1 - p), axis=0, weights=sample_weight) / means
        step = apart * (1 - 1 / len(added)) / np.maximum(rate, 0.05)
        added += np.clip(step, -1.0, 1.0)
    added -= added[0] if decision.shape[1] == 1 else added.mean()
    return np.asarray(added[-decision.shape[1] :] / slope)
