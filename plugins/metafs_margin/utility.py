r"""Utilities of a margin.

.. math:: u(t) = t, \qquad u(t) = \frac{1}{1 + e^{-\beta t}}, \qquad u(t) = [t > 0]

The linear one is the published evaluation function. The other two trade large margins for fewer
errors.

R. Gilad-Bachrach, A. Navot, N. Tishby, "Margin based feature selection - theory and algorithms",
ICML 2004, section 6.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from metafs.data.parameters import check_between
from metafs.data.typing import Array
from metafs.errors import UsageError

UTILITIES = ("linear", "sigmoid", "zero-one")


@dataclass(frozen=True)
class Utility:
    """The utility of margins.

    Parameters
    ----------
    name : {"linear", "sigmoid", "zero-one"}, default="linear"
        Which of the three.
    beta : float, default=1.0
        Steepness of the sigmoid; the others do without.

    Examples
    --------
    >>> Utility("zero-one")(np.array([-0.5, 0.0, 2.0]))
    array([0., 0., 1.])
    >>> Utility("sigmoid", beta=2.0).slope(np.array([0.0]))
    array([0.5])
    """

    name: str = "linear"
    beta: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in UTILITIES:
            raise UsageError(f"utility is {self.name!r}; give one of {', '.join(UTILITIES)}.")
        check_between("beta", self.beta)

    def __call__(self, margins: Array) -> Array:
        """Return u of each margin."""
        if self.name == "sigmoid":
            return np.asarray(expit(self.beta * margins))
        return np.asarray(margins if self.name == "linear" else margins > 0, dtype=np.float64)

    def total(self, margins: Array) -> Array:
        """Return the sum of u over the last axis; what rounding leaves of a sum of 0 is 0."""
        worth = self(margins)
        total = worth.sum(axis=-1)
        return np.where(np.abs(total) <= 1e-14 * np.abs(worth).sum(axis=-1), 0.0, total)

    def slope(self, margins: Array) -> Array:
        """Return what an ascent multiplies its step by.

        It is the derivative of u. Zero-one has none that leads anywhere: there the step is that
        of the linear utility on each sample without a positive margin, and none on the others.
        """
        if self.name == "sigmoid":
            u = self(margins)
            return np.asarray(self.beta * u * (1 - u))
        return np.asarray(margins <= 0 if self.name == "zero-one" else np.ones_like(margins)) * 1.0
