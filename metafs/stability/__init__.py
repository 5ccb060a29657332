"""Stability of feature selection: how much a selection changes when the rows change slightly."""

from metafs.stability.indices import (
    jaccard,
    jensen_shannon,
    jensen_shannon_by_chance,
    jensen_shannon_of_sets,
    kuncheva,
    rank_weights,
)
from metafs.stability.resampling import Resampling, Stability, stability_of

__all__ = [
    "Resampling",
    "Stability",
    "jaccard",
    "jensen_shannon",
    "jensen_shannon_by_chance",
    "jensen_shannon_of_sets",
    "kuncheva",
    "rank_weights",
    "stability_of",
]
