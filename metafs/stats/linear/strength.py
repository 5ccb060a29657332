r"""How much weight memory gets: own labels are the evidence, experience of transfer the prior.

Let :math:`\Delta` be the changes of the scale-free loss that the strengths of a grid bring against
no memory. Experience of past problems that had as few labels gives their mean :math:`E` and
covariance :math:`\Sigma`. Problems that memory knows nothing of lose :math:`U`, with one label
nothing and from five on all of it. The prior is

.. math:: \Delta \sim N\big(k E + (1 - k) U, \; \Sigma + v (U - E)(U - E)'\big)

with :math:`k \le 1` how coherent past scores are here (`metafs.stats.linear.rows`), relative to the
past problems. Cross-validation of the own labels observes :math:`\Delta` with an error that its
rows show. In the mean of models (`metafs.stats.linear.model`) each strength has as its share the
probability that it is the best, by draws from the posterior. A part of the standard deviation
counts against memory, so that the expected gain must exceed its uncertainty. Draws are nearer to
the mean than the posterior is: strengths that may be best are averaged, not all that can be.

The constants were chosen on draws of streams that `benchmarks/README.md` names, once for all.
"""

from dataclasses import dataclass, replace

import numpy as np

from metafs.data.typing import Array
from metafs.stats.linear.weight_prior import TransferExperience

_DOUBT = 0.2  # standard deviations that a gain must exceed
_SPREAD = 0.25  # standard deviations by which draws differ from the mean
_PRICE = 0.002  # of memory that changes nothing
_UNRELATED = 0.3  # v
_ERROR_INFLATION = 4.0  # rows predicted by models that share rows say less than they seem to
_ROW_SPREAD, _ROW_COUNT = 0.3, 5  # a change of one row's loss, and rows that this is worth
_JITTER = 0.03
_MORE_COHERENT = 1.5  # times the usual coherence, from which experience counts less
_WALK = 0.2  # how far the loss may wander along the grid, where there is no experience
_LEAST_SHARE = 0.05
_ROUNDING = 1e-9
_DRAWS = 1000
_AT = np.log([0.01, 0.1, 0.3, 1.0, 3.0, 10.0])
_COST = np.array([0.0, 0.0, 0.02, 0.08, 0.13, 0.15])  # of unrelated memory, from 5 labels on
_GAIN = np.array([0.0, -0.04, -0.10, -0.12, -0.11, -0.10])  # of related memory


@dataclass(frozen=True, eq=False)
class StrengthChoice:
    """The strength s of memory, and why."""

    s: float
    """The mean of the strengths by their shares; 0 without memory."""
    strengths: Array
    shares: Array
    """(S,) The share of each strength in the model; their sum is 1."""
    own_loss: Array | None
    """(S,) Cross-validated scale-free loss of the own labels; None if they are too few."""
    experience: Array | None
    """(S,) Mean change of the loss by memory in past problems; None without experience."""
    expected: Array
    """(S,) Expected change of the loss, own labels and experience together."""
    why: str

    @property
    def gain(self) -> float:
        """The expected change of the loss by memory, with its sign reversed."""
        return -float(self.shares @ self.expected)

    def most_probable(self) -> "StrengthChoice":
        """Return the choice of the one strength with the largest share."""
        if len(self.shares) == 1:
            return self
        best = int(np.argmax(self.shares))
        alone = (np.arange(len(self.shares)) == best).astype(float)
        why = _why(alone, self.strengths, self.own_loss, self.experience, self.expected)
        return replace(self, s=float(self.strengths[best]), shares=alone, why=why)

    def __str__(self) -> str:
        return self.why


def choose_strength(
    strengths: Array,
    losses: Array | None,
    experience: TransferExperience | None,
    n_labels: float,
    coherence: float = 0.0,
) -> StrengthChoice:
    """Choose the strength of memory.

    Parameters
    ----------
    strengths : array of shape (S,)
        The first is 0, unless there is only one.
    losses : array of shape (S, n_rows), or None
        Cross-validated loss of each row; None if there are too few labels for that.
    experience : TransferExperience or None
        What memory was worth to past problems.
    n_labels : float
        Labels a class, or rows where the target is a number.
    coherence : float
        How coherent past scores are on the rows at hand.
    """
    own = None if losses is None else losses.mean(axis=1)
    if len(strengths) == 1:
        why = (
            f"Memory is used with the given strength {strengths[0]:g}."
            if strengths[0] > 0
            else "Memory is not used: it knows no weights of these columns, or was not asked."
        )
        only = np.ones(1)
        return StrengthChoice(float(strengths[0]), strengths, only, own, None, np.zeros(1), why)
    past = None if experience is None else experienced(experience, strengths, n_labels)
    mean, covariance = _prior(strengths, past, experience, n_labels, coherence)
    if losses is not None:
        mean, covariance = _updated(mean, covariance, losses)
    shares = _shares(mean, covariance)
    expected = np.concatenate([[0.0], mean])
    average = None if past is None else np.concatenate([[0.0], past[0]])
    why = _why(shares, strengths, own, average, expected)
    s = float(shares @ strengths)
    return StrengthChoice(s, strengths, shares, own, average, expected, why)


def _shares(mean: Array, covariance: Array) -> Array:
    """Return how probable it is that each strength, no memory first, changes the loss best."""
    root = np.linalg.cholesky(covariance + _ROUNDING * np.eye(len(mean)))
    apart = np.random.default_rng(0).normal(size=(_DRAWS, len(mean))) @ root.T
    doubt = _DOUBT * np.sqrt(np.diag(covariance))
    drawn = mean + _PRICE + doubt + _SPREAD * apart
    best = np.where(drawn.min(axis=1) < 0, 1 + drawn.argmin(axis=1), 0)
    share = np.bincount(best, minlength=1 + len(mean)) / _DRAWS
    share[share < _LEAST_SHARE] = 0.0
    return np.asarray(share / share.sum())


