r"""Features of a table as a space to walk in: clusters of the features by their meta-features.

p(v|u) is given by clusters: a point u chooses the cluster whose medoid is nearest to it, and the
features of that cluster are drawn in random order. Where a set needs more features than the cluster
has, the cluster with the next nearest medoid follows, and so on.

Meta-features are standardised, missing ones filled by the median, constant ones of no effect.
Medoids are those of scikit-learn-extra's KMedoids where that can be imported, otherwise the
centres of scikit-learn's KMeans, each moved to its nearest feature.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from metafs.data.typing import Array
from metafs.stats.quality_map import medians_of_known

MAX_FOR_MEDOIDS = 5000
"""KMedoids keeps all distances; of more features than these KMeans finds the centres."""


def standardised(meta_features: Array) -> tuple[Array, Array, Array]:
    """Return meta-features with mean 0 and variance 1, and what to subtract and to divide by.

    Examples
    --------
    >>> U, middle, scale = standardised(np.array([[0.0, 5.0], [2.0, 5.0], [np.nan, 5.0]]))
    >>> middle, U[2]
    (array([1., 5.]), array([0., 0.]))
    """
    U = np.where(np.isnan(meta_features), medians_of_known(meta_features), meta_features)
    middle, spread = U.mean(axis=0), U.std(axis=0)
    # A constant column has a spread of rounding only.
    scale = np.where(spread > 1e-12 * np.abs(U).max(axis=0, initial=0.0), spread, np.inf)
    return (U - middle) / scale, middle, np.where(np.isinf(scale), 1.0, scale)


def medoids(U: Array, n_clusters: int, seed: int) -> Array:
    """Return the features, ascending, around which all others are grouped.

    Examples
    --------
    >>> medoids(np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]), 2, seed=0)
    array([1, 4])
    """
    distinct, first = np.unique(U, axis=0, return_index=True)
    if len(distinct) <= n_clusters:
        return np.sort(first)
    if len(U) <= MAX_FOR_MEDOIDS:
        try:
            KMedoids = import_module("sklearn_extra.cluster").KMedoids
        except Exception:  # its wheel raises ValueError under numpy 2
            pass
        else:
            found = KMedoids(n_clusters, init="k-medoids++", random_state=seed).fit(U)
            return np.unique(found.medoid_indices_)
    centres = KMeans(n_clusters, n_init=1, random_state=seed).fit(U).cluster_centers_
    return np.unique(pairwise_distances_argmin(centres, U))


@dataclass(frozen=True, eq=False)
class FeatureClusters:
    """Features in clusters, as a space of standardised meta-features.

    Attributes
    ----------
    U : ndarray of shape (n_features, k)
        Standardised meta-features.
    medoids : ndarray of int
        The feature in the middle of each cluster.
    labels : ndarray of shape (n_features,)
        The cluster of each feature.
    """

    U: Array
    medoids: Array
    labels: Array

    @classmethod
    def of(cls, U: Array, n_clusters: int, seed: int) -> "FeatureClusters":
        """Group features by their meta-features."""
        middle = medoids(U, n_clusters, seed)
        return cls(U, middle, pairwise_distances_argmin(U, U[middle]))

    @property
    def bounds(self) -> Array:
        """The least and the largest value of each meta-feature, of shape (k, 2)."""
        return np.stack([self.U.min(axis=0), self.U.max(axis=0)], axis=1)

    def nearest(self, u: Array) -> Array:
        """Return the point within the bounds that is nearest to u."""
        return np.clip(u, *self.bounds.T)

    def order(self, u: Any, rng: np.random.Generator) -> Array:
        """Return all features in the order in which a set at u takes them.

        Examples
        --------
        >>> clusters = FeatureClusters.of(np.array([[0.0], [0.1], [5.0], [9.0]]), 3, seed=0)
        >>> clusters.order([6.0], np.random.default_rng(0))[:2]
        array([2, 3])
        """
        away = ((self.U[self.medoids] - np.asarray(u)) ** 2).sum(axis=1)
        rank = np.argsort(np.argsort(away, kind="stable"))
        return np.lexsort((rng.random(len(self.labels)), rank[self.labels]))


@dataclass(frozen=True)
class NoSpace:
    """Features of which nothing is known: one point, at which every order is equally likely."""

    n_features: int

    @property
    def bounds(self) -> Array:
        """There is no meta-feature to bound."""
        return np.zeros((0, 2))

    def nearest(self, u: Array) -> Array:
        """Return the only point there is."""
        return u

    def order(self, u: Any, rng: np.random.Generator) -> Array:
        """Return all features in random order."""
        return rng.permutation(self.n_features)
