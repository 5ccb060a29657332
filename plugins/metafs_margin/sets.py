"""e(F) of many similar sets, each a few flips away from a base set.

The data of the base are reused: all squared distances for few samples (`metafs_margin.all_pairs`),
certified lists of near neighbours for many (`metafs_margin.lists`). Samples that these cannot
decide are compared with every row again.
"""

from collections.abc import Sequence

import numpy as np

from metafs.data.typing import Array
from metafs_margin.all_pairs import AllPairs
from metafs_margin.lists import NeighbourLists
from metafs_margin.nearest import Groups
from metafs_margin.theta import margins_of_columns, nearest_distances, nearest_on_lines, theta
from metafs_margin.utility import Utility

FEW = 256
"""Up to so many samples all their distances are kept."""


class SetMargins:
    """The evaluation function e on one problem: many sets, each near the one before.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The table.
    y : ndarray of shape (n_samples,)
        Classes 0, 1, ...
    utility : Utility
        What a margin is worth.
    """

    def __init__(self, X: Array, y: Array, utility: Utility) -> None:
        self.utility = utility
        self.groups = Groups(y)
        self.y = y[self.groups.rows]
        self.columns = np.ascontiguousarray(X[self.groups.rows].T)
        self._base = np.zeros(len(self.columns), dtype=bool)
        of_base = AllPairs if len(y) <= FEW else NeighbourLists
        self._of_base = of_base(self.columns, self.groups)

    def of_each(self) -> Array:
        """Return e of every single feature."""
        blocks = margins_of_columns(self.columns.T, self.y)
        return np.concatenate([self.utility.total(block) for block in blocks])

    def of_set(self, features: Sequence[int] | Array) -> float:
        """Return e of one set of features."""
        features = np.unique(np.asarray(features, dtype=np.int64))
        return float(self.utility.total(theta(*self._afresh(features))))

    def of_sets(self, base: Sequence[int] | Array, edits: Array) -> Array:
        """Return e of ``base`` after each row of edits, features that join or leave."""
        self._move(np.asarray(base, dtype=np.int64))
        found = [self.utility.total(theta(*self._edited(edit))) for edit in edits]
        return np.array(found, dtype=np.float64)

    def _move(self, base: Array) -> None:
        """Make another set the base."""
        now = np.zeros_like(self._base)
        now[base] = True
        if (now == self._base).all():
            return
        joined, left = np.flatnonzero(now & ~self._base), np.flatnonzero(self._base & ~now)
        self._base = now
        self._of_base.move(np.flatnonzero(now), joined, left)

    def _afresh(self, features: Array, places: Array | None = None) -> Array:
        """Return the distances of places to their nearest hit and miss, from the table itself."""
        if len(features) > 1:
            X = np.ascontiguousarray(self.columns[features].T)
            return np.stack(nearest_distances(self.groups, X, None, places))
        lines = self.columns[features] if len(features) else np.zeros((1, len(self.y)))
        found = np.concatenate(nearest_on_lines(lines, self.y))
        return found if places is None else found[:, places]

    def _edited(self, edit: Array) -> Array:
        """Return the distances to the nearest hit and miss after features joined or left."""
        leave = self._base[edit]
        size = np.count_nonzero(self._base) + len(edit) - 2 * np.count_nonzero(leave)
        if size < 2 or size == len(edit):
            return self._afresh(self._flipped(edit))
        squared, sure = self._of_base.nearest(edit[~leave], edit[leave])
        found = np.sqrt(np.maximum(squared, 0.0))
        unsure = np.flatnonzero(~sure)
        if len(unsure):
            found[:, unsure] = self._afresh(self._flipped(edit), unsure)
        return found

    def _flipped(self, edit: Array) -> Array:
        """Return the features of the base after a flip."""
        after = self._base.copy()
        after[edit] = ~after[edit]
        return np.flatnonzero(after)
