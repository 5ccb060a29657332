r"""Cells: rows with equal values of a set of features, and an upper bound on accuracy from them.

Rows with equal values of the features in S form a cell, and get one and the same prediction. If
:math:`n_{vfc}` rows of class c in the test rows of fold f lie in cell v, no classifier is right
on more of them than

.. math:: \sum_v \max_c n_{vfc}

This bounds the accuracy in each fold before anything is fitted. Cells are found by adding up,
for each row, 64-bit keys of its values; that two different rows share a sum by chance has, with n
rows, a probability of about :math:`n^2 / 2^{65}`.
"""

from dataclasses import dataclass

import numpy as np

from metafs.data.typing import Array
from metafs_climb.content_folds import mixed, value_bits


def column_keys(values: Array, column: int) -> Array:
    """Return a key for each value of a column; a zero's is 0, so that sparse columns are cheap."""
    keys = mixed(value_bits(values) + mixed(np.array([column + 1], dtype=np.uint64)))
    keys[values == 0] = 0
    return keys


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one set of features.

    Attributes
    ----------
    rows : array of shape (n_cells,)
        One row of each cell.
    counts : array of shape (n_cells, n_folds, n_classes)
        The rows of each class in each cell, by the fold in which they are tested.
    """

    rows: Array
    counts: Array


def cells_of(keys: Array, fold_and_class: Array, n_folds: int, n_classes: int) -> Cells:
    """Return the cells of rows with these keys; ``fold_and_class`` is fold * n_classes + class.

    Examples
    --------
    >>> keys = np.array([5, 5, 8, 5], dtype=np.uint64)
    >>> cells_of(keys, np.array([0, 1, 2, 1]), n_folds=2, n_classes=2).counts.tolist()
    [[[1, 2], [0, 0]], [[0, 0], [1, 0]]]
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    cell = np.zeros(len(keys), dtype=np.int64)
    cell[first[1:]] = 1
    place = np.cumsum(cell) * (n_folds * n_classes) + fold_and_class[order]
    counts = np.bincount(place, minlength=len(first) * n_folds * n_classes)
    return Cells(order[first], counts.reshape(len(first), n_folds, n_classes))


def best_right(counts: Array, worth: Array) -> Array:
    """Return the best score that any classifier can reach in each fold.

    ``worth`` of shape (n_folds, n_classes) is the weight of one correct row.
    """
    found: Array = (counts * worth).max(axis=2).sum(axis=0)
    return found
