"""What this package offers: selection by linear support vector machines."""

from metafs.plugin import Measure, Selector, hookimpl
from metafs_svm.ensemble import EnsembleSVMRFE
from metafs_svm.fsv import FSV
from metafs_svm.svm_rfe import SVMRFE
from metafs_svm.svm_weights import SVMWeights
from metafs_svm.sw_svm_rfe import SWSVMRFE


@hookimpl
def metafs_selectors() -> dict[str, Selector]:
    """Offer the selectors ``svm-rfe``, ``ensemble-svm-rfe``, ``sw-svm-rfe`` and ``fsv``."""
    return {
        "svm-rfe": SVMRFE(),
        "ensemble-svm-rfe": EnsembleSVMRFE(),
        "sw-svm-rfe": SWSVMRFE(),
        "fsv": FSV(),
    }


@hookimpl
def metafs_measures() -> dict[str, Measure]:
    """Offer the measure ``svm-weights``."""
    return {"svm-weights": SVMWeights()}
