r"""How much information counts, given the rows it was estimated from: the one definition.

.. math:: q(S) = MI(S)^{2-r} \cdot c(S)^r, \qquad c(S) = \frac{N}{N + b\,n}

N is the number of rows and n the number of features in S. The larger b or r, the smaller the best
set. With r = 1 b alone steers, as in the paper.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021,
sections 3.4.2 and 3.4.3.
"""

from dataclasses import dataclass

import numpy as np

from metafs.data.typing import Array
from metafs.errors import UsageError


@dataclass(frozen=True)
class Confidence:
    """The parameters of confidence, and what they make of information.

    Parameters
    ----------
    b : float, default=5.0
        Price of a feature: with b rows to each feature, confidence is one half.
    r : float, default=1.0
        Weight of confidence against information, from 0 up to, but not including, 2.
    """

    b: float = 5.0
    r: float = 1.0

    def __post_init__(self) -> None:
        if not self.b >= 0:
            raise UsageError(f"b of mi-confidence is {self.b}; give a number of 0 or more.")
        if not 0 <= self.r < 2:
            raise UsageError(f"r of mi-confidence is {self.r}; give a number from 0 to below 2.")

    def of(self, information: Array | float, n_features: Array | int, n_samples: int) -> Array:
        """Return q of sets with this information and this many features.

        Examples
        --------
        >>> float(Confidence(b=5.0).of(1.0, 2, n_samples=30))
        0.75
        """
        confidence = n_samples / (n_samples + self.b * np.asarray(n_features))
        return np.asarray(np.asarray(information) ** (2 - self.r) * confidence**self.r)
