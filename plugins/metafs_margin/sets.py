r"""e(F) of many sets that differ little: certified lists of near neighbours.

Each sample keeps its K nearest hits and its K nearest misses under the squared distances
:math:`D^2_F` of a base set F, and a bound t below which no row outside the list lies. To flip
features costs one look at the lists: a feature that joins lengthens every distance, one that
leaves shortens it by at most the square of the largest difference r to any row,

.. math:: \min_{z \in list} D^2_{F'}(x, z) \le t - \sum_{leave} r^2
          \;\Rightarrow\; \text{the nearest of all rows is in the list.}

Only samples of which this does not hold are compared with every row again. The lists stay
valid when the base moves, with the same bound, and are renewed sample by sample, when one of
them could not be decided.
"""

from collections.abc import Sequence

import numpy as np

from metafs.typing import Array
from metafs_margin.nearest import TIE, Groups, Screen
from metafs_margin.theta import margins_of_columns, nearest_distances, nearest_on_lines, theta
from metafs_margin.utility import Utility

LENGTH = 24
"""How many hits and how many misses are kept for each sample."""

CANCELLED = 1e-5
"""A squared distance this much smaller than what was subtracted from it is computed again."""


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
        self._forget(np.zeros(0, dtype=np.int64))

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
        self._move(np.unique(np.asarray(base, dtype=np.int64)))
        found = [self.utility.total(theta(*self._edited(edit))) for edit in edits]
        return np.array(found, dtype=np.float64)

    def _afresh(self, features: Array, places: Array | None = None) -> Array:
        """Return the distances of places to their nearest hit and miss, without any list."""
        if len(features) > 1:
            X = np.ascontiguousarray(self.columns[features].T)
            return np.stack(nearest_distances(self.groups, X, None, places))
        lines = self.columns[features] if len(features) else np.zeros((1, len(self.y)))
        found = np.concatenate(nearest_on_lines(lines, self.y))
        return found if places is None else found[:, places]

    def _edited(self, edit: Array) -> Array:
        """Return the distances to the nearest hit and miss after features joined or left."""
        features = np.setxor1d(self._base, edit)
        if len(features) < 2 or not len(self._base):
            return self._afresh(features)
        squared, sure = self._from_lists(edit, slice(None))
        stale = np.flatnonzero(~sure & ~self._fresh)
        if len(stale):
            self._renew(stale)
            squared[:, stale], sure[stale] = self._from_lists(edit, stale)
        found = np.sqrt(np.maximum(squared, 0.0))
        unsure = np.flatnonzero(~sure)
        if len(unsure):
            found[:, unsure] = self._afresh(features, unsure)
        return found

    def _from_lists(self, edit: Array, places: slice | Array) -> tuple[Array, Array]:
        """Return the least squared distances inside the lists, and where they are least of all.

        Where hardly anything is left of a distance after a feature went, nothing is certain.
        """
        near, squared = self._near[..., places], self._squared[..., places].copy()
        shorter = np.zeros_like(self._bound[0, places])
        for feature in edit:
            x = self.columns[feature]
            change = self._differences(x, near, places)
            if feature in self._base:
                squared -= change
                shorter += self._reach(x)[places]
            else:
                squared += change
        least = squared.min(axis=1)
        sure = least * (1.0 - TIE) <= self._bound[:, places] - shorter
        return least, (sure & (least >= CANCELLED * shorter)).all(axis=0)

    def _differences(self, x: Array, near: Array, places: slice | Array) -> Array:
        """Return the squared differences in one feature between places and their lists."""
        change = x.take(near)
        change -= x[places]
        change *= change
        return change

    def _reach(self, x: Array) -> Array:
        """Return the square of the largest difference in one feature to any row."""
        return np.asarray(np.maximum(x - x.min(), x.max() - x) ** 2)

    def _forget(self, base: Array) -> None:
        """Begin with another base, and with empty lists that decide nothing."""
        n = len(self.y)
        self._base: Array = base
        self._near: Array = np.tile(np.arange(n, dtype=np.int32), (2, LENGTH, 1))
        self._squared: Array = np.full((2, LENGTH, n), np.inf)
        self._bound: Array = np.full((2, n), -np.inf)
        self._fresh: Array = np.zeros(n, dtype=bool)

    def _move(self, base: Array) -> None:
        """Make another set the base, and keep of the lists what remains true."""
        joined, left = np.setdiff1d(base, self._base), np.setdiff1d(self._base, base)
        if not len(joined) + len(left):
            return
        if not len(base) or not len(self._base) or len(joined) + len(left) > len(base):
            self._forget(base)
            return
        self._base = base
        self._fresh[:] = False
        self._measure(slice(None))
        for feature in left:
            self._bound -= (1.0 + TIE) * self._reach(self.columns[feature])

    def _renew(self, places: Array) -> None:
        """List the nearest of some places again, under the base as it is."""
        self._fresh[places] = True
        screen = Screen(np.ascontiguousarray(self.columns[self._base].T))
        for part, low, (begin, end) in screen.blocks(self.groups, places):
            asked = places[part]
            beyond = (1.0 - screen.gamma) * screen.norms[asked]
            self._list(0, asked, low[:, begin:end], end - begin - 1, begin, beyond)
            low[:, begin:end] = np.inf
            self._list(1, asked, low, len(self.y) - (end - begin), 0, beyond)
        self._measure(places)

    def _list(
        self, side: int, places: Array, low: Array, n_others: int, begin: int, beyond: Array
    ) -> None:
        """List the nearest hits (side 0) or misses (side 1), and what bounds all others."""
        self._near[side, :, places] = places[:, None]
        self._bound[side, places] = np.inf
        kept = min(n_others, LENGTH)
        if kept:
            order = np.argpartition(low, min(kept, low.shape[1] - 1), axis=1)
            self._near[side, :kept, places] = order[:, :kept] + begin
            if n_others > kept:
                outside = np.take_along_axis(low, order[:, [kept]], axis=1)[:, 0]
                self._bound[side, places] = outside + beyond

    def _measure(self, places: slice | Array) -> None:
        """Compute the squared distances of places to their lists; nobody is near itself."""
        near = self._near[..., places]
        squared = np.where(near == np.arange(len(self.y))[places], np.inf, 0.0)
        for feature in self._base:
            squared += self._differences(self.columns[feature], near, places)
        self._squared[..., places] = squared
