"""The selector mufasa: search by properties, over the columns of a table or generated features."""

from metafs_metafeatures.mufasa.controls import norm_infogain, rand_search
from metafs_metafeatures.mufasa.extraction import MufasaResult, search
from metafs_metafeatures.mufasa.selector import Mufasa
from metafs_metafeatures.mufasa.singly import search_then_select
from metafs_metafeatures.mufasa.svm_accuracy import SVMAccuracy
from metafs_metafeatures.mufasa.walk import Schedule, Step

__all__ = [
    "Mufasa",
    "MufasaResult",
    "SVMAccuracy",
    "Schedule",
    "Step",
    "norm_infogain",
    "rand_search",
    "search",
    "search_then_select",
]
