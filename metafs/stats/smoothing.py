r"""Smoothing: measured quality shrunk towards what meta-features predict.

With few samples the measured quality q of a feature is noisy. If the true one scatters around the
map's prediction m with variance :math:`\tau^2`, and the measured one around the true one with the
variance :math:`s^2`, the best estimate lies between the two,

.. math:: \hat q = m + \frac{\tau^2}{\tau^2 + s^2} \, (q - m), \qquad
          \tau^2 = \max\Big(0, \frac1N \sum_j \big( (q_j - m_j)^2 - s_j^2 \big) \Big)

where the map that predicts a feature has not seen it (empirical Bayes): `shrunk` with the
prediction of `metafs.stats.quality_map.held_out_quality`. :math:`s^2` is the variance of
`chance_qualities`, the quality under permutation of the target, averaged over features, because the
quality of a rare word does not vary under permutation and is uncertain all the same. The bootstrap
overestimates it for small samples, and disjoint halves fail for a word that occurs once.

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", Journal of
Machine Learning Research 9, 2008, conjectures in section 9 that smoothing helps where samples are
few, and leaves open how; the weights are those of C. N. Morris, "Parametric empirical Bayes
inference", Journal of the American Statistical Association 78, 1983.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from metafs.data.parameters import check_at_least
from metafs.data.typing import Array
from metafs.errors import UsageError


def chance_qualities(
    X: Any,
    y: Any,
    measure: Callable[[Any, Any], Array],
    *,
    n_draws: int = 10,
    random_state: int = 0,
) -> Array:
    """Return (n_draws, n_features): the quality of each feature when the target is permuted."""
    check_at_least("n_draws", n_draws, 2)
    X, y = X if issparse(X) else np.asarray(X), np.asarray(y)
    rng = np.random.default_rng(random_state)
    return np.array([measure(X, rng.permutation(y)) for _ in range(n_draws)])


def spread_around_map(measured: Array, predicted: Array, variance: ArrayLike) -> float:
    """Return tau^2: the variance of the map's residuals beyond the noise of the measurement.

    Examples
    --------
    >>> spread_around_map(np.array([1.0, 5.0]), np.array([3.0, 3.0]), 1.0)
    3.0
    """
    known = ~np.isnan(measured)
    beyond = (measured - predicted) ** 2 - np.broadcast_to(variance, measured.shape)
    return max(0.0, float(beyond[known].mean())) if known.any() else 0.0


def shrunk(measured: Array, predicted: Array, variance: ArrayLike) -> Array:
    """Return the measured quality shrunk towards the predicted one, the noisier the more.

    Where the measured quality is NaN, return the predicted one; without noise, the measured one.

    Examples
    --------
    >>> shrunk(np.array([1.0, 5.0, np.nan]), np.array([3.0, 3.0, 2.0]), 1.0)
    array([1.5, 4.5, 2. ])
    """
    s2 = np.broadcast_to(np.asarray(variance, dtype=np.float64), measured.shape)
    if not (s2 >= 0).all():
        raise UsageError("variance must be a number from 0, or one for each feature.")
    tau2 = spread_around_map(measured, predicted, s2)
    total = tau2 + s2
    trust = np.divide(tau2, total, out=np.ones(measured.shape), where=total > 0)
    return np.where(np.isnan(measured), predicted, predicted + trust * (measured - predicted))
