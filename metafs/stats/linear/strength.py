r"""How strongly to believe memory: own labels are the evidence, experience of transfer the prior.

For each strength s, cross-validation of the own labels gives the mean difference
:math:`\delta_s` of the scale-free loss from no memory, with its standard error. Experience gives
the mean :math:`\mu_s` and the variance of the same difference over past problems that had as few
labels. The two are weighed by their precisions, and the strength of the least expected loss is
taken; memory is not used unless its gain exceeds a part of that expectation's own uncertainty.
"""

from dataclasses import dataclass

import numpy as np

from metafs.data.typing import Array
from metafs.stats.linear.weight_prior import TransferExperience

_DOUBT = 0.5  # standard errors that a gain must exceed
_VARIANCE = 0.02**2  # of a difference between problems, where nothing is known of it


@dataclass(frozen=True, eq=False)
class StrengthChoice:
    """The strength s with which memory is believed, and why."""

    s: float
    strengths: Array
    own_loss: Array | None
    """(S,) Cross-validated scale-free loss of the own labels; None if they are too few."""
    experience: Array | None
    """(S,) Mean change of the loss by memory in past problems; None without experience."""
    expected: Array
    """(S,) Expected change of the loss, own labels and experience together."""
    why: str

    def __str__(self) -> str:
        return self.why


def choose_strength(
    strengths: Array,
    losses: Array | None,
    experience: TransferExperience | None,
    n_labels: float,
    *,
    doubt: float = _DOUBT,
) -> StrengthChoice:
    """Choose the strength of memory.

    Parameters
    ----------
    strengths : array of shape (S,)
        The first is 0.
    losses : array of shape (S, n_rows), or None
        Cross-validated loss of each row; None if there are too few labels for that.
    experience : TransferExperience or None
        What memory was worth to past problems.
    n_labels : float
        Labels a class, or rows where the target is a number.
    """
    n_strengths = len(strengths)
    mean, precision = np.zeros(n_strengths), np.full(n_strengths, 1 / _VARIANCE)
    felt = None if experience is None else experienced(experience, strengths, n_labels)
    if felt is not None:
        mean, variance = felt
        precision = 1 / np.maximum(variance, 1e-8)
    own = None
    expected, sure = mean, precision
    if losses is not None and losses.shape[1] > 1:
        own = losses.mean(axis=1)
        change = losses - losses[0]
        error = change.var(axis=1, ddof=1) / losses.shape[1]
        seen = 1 / np.maximum(error, 1e-8)
        sure = precision + seen
        expected = (precision * mean + seen * change.mean(axis=1)) / sure
    judged = expected + doubt / np.sqrt(sure)
    judged[0] = expected[0] = 0.0
    best = int(np.argmin(judged))
    return StrengthChoice(
        float(strengths[best]),
        strengths,
        own,
        None if felt is None else felt[0],
        expected,
        _why(best, strengths, own, felt, expected),
    )


def experienced(
    experience: TransferExperience, strengths: Array, n_labels: float
) -> tuple[Array, Array] | None:
    """Return mean and variance, over past problems, of the change of loss at so many labels."""
    curves = experience.loss - experience.loss[:, :, :1]
    at = np.log(np.maximum(experience.n_labels, 1.0))
    wanted = np.log(max(n_labels, 1.0))
    rows, weights = [], []
    for curve, weight in zip(curves, experience.weights, strict=True):
        known = ~np.isnan(curve).any(axis=1)
        if known.any() and weight > 0:
            along = [np.interp(wanted, at[known], each) for each in curve[known].T]
            rows.append(np.interp(strengths, experience.strengths, along))
            weights.append(weight)
    if not rows:
        return None
    table, share = np.array(rows), np.array(weights) / np.sum(weights)
    mean = share @ table
    n_effective = 1 / np.sum(share**2)
    between = share @ (table - mean) ** 2
    variance = (between * n_effective + _VARIANCE * 2) / (n_effective + 1) * (1 + 1 / n_effective)
    return mean, variance


def _why(
    best: int,
    strengths: Array,
    own: Array | None,
    felt: tuple[Array, Array] | None,
    expected: Array,
) -> str:
    reasons = []
    shown = best or (1 + int(np.argmin(expected[1:])) if len(expected) > 1 else 0)
    if own is not None:
        reasons.append(f"own labels: loss {own[shown]:.3f} with memory, {own[0]:.3f} without")
    if felt is not None:
        reasons.append(f"past problems: loss {felt[0][shown]:+.3f} by memory")
    if len(strengths) == 1:
        return "Memory is not used: it knows no weights of these columns."
    said = "; ".join(reasons) if reasons else "neither labels nor experience to judge it by"
    if best == 0:
        return f"Memory is not used ({said})."
    return f"Memory is believed with strength {strengths[best]:g} ({said})."
