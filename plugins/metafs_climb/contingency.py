"""Sets of features valued by their tables of groups and classes, one set after the other.

`metafs.stats.information` counts many sets together, which is enough where information and the
number of features decide. What needs every count of a table is here.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy.sparse import csc_array

from metafs.data.typing import Array
from metafs.stats.information import group_rows


class Contingency:
    """The tables of the sets of one problem.

    Parameters
    ----------
    codes : csc_array of shape (n_samples, n_features)
        Small non-negative integers.
    y : array of shape (n_samples,)
        Classes of the target, as any labels.

    Examples
    --------
    >>> codes = csc_array(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    >>> tables = Contingency(codes, np.array(["a", "a", "b", "b"]))
    >>> [table.tolist() for table in tables.of_sets([0], np.array([[0], [1]]))]
    [[[2, 2]], [[1, 0], [1, 0], [0, 1], [0, 1]]]
    """

    def __init__(self, codes: csc_array, y: Array) -> None:
        self.codes = codes
        self.n_samples, self.n_features = codes.shape
        classes, self._y = np.unique(y, return_inverse=True)
        self._n_classes = len(classes)
        self._n_values = int(codes.data.max(initial=0)) + 1

    @property
    def of_class(self) -> Array:
        """The number of rows of each class."""
        return np.bincount(self._y, minlength=self._n_classes)

    def of_sets(self, base: Sequence[int] | Array, edits: Array) -> Iterator[Array]:
        """Yield the table of ``base`` after each row of edits, features that join or leave.

        A table is (n_groups, n_classes), without empty groups.
        """
        base = np.unique(np.asarray(base, dtype=np.int64))
        stays = self._groups(base)
        for edit in np.asarray(edits, dtype=np.int64):
            left = np.isin(edit, base)
            groups, n = stays if not left.any() else self._groups(np.setdiff1d(base, edit))
            for feature in edit[~left].tolist():
                groups, n = self._split(groups, n, feature)
            n_cells = n * self._n_classes
            table = np.bincount(groups * self._n_classes + self._y, minlength=n_cells)
            table = table.reshape(n, self._n_classes)
            yield table[table.any(axis=1)]

    def _groups(self, features: Array) -> tuple[Array, int]:
        nothing = np.zeros((1, len(features)), dtype=bool)
        groups, n = group_rows(self.codes, features, nothing)
        return groups[0], n

    def _split(self, groups: Array, n: int, feature: int) -> tuple[Array, int]:
        """Return the groups after a feature has split them."""
        if n * self._n_values > 4 * self.n_samples:
            _, groups = np.unique(groups, return_inverse=True)
            n = int(groups.max(initial=-1)) + 1
        stored = slice(self.codes.indptr[feature], self.codes.indptr[feature + 1])
        groups = groups * self._n_values
        groups[self.codes.indices[stored]] += self.codes.data[stored]
        return groups, n * self._n_values


class TableEvaluator:
    """A measure of sets on one problem: the value of a set is that of its table.

    Parameters
    ----------
    tables : Contingency
        The tables.
    value : callable
        ``value(table, n_features)``.
    """

    def __init__(self, tables: Contingency, value: Callable[[Array, int], float]) -> None:
        self.tables = tables
        self.value = value

    def of_sets(self, base: Sequence[int] | Array, edits: Array) -> Array:
        """Return the fitness of ``base`` after each row of edits."""
        base = np.unique(np.asarray(base, dtype=np.int64))
        sizes = len(base) + np.where(np.isin(edits, base), -1, 1).sum(axis=1)
        both = zip(self.tables.of_sets(base, edits), sizes.tolist(), strict=True)
        return np.array([self.value(table, size) for table, size in both])

    def of_each(self) -> Array:
        """Return the fitness of every single feature."""
        return self.of_sets([], np.arange(self.tables.n_features)[:, None])

    def of_set(self, features: Sequence[int] | Array) -> float:
        """Return the fitness of one set of features."""
        return float(self.of_sets(features, np.zeros((1, 0), dtype=np.int64))[0])
