"""Memory as the pipeline sees it; the only place in the core that imports the MetaDB."""

from metafs_metadb import (
    BeliefRow,
    Experience,
    FeatureExperience,
    FeatureHistory,
    MetaDB,
    MetaDBError,
    Neighbour,
    NeighbourRow,
    PastTrials,
    ProblemRow,
    ReferenceRows,
    RunRow,
    SelectionRows,
    StabilityRow,
    Table,
    TrialRow,
)

__all__ = [
    "BeliefRow",
    "Experience",
    "FeatureExperience",
    "FeatureHistory",
    "MetaDB",
    "MetaDBError",
    "Neighbour",
    "NeighbourRow",
    "PastTrials",
    "ProblemRow",
    "ReferenceRows",
    "RunRow",
    "SelectionRows",
    "StabilityRow",
    "Table",
    "TrialRow",
]
