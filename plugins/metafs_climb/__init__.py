"""Hill climbing over sets of features, and the measures of sets it climbs on."""

from metafs_climb.climb import Climb
from metafs_climb.cv_accuracy import CVAccuracy
from metafs_climb.hooks import metafs_measures, metafs_selectors
from metafs_climb.mi_confidence import MIConfidence

__all__ = ["CVAccuracy", "Climb", "MIConfidence", "metafs_measures", "metafs_selectors"]
