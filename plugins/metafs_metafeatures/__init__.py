"""Selection and learning by properties of features (meta-features)."""

from metafs.stats.quality_map import QualityMap, quality_map
from metafs_metafeatures.generators import (
    AndOr,
    AndOrGenerator,
    MonomialGenerator,
    Patch,
    PatchPrototypes,
    all_monomials,
)
from metafs_metafeatures.gp_prior import (
    Gaussian,
    GPPriorClassifier,
    GroupedGaussian,
    OrientedGaussian,
)
from metafs_metafeatures.hooks import metafs_generators, metafs_learners, metafs_selectors
from metafs_metafeatures.mf_pfs import (
    MFPFS,
    CallableMeasurer,
    DuckDBMeasurer,
    GeneratorMeasurer,
    Measurer,
    ParquetMeasurer,
    TableMeasurer,
    as_measurer,
    random_features,
    rfe_all,
    rfe_small,
)
from metafs_metafeatures.mufasa import (
    Mufasa,
    MufasaResult,
    Schedule,
    Step,
    SVMAccuracy,
    norm_infogain,
    rand_search,
    search,
)

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
    "all_monomials",
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
]
