"""Distances between problems: square roots of Jensen-Shannon divergences."""

from metafs_distances.features import JsdFeatures, JsdLabelled
from metafs_distances.hooks import metafs_distances
from metafs_distances.rows import JsdRows

__all__ = ["JsdFeatures", "JsdLabelled", "JsdRows", "metafs_distances"]
