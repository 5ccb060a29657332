r"""Sample weights: a sample whose margins resemble those of many others has more weight.

In the margin vector of a sample each feature is replaced by how much farther the sample is, in
that feature, from all samples of other classes M than from those of its own class H:

.. math:: x'_j = \sum_{z \in M} |x_j - z_j| - \sum_{z \in H} |x_j - z_j|

and its weight is the inverse of the mean Euclidean distance to the other margin vectors:

.. math:: w(x) \propto 1 \Big/ \frac{1}{m - 1} \sum_{p \neq x} \lVert x' - p' \rVert

Features are brought to unit range first, so that no unit of measurement dominates; a constant
feature becomes 0. The weights have mean one.

L. Yu, Y. Han, M. E. Berens, "Stable gene selection from microarray data via sample weighting",
IEEE/ACM Transactions on Computational Biology and Bioinformatics 9(1), 2012.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import pairwise_distances_chunked

from metafs.data.typing import Array

_MEGABYTES = 64  # of distances at once, never all pairs
_NOISE = 1e-10  # of the largest distance possible: what rounding may leave of none


def unit_range(X: Array) -> Array:
    """Return X with the known values of every column between 0 and 1; a constant becomes 0.

    Examples
    --------
    >>> unit_range(np.array([[1.0, 7.0], [3.0, 7.0], [np.nan, 7.0], [2.0, 7.0]])).T
    array([[0. , 1. , nan, 0.5],
           [0. , 0. , 0. , 0. ]])
    """
    # Halves, because the range of finite values need not be finite.
    low, high = np.fmin.reduce(X) / 2, np.fmax.reduce(X) / 2
    scaled = X / 2
    scaled -= low
    scaled /= np.where(high > low, high - low, 1.0)
    return scaled


def summed_differences(X: Array, categorical: Sequence[int] = ()) -> Array:
    """Return, for each value of X, the sum of its absolute differences to its whole column.

    Categories differ by 0 or 1. A missing value takes no part; its own sum is 0.

    Examples
    --------
    >>> summed_differences(np.array([[0.0], [5.0], [1.0], [np.nan]])).T
    array([[6., 9., 5., 0.]])
    """
    order = np.argsort(X, axis=0)
    ascending = np.take_along_axis(X, order, axis=0)
    known = ~np.isnan(ascending)
    ascending[~known] = 0.0
    n_before = np.arange(len(X))[:, None]
    n_from_here = known.sum(axis=0) - n_before
    up_to_here = np.cumsum(ascending, axis=0)
    sums = (n_before - n_from_here) * ascending + up_to_here[-1]
    sums -= 2 * (up_to_here - ascending)
    sums[~known] = 0.0
    of_value: Array = np.empty_like(sums)
    np.put_along_axis(of_value, order, sums, axis=0)
    for j in categorical:
        known = ~np.isnan(X[:, j])
        _, category, count = np.unique(X[known, j], return_inverse=True, return_counts=True)
        of_value[known, j] = known.sum() - count[category]
    return of_value


def margin_vectors(X: Array, y: Array, categorical: Sequence[int] = ()) -> Array:
    """Return x' for every row of X; y holds classes 0, 1, ...

    Examples
    --------
    >>> margin_vectors(np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1])).T
    array([[4., 3., 9.]])
    """
    margins: Array = summed_differences(X, categorical)
    for c in np.unique(y):
        margins[y == c] -= 2 * summed_differences(X[y == c], categorical)
    return margins


def sample_weights(X: Array, y: Array, *, categorical_features: Sequence[int] = ()) -> Array:
    """Return one positive weight per row of X, of mean one; y holds classes 0, 1, ...

    Where all margin vectors are the same every weight is 1. Columns that hold categories differ
    by 0 or 1. A missing value takes no part in the sums, and no margin is known of it: it is 0.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.9], [1.0], [0.9]])
    >>> sample_weights(X, np.array([0, 0, 1, 1, 0])).round(2)
    array([1.27, 1.24, 1.09, 0.93, 0.47])
    """
    margins = margin_vectors(unit_range(X), y, categorical_features)
    margins -= margins.mean(axis=0)
    distance = np.concatenate(
        list(
            pairwise_distances_chunked(
                margins,
                reduce_func=lambda chunk, start: chunk.sum(axis=1),
                working_memory=_MEGABYTES,
            )
        )
    )
    m, n = X.shape
    closeness = 1 / np.maximum(distance, _NOISE * m**2 * np.sqrt(n))
    return np.asarray(closeness / closeness.mean())
