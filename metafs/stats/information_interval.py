r"""How sure an estimate of mutual information is: whether it would stay with more rows.

Let :math:`n_{gy}` be the rows of group g and class y, and let their probabilities have a Dirichlet
prior of :math:`\alpha` rows to each cell of the table. Of k more rows, :math:`K_{gy}` then have a
Dirichlet-multinomial distribution with parameters :math:`a_{gy} = n_{gy} + \alpha`, and

.. math:: c = P(L \le MI' \le U), \qquad MI' = MI(n + K), \quad
          [L, U] = [(1 - w) \, MI(n), \; (1 + w) \, MI(n)]

Each :math:`n + K` is a count X that has n and a beta-binomial part, with mean :math:`\mu` and
variance v, and :math:`MI'` a sum of :math:`\varphi(X) = X \log_2 X` over cells, groups and
classes. So its mean is a sum of means. For its variance each :math:`\varphi` is taken apart into
the line through X that fits best, with slope :math:`\beta`, and a rest of variance :math:`\rho`:

.. math:: \mathrm{var} \approx \frac{1}{M^2} \Big( f \, \mathrm{var}_p(\ell)
          + \sum_{g,y} \rho_{gy} - \sum_g \rho_g - \sum_y \rho_y + \rho \Big), \qquad
          \ell_{gy} = \beta_{gy} - \beta_g - \beta_y, \quad f = k \, \frac{A + k}{A + 1}

with :math:`A = \sum a`, :math:`p = a / A`, M = N + k and :math:`\rho = f^2 / 2 M^2 \ln^2 2`. For
independence, where the lines vanish, the rests add up to the variance of a chi-squared
distribution. Where :math:`\mu` is small, mean, slope and rest are sums over all counts; else the
mean is that of the gamma distribution with the same :math:`\mu` and v,

.. math:: E \, X \ln X = \mu \big( \psi(\kappa + 1) - \ln \kappa + \ln \mu \big), \qquad
          \kappa = \mu^2 / v

and :math:`\beta = \log_2 \mu + 1 / \ln 2`, :math:`\rho = v^2 / 2 \mu^2 \ln^2 2`. A beta
distribution on :math:`[0, \log_2 \min(r, s)]`, for r groups and s classes, with this mean and
variance gives c. How far that is from simulated rows is asserted in
``tests/stats/test_information_interval.py``.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021, section 3.4.3,
wish for such a confidence. M. Zaffalon, M. Hutter, "Robust feature selection using distributions
of mutual information", UAI 2002, have the limit of many rows, with the beta among other
distributions.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaln, digamma, gammaln

from metafs.data.parameters import check_between
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs.stats.chance_information import phi

EXACT_BELOW = 40
"""Counts of a smaller mean are summed over; the gamma distribution stands for larger ones."""
TAIL = 20.0
LN2 = float(np.log(2))


@dataclass(frozen=True)
class IntervalConfidence:
    """The probability that the information of a set stays within an interval.

    Parameters
    ----------
    width : float, default=0.1
        Half the width of the interval, as a share of the information.
    more : float, default=1.0
        How many more rows are thought of, as a share of the rows there are.
    alpha : float, default=0.5
        Rows that the prior has in each cell; one half is Jeffreys' prior.

    Examples
    --------
    >>> clear, weak = np.array([[50, 10], [10, 50]]), np.array([[32, 28], [28, 32]])
    >>> sure = IntervalConfidence()
    >>> round(sure.of(clear), 2), round(sure.of(weak), 2), round(sure.of(10 * clear), 2)
    (0.47, 0.04, 0.95)
    """

    width: float = 0.1
    more: float = 1.0
    alpha: float = 0.5

    def __post_init__(self) -> None:
        check_between("width", self.width)
        check_between("more", self.more)
        check_between("alpha", self.alpha)
        if self.width >= 1:
            raise UsageError(f"width is {self.width:g}; give a share below 1.")

    def of(self, counts: Array) -> float:
        """Return c of a table of counts, (n_groups, n_classes), without empty rows or columns."""
        if min(counts.shape) < 2:
            return 1.0
        now = information(counts)
        k = max(1, round(self.more * float(counts.sum())))
        mean, variance = moments_after(counts, k, self.alpha)
        top = float(np.log2(min(counts.shape)))
        low, high = (min(1.0, (1 + side * self.width) * now / top) for side in (-1, 1))
        mean = min(max(mean / top, 1e-12), 1 - 1e-12)
        size = max(mean * (1 - mean) * top**2 / max(variance, 1e-300) - 1, 1e-9)
        a, b = mean * size, (1 - mean) * size
        return float(betainc(a, b, high) - betainc(a, b, low))


def information(counts: Array) -> float:
    """Return the mutual information of the rows and columns of a table, in bits.

    Examples
    --------
    >>> information(np.array([[2, 0], [0, 2]]))
    1.0
    """
    total = phi(counts).sum() - phi(counts.sum(axis=0)).sum() - phi(counts.sum(axis=1)).sum()
    return max(0.0, float(total + phi(counts.sum())) / max(1.0, float(counts.sum())))


def moments_after(counts: Array, k: int, alpha: float) -> tuple[float, float]:
    """Return mean and variance of the information after k more rows, in bits."""
    N = float(counts.sum())
    r, s = counts.shape
    M, A = N + k, N + alpha * r * s
    f = k * (A + k) / (A + 1)
    cells = _terms(counts, alpha, A, k)
    groups = _terms(counts.sum(axis=1), s * alpha, A, k)
    classes = _terms(counts.sum(axis=0), r * alpha, A, k)
    mean, rest = (
        float(cells[part].sum() - groups[part].sum() - classes[part].sum()) for part in (0, 2)
    )
    p = (counts + alpha) / A
    line = cells[1] - groups[1][:, None] - classes[1]
    of_line = f * float((p * line**2).sum() - (p * line).sum() ** 2)
    of_rest = max(0.0, rest + f**2 / (2 * M**2 * LN2**2))
    return max(0.0, (mean + float(phi(M))) / M), (of_line + of_rest) / M**2


def _terms(n: Array, more: float, A: float, k: int) -> Array:
    """Return mean, slope and rest of phi(n + K), where K of k more rows fall where n of them did.

    ``more`` is the prior's part in n, A the rows and the prior together.
    """
    values, place = np.unique(n, return_inverse=True)
    a = values + more
    drawn = k * a / A
    v = drawn * (1 - a / A) * (A + k) / (A + 1)
    mu = values + drawn
    shape = np.minimum(mu**2 / np.maximum(v, 1e-300), 1e12)
    log = digamma(shape + 1) - np.log(shape) + np.log(mu)
    terms = np.array([mu * log / LN2, (np.log(mu) + 1) / LN2, 0.5 * (v / mu / LN2) ** 2])
    small = mu < EXACT_BELOW
    if small.any():
        last = min(k, int((drawn + TAIL * np.sqrt(v))[small].max() + TAIL))
        K, b = np.arange(last + 1), a[small][:, None]
        ways = gammaln(k + 1.0) - gammaln(K + 1.0) - gammaln(k - K + 1.0)
        chance = np.exp(ways + betaln(K + b, k - K + A - b) - betaln(b, A - b))
        found = phi(values[small][:, None] + K)
        mean = (chance * found).sum(axis=1)
        apart = K - drawn[small][:, None]
        slope = (chance * found * apart).sum(axis=1) / v[small]
        spread = (chance * (found - mean[:, None]) ** 2).sum(axis=1)
        terms[:, small] = mean, slope, np.maximum(0.0, spread - slope**2 * v[small])
    return np.asarray(terms[:, place.ravel()].reshape(3, *n.shape))
