"""Memory as the pipeline sees it; the only place in the core that imports the MetaDB."""

from metafs_metadb import (
    Experience,
    FeatureExperience,
    FeatureRecord,
    MetaDB,
    MetaDBError,
    Neighbour,
    NeighbourRow,
    ProblemRow,
    RunRow,
    SelectionRows,
    StabilityRow,
    Table,
)

__all__ = [
    "Experience",
    "FeatureExperience",
    "FeatureRecord",
    "MetaDB",
    "MetaDBError",
    "Neighbour",
    "NeighbourRow",
    "ProblemRow",
    "RunRow",
    "SelectionRows",
    "StabilityRow",
    "Table",
]