def experienced(
    experience: TransferExperience, strengths: Array, n_labels: float
) -> tuple[Array, Array] | None:
    """Return mean and covariance, over past problems, of the changes of loss at so many labels.

    They are those of all strengths but the first, which is no memory; None without experience.
    """
    changes = np.clip(experience.loss - experience.loss[:, :, :1], -1.0, 1.0)
    at, wanted = np.log(np.maximum(experience.n_labels, 1.0)), np.log(max(n_labels, 1.0))
    rows, weights = [], []
    for change, weight in zip(changes, experience.weights, strict=True):
        known = ~np.isnan(change).any(axis=1)
        if known.any() and weight > 0:
            here = [np.interp(wanted, at[known], each) for each in change[known].T]
            rows.append(np.interp(strengths[1:], experience.strengths, here))
            weights.append(weight)
    if not rows:
        return None
    table, share = np.array(rows), np.array(weights) / np.sum(weights)
    mean = share @ table
    apart = table - mean
    return mean, (apart.T * share) @ apart * (1 + share @ share)


def expected_gain(experience: TransferExperience | None, n_labels: float) -> float:
    """Return by how much memory lowered the loss of past problems with so few labels.

    The strength is the one that was best on average; 0 without experience.
    """
    if experience is None:
        return 0.0
    past = experienced(experience, np.asarray(experience.strengths), n_labels)
    return 0.0 if past is None else max(0.0, -float(past[0].min()))


def _prior(
    strengths: Array,
    past: tuple[Array, Array] | None,
    experience: TransferExperience | None,
    n_labels: float,
    coherence: float,
) -> tuple[Array, Array]:
    """Return mean and covariance of the changes before the own labels are asked."""
    at = np.log(np.maximum(strengths[1:], 0.01))
    growth = np.clip(np.log(n_labels) / np.log(5), 0.0, 1.0)
    unrelated = growth * np.interp(at, _AT, _COST)
    jitter = _JITTER**2 * np.eye(len(at))
    towards = np.interp(at, _AT, _GAIN) - unrelated
    place = np.arange(1, len(at) + 1) / len(at)
    walk = _WALK**2 * np.minimum.outer(place, place)  # a gain may begin at any strength
    vague = unrelated, np.outer(towards, towards) / 2 + walk + jitter
    if past is None:
        return vague
    mean, covariance = past
    kept, comparable = _compared(experience, coherence)
    towards = unrelated - mean
    covariance = covariance + _UNRELATED * np.outer(towards, towards) + jitter
    mean = kept * mean + (1 - kept) * unrelated
    apart = mean - vague[0]
    spread = comparable * (1 - comparable) * np.outer(apart, apart)
    return (
        comparable * mean + (1 - comparable) * vague[0],
        comparable * covariance + (1 - comparable) * vague[1] + spread,
    )


def _compared(experience: TransferExperience | None, coherence: float) -> tuple[float, float]:
    """Return k, and the share that experience has in the prior.

    Past problems may have measured memory without the problems nearest to them, which shared their
    rows. Where past scores are more coherent than they were there, experience counts less.
    """
    if experience is None or experience.coherence is None:
        return 1.0, 1.0
    known = np.isfinite(experience.coherence) & (experience.weights > 0)
    if not known.any():
        return 1.0, 1.0
    usual = float(np.average(experience.coherence[known], weights=experience.weights[known]))
    if usual <= 0:
        return 1.0, 1.0
    ratio = coherence / usual
    return min(1.0, float(np.sqrt(ratio))), min(1.0, _MORE_COHERENT / max(ratio, 1e-12))


def _updated(mean: Array, covariance: Array, losses: Array) -> tuple[Array, Array]:
    """Return mean and covariance after the losses of the own rows have been seen."""
    change = losses[1:] - losses[0]
    n_rows, n_strengths = change.shape[1], len(change)
    apart = change - change.mean(axis=1, keepdims=True)
    usual = _ROW_COUNT * _ROW_SPREAD**2 * (np.eye(n_strengths) + 1) / 2
    error = (apart @ apart.T + usual) / (n_rows + _ROW_COUNT) * _ERROR_INFLATION / n_rows
    gain = np.linalg.solve(covariance + error, covariance).T
    return mean + gain @ (change.mean(axis=1) - mean), covariance - gain @ covariance


def _why(
    shares: Array, strengths: Array, own: Array | None, past: Array | None, expected: Array
) -> str:
    used = shares[1:].any()
    shown = 1 + int(np.argmax(shares[1:]) if used else np.argmin(expected[1:]))
    if used:
        said = f"Memory is used with strength {float(shares @ strengths):.2g}"
        said += f"; {shares[0]:.0%} of the mean model is without it." if shares[0] else "."
    elif own is None and past is None:
        said = "Memory is not used: nothing shows what it is worth."
    elif expected[shown] < 0:
        said = "Memory is not used: its gain is too uncertain."
    else:
        said = "Memory is not used: no gain is expected."
    if own is not None:
        said += (
            f" Loss on the own labels: {own[shown]:.3f} with strength {strengths[shown]:g}, "
            f"{own[0]:.3f} without."
        )
    if past is not None:
        said += f" With as few labels it changed the loss of past problems by {past[shown]:+.3f}."
    return said
