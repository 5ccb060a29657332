"""Selection and learning by properties of features (meta-features)."""

from metafs.quality_map import QualityMap, quality_map
from metafs_metafeatures.and_or import AndOr, AndOrGenerator
from metafs_metafeatures.controls import norm_infogain, rand_search
from metafs_metafeatures.covariance import Gaussian, GroupedGaussian, OrientedGaussian
from metafs_metafeatures.extraction import MufasaResult, search
from metafs_metafeatures.gp_prior import GPPriorClassifier
from metafs_metafeatures.hooks import metafs_generators, metafs_learners, metafs_selectors
from metafs_metafeatures.lazy_columns import DuckDBMeasurer, ParquetMeasurer, as_measurer
from metafs_metafeatures.measurers import (
    CallableMeasurer,
    GeneratorMeasurer,
    Measurer,
    TableMeasurer,
)
from metafs_metafeatures.mf_pfs import MFPFS
from metafs_metafeatures.monomials import MonomialGenerator, table_2
from metafs_metafeatures.mufasa import Mufasa
from metafs_metafeatures.patches import Patch, PatchPrototypes
from metafs_metafeatures.rfe_controls import random_features, rfe_all, rfe_small
from metafs_metafeatures.svm_accuracy import SVMAccuracy
from metafs_metafeatures.walk import Schedule, Step

__all__ = [
    "MFPFS",
    "AndOr",
    "AndOrGenerator",
    "CallableMeasurer",
    "DuckDBMeasurer",
    "GPPriorClassifier",
    "Gaussian",
    "GeneratorMeasurer",
    "GroupedGaussian",
    "Measurer",
    "MonomialGenerator",
    "Mufasa",
    "MufasaResult",
    "OrientedGaussian",
    "ParquetMeasurer",
    "Patch",
    "PatchPrototypes",
    "QualityMap",
    "SVMAccuracy",
    "Schedule",
    "Step",
    "TableMeasurer",
    "as_measurer",
    "metafs_generators",
    "metafs_learners",
    "metafs_selectors",
    "norm_infogain",
    "quality_map",
    "rand_search",
    "random_features",
    "rfe_all",
    "rfe_small",
    "search",
    "table_2",
]
