"""Infinite feature selection: features as nodes of a graph, sets as paths through it."""

from metafs_graph.affinity import Affinity
from metafs_graph.graph import compare_centralities, feature_graph
from metafs_graph.hooks import metafs_selectors
from metafs_graph.inffs import InfFS, inffs_scores

__all__ = [
    "Affinity",
    "InfFS",
    "compare_centralities",
    "feature_graph",
    "inffs_scores",
    "metafs_selectors",
]
