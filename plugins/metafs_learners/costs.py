"""Seconds that a fit of our learners takes on one thread, roughly.

Only orders of magnitude matter: the automatic choice leaves out what would take far too long.
Beyond `MANY_ROWS` each row takes longer for trees and a kernel, and less for boosting.
"""

import math

MANY_ROWS = 4_000


def extra_trees(n_samples: int, n_features: int, n_outputs: int) -> float:
    """Return the seconds of a hundred random trees.

    Examples
    --------
    >>> boosting(1560, 617, 26) > 60 > extra_trees(1560, 617, 26)
    True
    """
    more = max(0, n_samples - MANY_ROWS)
    usual = 3e-6 * n_samples * math.sqrt(n_features * n_outputs)
    return 0.2 + usual + 5e-5 * more * math.sqrt(n_features)


def boosting(n_samples: int, n_features: int, n_outputs: int) -> float:
    """Return the seconds of boosted trees over bins."""
    more = max(0, n_samples - MANY_ROWS)
    of_rows = 3e-6 * (n_samples - more) + 8e-7 * more
    return 0.1 + n_outputs * n_features * (5e-3 + of_rows)


def kernel_svm(n_samples: int, n_features: int, n_outputs: int) -> float:
    """Return the seconds of a support vector machine with a kernel."""
    more = max(0, n_samples - MANY_ROWS)
    usual = 4e-10 * n_samples**2 * n_features * n_outputs
    return 0.005 + usual + 4e-9 * more**2 * (n_features + 5) * n_outputs
