"""Learners over scikit-learn, trained on the selected columns."""

from metafs_learners.by_target import ByTarget
from metafs_learners.learners import metafs_learners

__all__ = ["ByTarget", "metafs_learners"]
