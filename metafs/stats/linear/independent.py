"""Losses of rows that have weights, or are not independent of each other."""

import numpy as np

from metafs.data.typing import Array


def independent_losses(
    losses: Array, sample_weight: Array | None = None, groups: Array | None = None
) -> Array:
    """Return losses of shape (..., n) whose mean over n is the weighted mean over all rows.

    There is one for each group, because its rows tell about the same thing; without groups, one
    for each row.

    Examples
    --------
    >>> independent_losses(np.array([[1.0, 3.0, 5.0]]), groups=np.array([0, 0, 7]))
    array([[2.66666667, 3.33333333]])
    """
    weight = np.ones(losses.shape[-1]) if sample_weight is None else sample_weight
    weighted = losses * (weight / weight.mean())
    if groups is None:
        return np.asarray(weighted)
    order = np.argsort(groups, kind="stable")
    starts = np.unique(groups[order], return_index=True)[1]
    sums = np.add.reduceat(weighted[..., order], starts, axis=-1)
    return np.asarray(sums * len(starts) / len(groups))


def labels_of_each(codes: Array | None, n_rows: int, groups: Array | None) -> float:
    """Return how many independent labels the rarest class has, or how many there are of numbers.

    Examples
    --------
    >>> labels_of_each(np.array([0, 0, 0, 1, 1]), 5, None)
    2.0
    >>> labels_of_each(np.array([0, 0, 0, 1, 1]), 5, np.array([0, 0, 1, 2, 2]))
    1.0
    """
    if codes is None:
        return float(n_rows if groups is None else len(np.unique(groups)))
    if groups is None:
        return float(np.bincount(codes).min())
    return float(min(len(np.unique(groups[codes == code])) for code in np.unique(codes)))
