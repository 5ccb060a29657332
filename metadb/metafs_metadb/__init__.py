"""The memory of metafs: problems, runs and their results, in one DuckDB file."""

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
from metafs_metadb.reporting import ReportLimits, ReportRows
from metafs_metadb.rows import (
    Experience,
    FeatureExperience,
    FeatureHistory,
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
from metafs_metadb.stored_run import StoredRun
from metafs_metadb.trials import PastTrials, TrialRow
from metafs_metadb.weights import Acquainted, BeliefRow, Reference, ReferenceRows

__all__ = [
    "Acquainted",
    "BasisPart",
    "BeliefRow",
    "Experience",
    "FeatureExperience",
    "FeatureHistory",
    "MemoryIndex",
    "MetaDB",
    "MetaDBError",
    "MetaDBLocked",
    "MetaDBMissing",
    "MetaDBOutdated",
    "Neighbour",
    "NeighbourRow",
    "NeighbourSearch",
    "PastTrials",
    "ProblemRow",
    "QueryRefused",
    "Recorded",
    "Reference",
    "ReferenceRows",
    "ReportLimits",
    "ReportRows",
    "RunRow",
    "SelectionRows",
    "Signatures",
    "SqlSearch",
    "StabilityRow",
    "StoredRun",
    "Table",
    "TrialRow",
    "part_of",
]
