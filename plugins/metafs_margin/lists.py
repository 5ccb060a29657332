r"""Nearest neighbours after a flip, from certified lists: for many samples.

Each sample keeps its K nearest hits and its K nearest misses under the squared distances
:math:`D^2_F` of a base set F, and a bound t below which no row outside the list lies. Flipping
features only needs the lists: an added feature lengthens every distance, a removed one shortens it
by at most the square of the largest difference r to any row,

.. math:: \min_{z \in list} D^2_{F'}(x, z) \le t - \sum_{leave} r^2
          \;\Rightarrow\; \text{the nearest of all rows is in the list.}

Only samples for which this does not hold are undecided. The lists stay valid when the base changes,
with the same bound, and are recomputed for each sample that could not be decided.
"""

import numpy as np

from metafs.data.typing import Array
from metafs_margin.all_pairs import CANCELLED
from metafs_margin.nearest import TIE, Groups, Screen

LENGTH = 24
"""How many hits and how many misses are kept for each sample."""


class NeighbourLists:
    """Lists of near neighbours, in the order of places.

    Parameters
    ----------
    columns : ndarray of shape (n_features, n_samples)
        The table.
    groups : Groups
        Its classes.
    """

    def __init__(self, columns: Array, groups: Groups) -> None:
        self.columns, self.groups = columns, groups
        self._forget()

    def move(self, base: Array, joined: Array, left: Array) -> None:
        """Make another set the base, and keep of the lists what remains true."""
        self._base = base
        if len(joined) + len(left) > len(base) or len(joined) == len(base):
            self._forget()
            return
        self._fresh[:] = False
        self._measure(slice(None))
        for feature in left:
            self._bound -= (1.0 + TIE) * self._reach(self.columns[feature])

    def nearest(self, joins: Array, leaves: Array) -> tuple[Array, Array]:
        """Return squared distances to nearest hits and misses, and where they can be trusted."""
        squared, sure = self._from_lists(joins, leaves, slice(None))
        stale = np.flatnonzero(~sure & ~self._fresh)
        if len(stale):
            self._renew(stale)
            squared[:, stale], sure[stale] = self._from_lists(joins, leaves, stale)
        return squared, sure

    def _from_lists(
        self, joins: Array, leaves: Array, places: slice | Array
    ) -> tuple[Array, Array]:
        """Return the least squared distances inside the lists, and where they are least of all.

        A distance that nearly vanishes when a feature is removed is uncertain.
        """
        near, squared = self._near[..., places], self._squared[..., places].copy()
        shorter = np.zeros_like(self._bound[0, places])
        for x in self.columns[joins]:
            squared += self._differences(x, near, places)
        for x in self.columns[leaves]:
            squared -= self._differences(x, near, places)
            shorter += self._reach(x)[places]
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

    def _forget(self) -> None:
        """Begin with empty lists, which decide nothing."""
        n = len(self.groups)
        self._near: Array = np.tile(np.arange(n, dtype=np.int32), (2, LENGTH, 1))
        self._squared: Array = np.full((2, LENGTH, n), np.inf)
        self._bound: Array = np.full((2, n), -np.inf)
        self._fresh: Array = np.zeros(n, dtype=bool)

    def _renew(self, places: Array) -> None:
        """List the nearest of some places again, under the base as it is."""
        self._fresh[places] = True
        screen = Screen(np.ascontiguousarray(self.columns[self._base].T))
        for part, low, (begin, end) in screen.blocks(self.groups, places):
            asked = places[part]
            beyond = (1.0 - screen.gamma) * screen.norms[asked]
            self._list(0, asked, low[:, begin:end], end - begin - 1, begin, beyond)
            low[:, begin:end] = np.inf
            self._list(1, asked, low, len(self.groups) - (end - begin), 0, beyond)
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
        squared = np.where(near == np.arange(len(self.groups))[places], np.inf, 0.0)
        for feature in self._base:
            squared += self._differences(self.columns[feature], near, places)
        self._squared[..., places] = squared
