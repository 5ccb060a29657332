"""Filters: measures of one feature at a time, and selectors that rank by them."""

from metafs_filters.fisher import Fisher, FisherSelector
from metafs_filters.hooks import metafs_measures, metafs_selectors
from metafs_filters.infogain import InfoGain, InfoGainSelector
from metafs_filters.shrunk import ShrunkSelector

__all__ = [
    "Fisher",
    "FisherSelector",
    "InfoGain",
    "InfoGainSelector",
    "ShrunkSelector",
    "metafs_measures",
    "metafs_selectors",
]
