"""The memory of metafs: problems, runs and what they taught, in one DuckDB file."""

from metafs_metadb.basis import Part as BasisPart
from metafs_metadb.basis import part_of
from metafs_metadb.errors import (
    MetaDBError,
    MetaDBLocked,
    MetaDBMissing,
    MetaDBOutdated,
    QueryRefused,
)
from metafs_metadb.memory_index import MemoryIndex
from metafs_metadb.metadb import MetaDB
from metafs_metadb.rows import (
    Experience,
    FeatureExperience,
    FeatureRecord,
    Neighbour,
    NeighbourRow,
    ProblemRow,
    Recorded,
    RunRow,
    SelectionRows,
    Signatures,
    StabilityRow,
    Table,
)
from metafs_metadb.search import NeighbourSearch, SqlSearch
from metafs_metadb.told import RunTold
from metafs_metadb.weights import Acquainted, BeliefRow, Reference, ReferenceRows

__all__ = [
    "Acquainted",
    "BasisPart",
    "BeliefRow",
    "Experience",
    "FeatureExperience",
    "FeatureRecord",
    "MemoryIndex",
    "MetaDB",
    "MetaDBError",
    "MetaDBLocked",
    "MetaDBMissing",
    "MetaDBOutdated",
    "Neighbour",
    "NeighbourRow",
    "NeighbourSearch",
    "ProblemRow",
    "QueryRefused",
    "Recorded",
    "Reference",
    "ReferenceRows",
    "RunRow",
    "RunTold",
    "SelectionRows",
    "Signatures",
    "SqlSearch",
    "StabilityRow",
    "Table",
    "part_of",
]
