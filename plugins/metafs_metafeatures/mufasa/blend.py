r"""Blends: after a walk, sets that are drawn at several good points at once.

Features of one point are alike, so that many of them repeat what a few say. "Redundancy can also
be tackled by using a distribution over meta-features instead of a single point", says section 8 of
the paper. The distribution of a blend is even over the m best points of the walk,

.. math:: p(v) = \frac1m \sum_{i=1}^m p(v \mid u_i), \qquad
          \max_r \frac{|u_{ir} - u_{jr}|}{\mathrm{range}_r} \ge 0.3 \quad (i \ne j)

where a point is as good as its sets were on average, and points nearer than that to a better one
are skipped. The best m depends on the budget, so that blends cycle through m = 2 ... 6.

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", Journal of
Machine Learning Research 9, 2008.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from metafs.data.typing import Array

APART = 0.3
"""In one meta-feature at least, the points of a blend differ by this share of the range."""

SIZES = (2, 3, 4, 5, 6)
"""The numbers of points of a blend, used cyclically."""


def best_apart(tried: Iterable[tuple[Any, float]], n_points: int, ranges: Array) -> Array:
    """Return the best points, of shape (m, k), that are apart; fewer if there are no more.

    Parameters
    ----------
    tried : iterable of (point, quality)
        Sets that were tried; a point may come up again, and a quality be minus infinity.
    n_points : int
        How many points to return.
    ranges : ndarray of shape (k,)
        The largest less the least value of each meta-feature.

    Examples
    --------
    >>> tried = [([0.0], 0.9), ([1.0], 0.8), ([8.0], 0.7), ([4.0], 0.2), ([4.0], 0.9)]
    >>> best_apart(tried, 2, np.array([10.0])).tolist()
    [[0.0], [8.0]]
    """
    qualities = defaultdict(list)
    for u, q in tried:
        qualities[tuple(u)].append(q)
    means = {u: float(np.mean(q)) for u, q in qualities.items()}
    taken: list[Array] = []
    # A meta-feature without range keeps no points apart.
    unit = np.where(ranges > 0, ranges, np.inf)
    for point in sorted((u for u in means if np.isfinite(means[u])), key=lambda u: -means[u]):
        u = np.array(point)
        if all((np.abs(u - other) / unit).max(initial=0.0) >= APART for other in taken):
            taken.append(u)
        if len(taken) == n_points:
            break
    return np.array(taken)
