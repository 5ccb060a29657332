r"""Whether what memory knows of columns agrees with the rows at hand.

Two problems may use one name for different things. No label is needed to see that. If memory's
document frequencies :math:`f_j` are right up to a beta distribution of concentration c, the
frequencies :math:`\hat f_j` of n rows at hand are beta-binomial, and

.. math:: \frac{\sum_j (\hat f_j - f_j)^2}{\sum_j f_j (1 - f_j)} \approx
          \frac{1}{n} \Big(1 + \frac{n - 1}{c + 1}\Big) .

So c, the number of rows that memory is worth, follows from all word columns together; likewise for
numbers from the mean of :math:`(\hat m_j - m_j)^2 / \sigma_j^2 \approx 1/n + 1/c`. Words of related
problems were seen to have a c of 28 to 800, and words under other names 1 to 8. For numbers the two
overlap: 0.8 to 40, and 0.1 to 2. Above a limit memory counts with all its rows, else not at all:
with c rows it would cost accuracy where it is right. Columns that are constant here tell nothing.
"""

from dataclasses import replace

import numpy as np

from metafs.data.typing import Array
from metafs.stats.linear.weight_prior import Scales

LEAST_FOR_WORDS = 12.0
LEAST_FOR_NUMBERS = 0.75

_LARGEST = 1e6
_FAR = 25.0  # squared standard deviations beyond which a column is as far as any


def agreeing(here: Scales, known: Scales, words: Array) -> Scales:
    """Return what memory knows, without rows where it disagrees with the rows at hand.

    Examples
    --------
    >>> here = Scales(np.full(2, 50.0), np.ones(2), np.array([0.0, 9.0]), np.ones(2))
    >>> known = Scales(np.full(2, 999.0), np.ones(2), np.array([9.0, 0.0]), np.ones(2))
    >>> agreeing(here, known, np.zeros(2, dtype=bool)).n_rows
    array([0., 0.])
    """
    is_known = np.isfinite(known.mean) & (known.n_rows > 0)
    n_rows = known.n_rows.astype(np.float64)
    for columns, concentration, least in (
        (is_known & words, _of_frequencies, LEAST_FOR_WORDS),
        (is_known & ~words, _of_means, LEAST_FOR_NUMBERS),
    ):
        if columns.any():
            c = concentration(here.columns(columns), known.columns(columns))
            if c < least:
                n_rows[columns] = 0.0
    return replace(known, n_rows=n_rows)


def _of_frequencies(here: Scales, known: Scales) -> float:
    n, f = float(here.n_rows[0]), known.document_frequency
    expected = float(np.sum(f * (1 - f)))
    if n < 2 or expected == 0:
        return _LARGEST
    apart = float(np.sum((here.document_frequency - f) ** 2)) / expected
    overdispersion = np.clip((n * apart - 1) / (n - 1), 1 / _LARGEST, 1.0)
    return float(1 / overdispersion - 1)


def _of_means(here: Scales, known: Scales) -> float:
    varies = (here.spread > 0) & (known.spread > 0)
    if not varies.any():
        return _LARGEST
    variance = (here.spread**2 + known.spread**2)[varies] / 2
    apart = (here.mean - known.mean)[varies] ** 2 / variance
    excess = float(np.minimum(apart, _FAR).mean()) - 1 / float(here.n_rows[0])
    return 1 / max(excess, 1 / _LARGEST)
