"""Selection and learning by properties of features (meta-features)."""

from metafs_metafeatures.covariance import Gaussian, GroupedGaussian, OrientedGaussian
from metafs_metafeatures.gp_prior import GPPriorClassifier
from metafs_metafeatures.hooks import metafs_generators, metafs_learners, metafs_selectors
from metafs_metafeatures.monomials import MonomialGenerator, table_2

__all__ = [
    "GPPriorClassifier",
    "Gaussian",
    "GroupedGaussian",
    "MonomialGenerator",
    "OrientedGaussian",
    "metafs_generators",
    "metafs_learners",
    "metafs_selectors",
    "table_2",
]
