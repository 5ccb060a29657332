"""Selection by linear support vector machines."""

from metafs_svm.ensemble import EnsembleSVMRFE
from metafs_svm.fsv import FSV
from metafs_svm.hooks import metafs_measures, metafs_selectors
from metafs_svm.svm_rfe import SVMRFE
from metafs_svm.svm_weights import SVMWeights
from metafs_svm.sw_svm_rfe import SWSVMRFE

__all__ = [
    "FSV",
    "SVMRFE",
    "SWSVMRFE",
    "EnsembleSVMRFE",
    "SVMWeights",
    "metafs_measures",
    "metafs_selectors",
]
