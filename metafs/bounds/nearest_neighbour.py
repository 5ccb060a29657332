r"""Generalisation bound of 1-nearest-neighbour, from its margins and the number of features.

With probability :math:`1 - \delta` over a sample of m points of two classes in a ball of radius R,
for every set F of N features and every :math:`\gamma \in (0, 1]` at once, the error of the
1-nearest-neighbour rule that measures distances on F alone is

.. math::

    er \le \hat{er}^\gamma + \sqrt{\frac{2}{m} \Big(
    d \ln \frac{34 e m}{d} \log_2 (578 m) + \ln \frac{8}{\gamma \delta} + (|F| + 1) \ln N \Big)},
    \qquad d = (64 R / \gamma)^{|F|},

where :math:`\hat{er}^\gamma` is the share of points that are wrong or have a margin below
:math:`\gamma`. That is theorem 1 of R. Gilad-Bachrach, A. Navot, N. Tishby, "Margin Based Feature
Selection - Theory and Algorithms", ICML 2004. Without the last term it is their theorem 2, for any
real-valued functions whose fat-shattering dimension at :math:`\gamma / 32` is d, which they take
from P. L. Bartlett, "The sample complexity of pattern classification with neural networks", IEEE
Transactions on Information Theory, 1998.

A bound above 1 is trivial and is returned as 1. This is the usual case, because d grows with a
power of :math:`64 R / \gamma`. From d = 34 m on, d ln(34em/d) decreases, although a richer class
cannot have a smaller bound; there, too, the bound is 1.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from metafs.errors import UsageError


def margin_error(margins: ArrayLike, gamma: float) -> float:
    r"""Return the :math:`\gamma`-sensitive training error: the share of margins below gamma.

    A point that is classified wrongly has a negative margin. Hypothesis margins, as those of the
    measure ``margin`` (its ``of_samples``), may stand for sample margins, of which they are lower
    bounds.

    Parameters
    ----------
    margins : array-like of shape (n_samples,)
        The margin of each point, in the units of the features.
    gamma : float
        The margin that is asked for, above 0 and at most 1.

    Examples
    --------
    >>> margin_error([-0.2, 0.1, 0.5, 0.9], gamma=0.5)
    0.5
    """
    _require_gamma(gamma)
    values = np.asarray(margins, dtype=np.float64)
    if values.ndim != 1 or not len(values) or np.isnan(values).any():
        raise UsageError("give one margin per sample, without NaN.")
    return float(np.mean(values < gamma))


def fat_shattering_dimension(radius: float, gamma: float, n_selected: int) -> float:
    """Return d, an upper bound of the fat-shattering dimension of 1-nearest-neighbour.

    Infinity if it is too large for a float.

    Examples
    --------
    >>> fat_shattering_dimension(radius=1.0, gamma=0.5, n_selected=2)
    16384.0
    """
    _require_gamma(gamma)
    if not radius > 0 or n_selected < 0:
        raise UsageError(
            f"the radius must be above 0 and the number of features not negative, not {radius:g} "
            f"and {n_selected}."
        )
    try:
        return float((64 * radius / gamma) ** n_selected)
    except OverflowError:
        return math.inf


def complexity(
    n_samples: int,
    gamma: float,
    dimension: float,
    delta: float = 0.05,
    *,
    log_n_choices: float = 0.0,
) -> float:
    """Return the complexity term of the bound, the root that is added to the margin error.

    Infinity if the dimension is at least 34 times the number of samples: the bound is then trivial.

    Parameters
    ----------
    n_samples : int
        m, the size of the sample.
    gamma : float
        The margin that is asked for, above 0 and at most 1.
    dimension : float
        d, the fat-shattering dimension at gamma / 32.
    delta : float, default=0.05
        The probability with which the bound may fail.
    log_n_choices : float, default=0.0
        Logarithm of the number of function classes to choose from; 0 for theorem 2.

    Examples
    --------
    >>> round(complexity(n_samples=10**6, gamma=0.5, dimension=100), 4)
    0.2828
    """
    _require_gamma(gamma)
    if n_samples < 1 or not 0 < delta < 1:
        raise UsageError(
            f"there must be samples, and delta must lie between 0 and 1, not {n_samples} and "
            f"{delta:g}."
        )
    if not dimension >= 0:
        raise UsageError(f"the dimension must not be negative, nor NaN, not {dimension:g}.")
    if dimension >= 34 * n_samples:
        return math.inf
    richness = 0.0
    if dimension > 0:
        richness = dimension * math.log(34 * math.e * n_samples / dimension)
    doubt = math.log(8 / (gamma * delta)) + log_n_choices
    return math.sqrt(2 / n_samples * (richness * math.log2(578 * n_samples) + doubt))


def nearest_neighbour_bound(
    margin_error: float,
    *,
    n_samples: int,
    radius: float,
    gamma: float,
    n_selected: int,
    n_features: int,
    delta: float = 0.05,
) -> float:
    """Return the bound of theorem 1 on the error of 1-nearest-neighbour; 1 if it says nothing.

    The theorem is about two classes.

    Parameters
    ----------
    margin_error : float
        The share of samples that are wrong or have a margin below gamma, as from `margin_error`.
    n_samples : int
        m, the size of the sample.
    radius : float
        R, of a ball that holds all data.
    gamma : float
        The margin that was asked for, above 0 and at most 1.
    n_selected : int
        Number of features on which distances are measured.
    n_features : int
        N, the number of features among which was selected.
    delta : float, default=0.05
        With what probability the bound may fail.

    Examples
    --------
    >>> near = {"radius": 0.5, "gamma": 1.0, "n_selected": 1, "n_features": 1000}
    >>> round(nearest_neighbour_bound(0.05, n_samples=10**6, **near), 4)
    0.2166
    >>> nearest_neighbour_bound(0.05, n_samples=1000, **near)
    1.0
    """
    if not 0 <= margin_error <= 1:
        raise UsageError(f"margin_error must lie between 0 and 1, not {margin_error:g}.")
    if not 0 <= n_selected <= n_features or n_features < 1:
        raise UsageError(f"{n_selected} of {n_features} features cannot be selected.")
    added = complexity(
        n_samples,
        gamma,
        fat_shattering_dimension(radius, gamma, n_selected),
        delta,
        log_n_choices=(n_selected + 1) * math.log(n_features),
    )
    return min(1.0, margin_error + added)


def _require_gamma(gamma: float) -> None:
    if not 0 < gamma <= 1:
        raise UsageError(f"gamma must be above 0 and at most 1, not {gamma:g}.")
