"""Selection and learning by properties of features (meta-features)."""

from metafs_metafeatures.hooks import metafs_generators, metafs_learners, metafs_selectors

__all__ = ["metafs_generators", "metafs_learners", "metafs_selectors"]
