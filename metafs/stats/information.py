r"""Mutual information of sets of coded features with a target, in bits, from counts.

.. math:: MI(S; Y) = \frac{1}{N} \Big( \varphi(N) - \sum_y \varphi(n_y)
          + \sum_{g,y} \varphi(n_{gy}) - \sum_g \varphi(n_g) \Big), \qquad
          \varphi(n) = n \log_2 n

where g runs over the groups of rows that agree on every feature of S. A feature that joins S
splits groups only where it differs from its most frequent value, so all neighbours of a set
together cost no more than a pass over the codes stored in the features they add.

:math:`\varphi` is tabled in fixed point. Sums of integers do not depend on their order, so
two sets that part the rows alike have exactly the same information, however it was counted.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csc_array

from metafs.data.typing import Array
from metafs.stats.partition_counts import by_stored_codes, by_table, by_whole_rows

_CHUNK = 1_000_000  # stored codes and grouped rows worked on at once


def phi_table(n: int) -> tuple[Array, float]:
    """Return n log2 n for 0, 1, ..., n as int64, and the number of units in one bit."""
    counts = np.arange(n + 1, dtype=np.float64)
    phi = counts * np.log2(np.maximum(counts, 1))
    scale = 2.0 ** (62 - np.frexp(phi[-1])[1])
    return np.rint(phi * scale).astype(np.int64), float(scale)


def entropy(counts: Array) -> float:
    """Return the entropy, in bits, of the distribution with these counts.

    Examples
    --------
    >>> entropy(np.array([2, 2]))
    1.0
    """
    counts = np.asarray(counts, dtype=np.float64).ravel()
    total = counts.sum()
    p = counts[counts > 0] / total if total else counts
    return float(-(p * np.log2(p)).sum()) + 0.0


def group_rows(codes: csc_array, features: Array, left_out: Array) -> tuple[Array, int]:
    """Group the rows once for each row of ``left_out``, which names the features to leave out.

    Returns the groups, (len(left_out), n_samples), and the largest number of them.
    """
    n_samples = codes.shape[0]
    groups = np.zeros((len(left_out), n_samples), dtype=np.int64)
    width = 1
    for feature, gone in zip(features.tolist(), left_out.T, strict=True):
        stored = slice(codes.indptr[feature], codes.indptr[feature + 1])
        column = np.zeros(n_samples, dtype=np.int64)
        column[codes.indices[stored]] = codes.data[stored]
        n_values = int(column.max(initial=0)) + 1
        if width * n_values > 4 * n_samples:
            groups, width = _numbered_densely(groups, width)
        if gone.any():
            groups[~gone] = groups[~gone] * n_values + column
        else:
            groups *= n_values
            groups += column
        width *= n_values
    return _numbered_densely(groups, width)


def _numbered_densely(groups: Array, width: int) -> tuple[Array, int]:
    """Renumber each row of groups 0, 1, ... without gaps, keeping their order."""
    flat = groups + np.arange(len(groups))[:, None] * width
    seen = np.zeros((len(groups), width), dtype=bool)
    seen.ravel()[flat] = True
    numbers = np.cumsum(seen, axis=1)
    return numbers.ravel()[flat] - 1, int(numbers[:, -1].max(initial=0))


class SetInformation:
    """Mutual information with a target, of many neighbours of one set at a time.

    Parameters
    ----------
    codes : csc_array of shape (n_samples, n_features)
        Small non-negative integers; the most frequent value of a column is 0, not stored.
    y : array of shape (n_samples,)
        Classes of the target, as any labels.

    Examples
    --------
    >>> codes = csc_array(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]))
    >>> xor = SetInformation(codes, np.array([0, 1, 1, 0]))
    >>> xor.of_sets([0], np.array([[0], [1]]))
    array([0., 1.])
    """

    def __init__(self, codes: csc_array, y: Array) -> None:
        self.codes = codes
        self.n_samples, self.n_features = codes.shape
        classes, self._y = np.unique(y, return_inverse=True)
        self._n_classes = max(len(classes), 1)
        self._n_values = int(codes.data.max(initial=0)) + 1
        self._phi, self._scale = phi_table(self.n_samples)
        self._of_y = self._phi[-1] - self._phi[np.bincount(self._y)].sum()

    def of_each(self) -> Array:
        """Return the mutual information of every single feature."""
        return self.of_sets([], np.arange(self.n_features)[:, None])

    def of_set(self, features: Sequence[int] | Array) -> float:
        """Return the mutual information of one set of features."""
        return float(self.of_sets(features, np.zeros((1, 0), dtype=np.int64))[0])

    def of_sets(self, base: Sequence[int] | Array, edits: Array) -> Array:
        """Return the mutual information of ``base`` after each row of edits.

        A row of edits names the features that leave ``base`` if they are in it, and join it
        if they are not.
        """
        base = np.unique(np.asarray(base, dtype=np.int64))
        edits = np.asarray(edits, dtype=np.int64)
        if not len(edits):
            return np.zeros(0)
        width = max(self._n_values, len(base) + 1) ** edits.shape[1]
        if width * max(self.n_samples, 1) * self._n_classes * len(edits) >= 2**62:
            return np.array([self.of_set(np.setxor1d(base, edit)) for edit in edits])

        place = np.zeros(self.n_features, dtype=np.int64)
        place[base] = np.arange(1, len(base) + 1)
        leaving = np.sort(place[edits], axis=1)
        kinds, kind = _distinct_rows(leaving, len(base) + 1)
        left_out = np.zeros((len(kinds), len(base) + 1), dtype=bool)
        left_out[np.arange(len(kinds))[:, None], leaving[kinds]] = True

        joins = place[edits] == 0
        order = np.argsort(kind, kind="stable")
        cost = (np.diff(self.codes.indptr)[edits] * joins).sum(axis=1)[order]
        cost[np.flatnonzero(np.diff(kind[order], prepend=-1))] += self.n_samples * self._n_classes
        chunk = np.cumsum(cost) // _CHUNK
        units = np.zeros(len(edits), dtype=np.int64)
        for members in np.split(order, np.flatnonzero(np.diff(chunk)) + 1):
            here, local = np.unique(kind[members], return_inverse=True)
            rows = group_rows(self.codes, base, left_out[here, 1:])
            units[members] = self._split(*rows, local, edits[members], joins[members])
        bits: Array = (self._of_y + units) / (max(self.n_samples, 1) * self._scale)
        return np.maximum(bits, 0.0)

    def _split(
        self, groups: Array, n_groups: int, kind: Array, edits: Array, joins: Array
    ) -> Array:
        """Return the sum of phi(n_gy) - phi(n_g), in units, after each row of edits joined.

        ``groups[kind[i]]`` are the groups that row i of edits splits further.
        """
        n_kinds, n_sets, n_cells = len(groups), len(edits), n_groups * self._n_classes
        n_added = int(joins.sum(axis=1).max(initial=0))
        n_patterns = self._n_values**n_added - 1
        n_stored = int((np.diff(self.codes.indptr)[edits] * joins).sum())
        small = n_sets * n_patterns * n_cells <= 4 * n_stored
        if 4 * n_stored > n_sets * self.n_samples and (n_added > 1 or not small):
            key = self._whole_rows(groups[kind], n_groups, edits, joins)
            return by_whole_rows(self._phi, key, self._n_classes)

        cells = groups * self._n_classes + self._y
        flat = cells + np.arange(n_kinds)[:, None] * n_cells
        n_gy = np.bincount(flat.ravel(), minlength=n_kinds * n_cells)
        n_gy = n_gy.reshape(n_kinds, n_groups, self._n_classes)
        of_set, row, pattern = self._added_codes(edits, joins, n_added)
        cell = cells[0][row] if n_kinds == 1 else cells[kind[of_set], row]
        key = of_set * (n_patterns * n_cells)
        key += cell
        if n_patterns > 1:
            key += (pattern - 1) * n_cells
        if small:
            return by_table(self._phi, n_gy[kind], key, n_patterns)
        return by_stored_codes(self._phi, n_gy, kind, key, n_patterns)

    def _whole_rows(self, groups: Array, n_groups: int, edits: Array, joins: Array) -> Array:
        """Return one number for group, joining codes and class of every set and row."""
        width = n_groups * self._n_values ** edits.shape[1] * self._n_classes
        key: Array = groups.astype(np.int32 if width < 2**31 else np.int64)
        used, number = np.unique(edits, return_inverse=True)
        columns = self.codes[:, used].toarray(order="F").T
        number = number.reshape(edits.shape)
        for slot in range(edits.shape[1]):
            joining = joins[:, slot]
            key[joining] *= self._n_values
            key[joining] += columns[number[joining, slot]]
        key *= self._n_classes
        key += self._y.astype(key.dtype)
        return key

    def _added_codes(self, edits: Array, joins: Array, n_added: int) -> tuple[Array, Array, Array]:
        """Return set, row and pattern of codes wherever a joining feature is not 0."""
        n_values = self._n_values
        of_feature, feature = np.nonzero(joins)[0], edits[joins]
        heads = self.codes.indptr[feature]
        lengths = self.codes.indptr[feature + 1] - heads
        ends = np.cumsum(lengths, dtype=np.int64)
        pick = np.arange(ends[-1] if len(ends) else 0)
        pick += np.repeat(heads - (ends - lengths), lengths)
        of_set, row = np.repeat(of_feature, lengths), self.codes.indices[pick]
        n_patterns = n_values**n_added - 1
        if n_added <= 1 or not len(pick):
            pattern = self.codes.data[pick].astype(np.int64) if n_patterns > 1 else pick
            return of_set, row, pattern
        power = n_values ** (np.cumsum(joins, axis=1) - 1)[joins]
        key = of_set * self.n_samples + row
        key *= n_patterns + 1
        key += self.codes.data[pick] * np.repeat(power, lengths)
        key.sort()
        whose = key // (n_patterns + 1)
        key -= whose * (n_patterns + 1)
        heads = np.flatnonzero(np.diff(whose, prepend=-1))
        of_set, row = np.divmod(whose[heads], self.n_samples)
        return of_set, row, np.add.reduceat(key, heads)


def _distinct_rows(rows: Array, width: int) -> tuple[Array, Array]:
    """Return one index for each distinct row of numbers below width, and each row's number."""
    key = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        key = key * width + column
    _, index, inverse = np.unique(key, return_index=True, return_inverse=True)
    return index, inverse
