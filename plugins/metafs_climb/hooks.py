"""What this package offers: the climb, and the measures of sets it climbs on."""

from metafs.plugin import Measure, Selector, hookimpl
from metafs_climb.climb import Climb
from metafs_climb.cv_accuracy import CVAccuracy
from metafs_climb.mi_confidence import MIConfidence


@hookimpl
def metafs_selectors() -> dict[str, Selector]:
    """Offer the selector ``climb``."""
    return {"climb": Climb()}


@hookimpl
def metafs_measures() -> dict[str, Measure]:
    """Offer the set measures ``mi-confidence``, ``cv-accuracy`` and ``cv-balanced-accuracy``."""
    return {
        "mi-confidence": MIConfidence(),
        "cv-accuracy": CVAccuracy(),
        "cv-balanced-accuracy": CVAccuracy(scoring="balanced_accuracy"),
    }
