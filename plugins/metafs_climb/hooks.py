"""What this package offers: the climb, and the measures of sets it climbs on."""

from metafs.plugin import Measure, Selector, hookimpl
from metafs_climb.climb import Climb
from metafs_climb.cv_accuracy import CVAccuracy
from metafs_climb.function_quality import FunctionQualityMeasure
from metafs_climb.mi_confidence import MIConfidence


@hookimpl
def metafs_selectors() -> dict[str, Selector]:
    """Offer the selector ``climb``."""
    return {"climb": Climb()}


@hookimpl
def metafs_measures() -> dict[str, Measure]:
    """Offer ``mi-confidence``, two other forms of it, and the accuracy of a learner, of sets."""
    return {
        "mi-confidence": MIConfidence(),
        "mi-interval": MIConfidence(confidence="interval"),
        "mi-adjusted": MIConfidence(adjusted=True),
        "function-quality": FunctionQualityMeasure(),
        "cv-accuracy": CVAccuracy(),
        "cv-balanced-accuracy": CVAccuracy(scoring="balanced_accuracy"),
    }
