"""Hill climbing over sets of features, and the measure of sets it climbs on."""

from metafs_climb.climb import Climb, metafs_selectors
from metafs_climb.mi_confidence import MIConfidence, metafs_measures

__all__ = ["Climb", "MIConfidence", "metafs_measures", "metafs_selectors"]
