"""Selection by margins: Relief and its family, Simba and G-flip."""

from metafs_margin.gflip import GFlip
from metafs_margin.hooks import metafs_measures, metafs_selectors
from metafs_margin.margin import Margin
from metafs_margin.relief import Relief
from metafs_margin.relieff import ReliefF, SampleWeightedReliefF
from metafs_margin.simba import Simba

__all__ = [
    "GFlip",
    "Margin",
    "Relief",
    "ReliefF",
    "SampleWeightedReliefF",
    "Simba",
    "metafs_measures",
    "metafs_selectors",
]
