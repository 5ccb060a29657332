r"""Nearest neighbours after a flip, from all squared distances of a base set: for few samples.

.. math:: D^2_{F \cup \{f\}} = D^2_F + \Delta_f, \quad D^2_{F \setminus \{f\}} = D^2_F - \Delta_f,
          \qquad \Delta_f(x, z) = (x_f - z_f)^2

Adding a feature only adds to distances, so that the relative rounding error stays small; after a
feature has been removed, the distances of the base are recomputed.
"""

import numpy as np

from metafs.data.typing import Array
from metafs_margin.nearest import Groups

CANCELLED = 1e-5
"""A squared distance this much smaller than what was subtracted from it is computed again."""


class AllPairs:
    """The squared distances of all samples, in the order of places.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_samples)
        The table.
    groups : Groups
        Its classes.
    """

    def __init__(self, columns: Array, groups: Groups) -> None:
        self.columns, self.groups = columns, groups
        own = np.equal.outer(groups.first, groups.first)
        self._no_miss = np.where(own, np.inf, 0.0)
        self._no_hit = np.where(own, 0.0, np.inf)
        np.fill_diagonal(self._no_hit, np.inf)
        self._squared = np.zeros_like(self._no_hit)

    def move(self, base: Array, joined: Array, left: Array) -> None:
        """Make another set the base."""
        if len(left) or len(joined) == len(base):
            self._squared = self._sum(base)
        else:
            self._squared += self._sum(joined)

    def nearest(self, joins: Array, leaves: Array) -> tuple[Array, Array]:
        """Return squared distances to nearest hits and misses, and where they can be trusted."""
        squared = self._squared + self._sum(joins) if len(joins) else self._squared
        gone = np.zeros(len(squared))
        if len(leaves):
            change = self._sum(leaves)
            squared = squared - change
            gone = change.max(axis=1)
        hit, miss = ((squared + others).min(axis=1) for others in (self._no_hit, self._no_miss))
        sure: Array = np.minimum(hit, miss) >= CANCELLED * gone
        return np.stack([hit, miss]), sure

    def _sum(self, features: Array) -> Array:
        """Return the squared distances in some features alone."""
        total = np.zeros_like(self._no_hit)
        for x in self.columns[features]:
            total += np.subtract.outer(x, x) ** 2
        return total
