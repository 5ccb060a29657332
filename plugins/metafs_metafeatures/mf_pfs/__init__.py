"""The selector mf-pfs: predict what is worth measuring, and measure only that."""

from metafs_metafeatures.mf_pfs.lazy_columns import DuckDBMeasurer, ParquetMeasurer, as_measurer
from metafs_metafeatures.mf_pfs.measurers import (
    CallableMeasurer,
    GeneratorMeasurer,
    Measurer,
    TableMeasurer,
)
from metafs_metafeatures.mf_pfs.rfe_controls import random_features, rfe_all, rfe_small
from metafs_metafeatures.mf_pfs.selector import MFPFS

__all__ = [
    "MFPFS",
    "CallableMeasurer",
    "DuckDBMeasurer",
    "GeneratorMeasurer",
    "Measurer",
    "ParquetMeasurer",
    "TableMeasurer",
    "as_measurer",
    "random_features",
    "rfe_all",
    "rfe_small",
]
