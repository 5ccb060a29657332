r"""Shrinkage of a quality measured with few labels towards what memory expects.

A measured quality q that grows with the square of an effect, as infogain and fisher do, has mean c,
its noise, for an irrelevant feature. In units of this noise it is :math:`z^2 = q / c`, where z has
variance 1 around the true effect :math:`\delta`. Memory expects the true quality e, so
:math:`\delta` is drawn from a normal distribution with mean 0 and variance e / c, and the posterior
mean of the true quality :math:`c \, \delta^2` is

.. math:: \hat q = e + w^2 (q - c' - e), \qquad w = \frac{e}{e + c'}, \qquad c' = \kappa^2 c

where the noise inflation :math:`\kappa` is 1 if the errors of features are independent. They are
not: a few long documents favour all frequent words at once, and the learner is misled by the same
labels as the measure. So the noise is inflated.

Memory ranks features but has no unit of quality. With its evidence x, scaled to the range from 0 to
1, the expectation is

.. math:: e = a + b x, \qquad a, b \ge 0

fitted to the excess q - c of all features of the new problem, each weighted by
:math:`1 / (c + e)^2` (maximum likelihood). Both a and b are at least their standard errors, so that
memory is not rejected because labels are few. If the evidence is the same for all features, their
order is that of the measured quality.

Memory may be wrong about a feature, so no effect is shrunk by more than :math:`\kappa` standard
deviations: :math:`\sqrt{\hat q} \ge \sqrt{q} - \kappa \sqrt{c}`.

C. N. Morris, "Parametric empirical Bayes inference", Journal of the American Statistical
Association 78, 1983; the limit is that of B. Efron and C. Morris, "Limiting the risk of Bayes and
empirical Bayes estimators, part II", Journal of the American Statistical Association 67, 1972.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import nnls

from metafs.data.parameters import check_between
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs.stats.smoothing import chance_qualities, shrunk

NOISE_INFLATION = 2.5
"""The factor by which the standard deviation of a measured effect is inflated."""

_MOST = 1e3  # times the noise: larger values are limits of a measure, as fisher's of a clean split
_STEPS = 30


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Quality between the measured and the expected one, for each feature."""

    quality: Array
    expected: Array
    """What memory expects, in the unit of the measured quality."""
    weight: Array
    """The weight of the measured quality, between 0 and 1."""


def chance_quality(
    X: Any,
    y: Any,
    measure: Callable[[Any, Any], Array],
    *,
    n_draws: int = 10,
    random_state: int = 0,
) -> Array:
    """Return the mean quality of each feature when the target is permuted.

    The draws are few, so the means are shrunk towards their common mean as far as they differ by
    chance alone.

    Examples
    --------
    >>> from metafs import Registry
    >>> X, y = np.eye(20), np.arange(20) % 2
    >>> chance_quality(X, y, Registry().measures["infogain"]).round(3)[:3]
    array([0.052, 0.052, 0.052])
    """
    drawn = chance_qualities(X, y, measure, n_draws=n_draws, random_state=random_state)
    drawn = np.minimum(drawn, _MOST * np.median(drawn[drawn > 0])) if (drawn > 0).any() else drawn
    mean = drawn.mean(axis=0)
    spread = float(np.var(drawn, axis=0, ddof=1).mean()) / n_draws
    return shrunk(mean, np.full_like(mean, mean.mean()), spread)


def expected_quality(measured: Array, noise: Array, evidence: Array) -> Array:
    """Return e = a + b x for each feature.

    Examples
    --------
    >>> measured = np.array([1.0, 2.0, 1.0, 8.0, 9.0, 10.0])
    >>> expected_quality(measured, np.ones(6), np.array([0.0, 0.0, 0.0, 0.5, 0.5, 0.5])).round(1)
    array([1.1, 1.1, 1.1, 8.8, 8.8, 8.8])
    """
    known = noise > 0
    e = np.zeros(len(measured))
    if not known.any():
        return e
    x = evidence - evidence.min()
    design = np.column_stack([np.ones(len(x)), x / x.max() if x.max() > 0 else x])
    c, A = noise[known], design[known]
    excess = np.minimum(measured[known], _MOST * c) - c
    fitted = np.full(len(c), max(excess.mean(), 0.0))
    for _ in range(_STEPS):
        before, total = fitted, c + fitted
        weighted = np.column_stack([A, excess]) / total[:, None]
        rotated = np.asarray(np.linalg.qr(weighted, mode="r"))
        coefficients, _ = nnls(rotated[:, :2], rotated[:, 2])
        fitted = A @ coefficients
        if np.allclose(fitted, before, rtol=1e-6, atol=1e-9 * c.mean()):
            break
    known_by = A / (c + fitted)[:, None]
    variances = 2 * np.diag(np.linalg.pinv(known_by.T @ known_by))
    return np.asarray(design @ np.maximum(coefficients, np.sqrt(variances)))


def shrink(
    measured: ArrayLike,
    noise: ArrayLike,
    evidence: ArrayLike,
    *,
    noise_inflation: float = NOISE_INFLATION,
) -> Shrunk:
    """Return the quality of each feature, shrunk towards what is expected from the evidence.

    Parameters
    ----------
    measured : array-like of shape (n_features,)
        Measured quality, which grows with the square of an effect.
    noise : float or array-like of shape (n_features,)
        The mean measured quality of an irrelevant feature, as from `chance_quality`; without
        noise the measured quality is returned.
    evidence : array-like of shape (n_features,)
        What memory knows of each feature, at least 0, in any unit; larger is better.
    noise_inflation : float, default=2.5
        The factor by which the standard deviation of an effect is inflated, and the number of
        standard deviations by which an effect may be shrunk at most.

    Examples
    --------
    >>> shrunk = shrink([1.0, 4.0, 4.0, 1.0], 1.0, [0.0, 0.0, 1.0, 1.0], noise_inflation=1)
    >>> shrunk.quality.round(1)
    array([1.2, 2.8, 3.8, 1.6])
    """
    check_between("noise_inflation", noise_inflation)
    q, x = (np.asarray(values, dtype=np.float64) for values in (measured, evidence))
    if q.ndim != 1 or q.shape != x.shape:
        raise UsageError(
            f"the evidence has shape {x.shape}, but the measured quality has shape {q.shape}: "
            "give one number for each feature."
        )
    if not (np.isfinite(q).all() and np.isfinite(x).all() and (x >= 0).all()):
        raise UsageError("give finite qualities, and evidence from 0, for every feature.")
    c = np.maximum(np.broadcast_to(np.asarray(noise, dtype=np.float64), q.shape), 0.0)
    e = expected_quality(q, c, x)
    inflated = noise_inflation**2 * c
    total = e + inflated
    weight = np.divide(e, total, out=np.ones(q.shape), where=inflated > 0) ** 2
    posterior = e + weight * (q - inflated - e)
    least = np.maximum(np.sqrt(np.maximum(q, 0.0)) - noise_inflation * np.sqrt(c), 0.0) ** 2
    return Shrunk(np.where(c > 0, np.maximum(posterior, least), q), e, weight)
