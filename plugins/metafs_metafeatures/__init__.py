"""Selection and learning by properties of features (meta-features)."""

from metafs.quality_map import QualityMap, quality_map
from metafs_metafeatures.and_or import AndOr, AndOrGenerator
from metafs_metafeatures.controls import norm_infogain, rand_search
from metafs_metafeatures.covariance import Gaussian, GroupedGaussian, OrientedGaussian
from metafs_metafeatures.extraction import MufasaResult, search
from metafs_metafeatures.gp_prior import GPPriorClassifier
from metafs_metafeatures.hooks import metafs_generators, metafs_learners, metafs_selectors
from metafs_metafeatures.monomials import MonomialGenerator, table_2
from metafs_metafeatures.mufasa import Mufasa
from metafs_metafeatures.svm_accuracy import SVMAccuracy
from metafs_metafeatures.walk import Schedule, Step

__all__ = [
    "AndOr",
    "AndOrGenerator",
    "GPPriorClassifier",
    "Gaussian",
    "GroupedGaussian",
    "MonomialGenerator",
    "Mufasa",
    "MufasaResult",
    "OrientedGaussian",
    "QualityMap",
    "SVMAccuracy",
    "Schedule",
    "Step",
    "metafs_generators",
    "metafs_learners",
    "metafs_selectors",
    "norm_infogain",
    "quality_map",
    "rand_search",
    "search",
    "table_2",
]
