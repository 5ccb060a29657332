"""The measures this package offers; `metafs_climb.climb` offers the selector."""

from typing import Any

from metafs.hookspecs import hookimpl
from metafs_climb.cv_accuracy import CVAccuracy
from metafs_climb.mi_confidence import MIConfidence


@hookimpl
def metafs_measures() -> dict[str, Any]:
    """Offer the set measures ``mi-confidence`` and ``cv-accuracy``."""
    return {"mi-confidence": MIConfidence(), "cv-accuracy": CVAccuracy()}
