"""Regressors from meta-features of a feature to its quality."""

from metafs_regressors.forest import Forest
from metafs_regressors.gp import GaussianProcess
from metafs_regressors.hooks import metafs_regressors
from metafs_regressors.knn import UpToKNeighbors
from metafs_regressors.weighted_knn import WeightedKNN

__all__ = ["Forest", "GaussianProcess", "UpToKNeighbors", "WeightedKNN", "metafs_regressors"]
