r"""The mutual information that groups of rows have with a target by chance alone.

If classes are dealt to the rows at random, the rows of class y in a group of a rows follow a
hypergeometric distribution, and the mean information of the groups is exactly

.. math:: E[MI] = \frac{1}{N} \Big( \varphi(N) - \sum_y \varphi(b_y) - \sum_g \varphi(a_g)
          + \sum_g \sum_y E\,\varphi(n), \; n \sim \mathrm{Hyp}(N, b_y, a_g) \Big), \qquad
          \varphi(n) = n \log_2 n

It depends on the sizes of the groups only, and the inner sum on one size, so that each size is
computed once.

N. X. Vinh, J. Epps, J. Bailey, "Information theoretic measures for clusterings comparison:
variants, properties, normalization and correction for chance", Journal of Machine Learning
Research 11, 2010, equation 24a, there as a sum over cells.
"""

import numpy as np
from scipy.special import gammaln, xlogy

from metafs.data.typing import Array

TAIL = 12.0
"""Counts beyond so many standard deviations of the mean are left out: less than 1e-25 of them."""


class ChanceInformation:
    """The expected information of groups of given sizes about one target.

    Parameters
    ----------
    of_class : array of shape (n_classes,)
        The number of rows of each class.

    Examples
    --------
    >>> by_chance = ChanceInformation(np.array([2, 2]))
    >>> round(by_chance.of(np.array([2, 2])), 4)  # 1 bit in two of six deals, else 0
    0.3333
    >>> by_chance.of(np.array([1, 1, 1, 1]))
    1.0
    """

    def __init__(self, of_class: Array) -> None:
        self.of_class = np.asarray(of_class, dtype=np.int64)
        self.n = int(self.of_class.sum())
        self._log_factorial = gammaln(np.arange(self.n + 1) + 1.0)
        self._known = np.full(self.n + 1, np.nan)
        self._constant = float(phi(self.n) - phi(self.of_class).sum())

    def of(self, sizes: Array) -> float:
        """Return the mean information, in bits, of groups of these sizes."""
        sizes, times = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
        for size in sizes[np.isnan(self._known[sizes])].tolist():
            self._known[size] = sum(self._mean_phi(size, b) for b in self.of_class.tolist())
        total = self._constant + float(times @ (self._known[sizes] - phi(sizes)))
        return max(0.0, total / max(self.n, 1))

    def _mean_phi(self, a: int, b: int) -> float:
        """Return the mean of phi(n), where n of a rows are among the b of a class."""
        N, mean = self.n, a * b / self.n
        spread = np.sqrt(mean * (1 - b / N) * (N - a) / max(N - 1, 1))
        low = max(0, a + b - N, int(mean - TAIL * spread - TAIL))
        high = min(a, b, int(mean + TAIL * spread + TAIL) + 1)
        n, log = np.arange(low, high + 1), self._log_factorial
        log_p = log[a] + log[N - a] + log[b] + log[N - b] - log[N]
        p = np.exp(log_p - log[n] - log[a - n] - log[b - n] - log[N - a - b + n])
        return float(p @ phi(n))


def phi(n: Array | float) -> Array:
    """Return n log2 n."""
    n = np.asarray(n, dtype=np.float64)
    return np.asarray(xlogy(n, n) / np.log(2))
