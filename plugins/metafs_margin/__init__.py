"""Selection by margins: Relief and its family, Simba and G-flip."""

from metafs_margin.hooks import metafs_selectors
from metafs_margin.relieff import ReliefF, SampleWeightedReliefF

__all__ = [
    "ReliefF",
    "SampleWeightedReliefF",
    "metafs_selectors",
]
