r"""Univariate relevance of features, and their priority in a search.

With :math:`I(s)` the mutual information of a feature with the target, :math:`H(s)` its entropy, and
:math:`P(s)` what memory expects of it,

.. math:: \mathrm{priority}(s) = \frac{I(s) + H(s)}{\max_t (I(t) + H(t))} + \frac{P(s)}{2}

The first features of a set must be informative by themselves. Features that join later must
separate rows that the set does not separate yet, and a feature of higher entropy separates more
rows. Both terms are in bits, so that information hardly matters if no feature has much of it. A
feature that memory has never seen is ranked by its univariate relevance. Relevance that contradicts
memory is a reason not to trust memory (`agree`).
"""

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csc_array
from scipy.special import xlogy

from metafs.data.typing import Array, Matrix
from metafs.stats.discretise import discretise, discretise_target
from metafs.stats.information import SetInformation, entropy

DOMINANT_SHARE = 0.45
"""If one feature explains more than this share of the target's entropy, good sets are small."""
MEMORY_WEIGHT = 0.5
"""The weight of what memory expects, relative to the largest relevance plus entropy."""


def information_of_each(
    X: Matrix,
    y: Array,
    categories: Mapping[int, tuple[str, ...]] | None = None,
    *,
    n_bins: int = 4,
    sample_weight: Array | None = None,
) -> Array:
    """Return the mutual information of each feature with the target, in bits.

    Real-valued features and targets are discretised into `n_bins`; rows, which are then counted by
    their weights, make the bins alike.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> information_of_each(X, np.array([0, 0, 1, 1]))
    array([1., 0.])
    """
    codes = discretise(X, n_bins=n_bins, categories=categories).matrix
    if sample_weight is not None:
        return weighted_information(
            codes, discretise_target(np.asarray(y), n_bins=n_bins), sample_weight
        )
    return _information(codes, y, n_bins)


def weighted_information(codes: csc_array, y: Array, sample_weight: Array) -> Array:
    """Return the mutual information of each column of codes with classes 0, 1, ..., in bits.

    Examples
    --------
    >>> codes, y = csc_array(np.array([[0, 0], [0, 1], [1, 1]])), np.array([0, 0, 1])
    >>> weighted_information(codes, y, np.array([1.0, 1.0, 2.0])).round(3)
    array([1.   , 0.311])
    """
    n_features, n_values = codes.shape[1], int(codes.data.max(initial=0)) + 1
    column = np.repeat(np.arange(n_features), np.diff(codes.indptr))
    of_class = np.bincount(y, sample_weight)
    cell = (column * n_values + codes.data) * len(of_class) + y[codes.indices]
    shape = n_features, n_values, len(of_class)
    joint = np.bincount(cell, sample_weight[codes.indices], int(np.prod(shape))).reshape(shape)
    joint[:, 0] = np.maximum(of_class - joint[:, 1:].sum(axis=1), 0.0)
    joint /= sample_weight.sum()

    def bits(p: Array) -> Array:
        return np.asarray(xlogy(p, p).reshape(len(p), -1).sum(axis=1) / np.log(2))

    found = bits(joint) - bits(joint.sum(axis=2)) - bits(joint.sum(axis=1))
    return np.asarray(np.maximum(found, 0.0))


def relevance_and_entropy(
    X: Matrix, y: Array, categories: Mapping[int, tuple[str, ...]] | None = None, *, n_bins: int = 4
) -> tuple[Array, Array]:
    """Return the mutual information of each feature with the target, and its entropy, in bits.

    The entropy is an upper bound of a feature's information about any target.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> relevance_and_entropy(X, np.array([0, 0, 1, 1]))
    (array([1., 0.]), array([1., 1.]))
    """
    codes = discretise(X, n_bins=n_bins, categories=categories).matrix
    return _information(codes, y, n_bins), _entropies(codes)


def _information(codes: csc_array, y: Array, n_bins: int) -> Array:
    return SetInformation(codes, discretise_target(np.asarray(y), n_bins=n_bins)).of_each()


def _entropies(codes: csc_array) -> Array:
    n_samples, n_features = codes.shape
    n_values = int(codes.data.max(initial=0)) + 1
    column = np.repeat(np.arange(n_features), np.diff(codes.indptr))
    stored = np.bincount(column * n_values + codes.data, minlength=n_features * n_values)
    counts = stored.reshape(n_features, n_values)
    counts[:, 0] = n_samples - counts[:, 1:].sum(axis=1)
    p = counts / n_samples
    return np.asarray(-xlogy(p, p).sum(axis=1) / np.log(2) + 0.0)


def priority(relevance: Array, entropies: Array, expected: Array) -> Array:
    """Return the priority of each feature, from its relevance, entropy and expectation.

    Examples
    --------
    >>> priority(np.array([0.8, 0.2, 0.2]), np.array([1.0, 1.0, 0.5]), np.array([0.0, 0.0, 0.9]))
    array([1.        , 0.66666667, 0.83888889])
    """
    here = relevance + entropies
    best = here.max(initial=0.0)
    return np.asarray((here / best if best > 0 else here) + MEMORY_WEIGHT * expected)


def has_dominant_feature(relevance: Array, y: Array) -> bool:
    """Return whether a single feature explains nearly half of the target's entropy.

    Examples
    --------
    >>> y = np.array([0, 1, 0, 1])
    >>> has_dominant_feature(np.array([0.5, 0.1]), y), has_dominant_feature(np.array([0.2, 0.1]), y)
    (True, False)
    """
    of_y = entropy(np.bincount(discretise_target(np.asarray(y))))
    return bool(relevance.max(initial=0.0) > DOMINANT_SHARE * of_y)


def agree(relevance: Array, expected: Array) -> bool:
    """Return whether expectation and relevance correlate positively, or either is constant.

    Examples
    --------
    >>> agree(np.array([0.9, 0.1, 0.0]), np.array([0.8, 0.0, 0.0]))
    True
    >>> agree(np.array([0.0, 0.1, 0.9]), np.array([0.8, 0.0, 0.0]))
    False
    """
    if np.ptp(expected) == 0 or np.ptp(relevance) == 0:
        return True
    return bool(np.corrcoef(relevance, expected)[0, 1] > 0)
