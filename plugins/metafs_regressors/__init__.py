"""Regressors from meta-features of a feature to its quality."""

from metafs_regressors.hooks import metafs_regressors

__all__ = ["metafs_regressors"]
