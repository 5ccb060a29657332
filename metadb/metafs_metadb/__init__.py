"""The memory of metafs: problems, runs and their results, in one DuckDB file."""

from metafs_metadb.basis import Part as BasisPart
from metafs_metadb.basis import part_of
from metafs_metadb.carry import Carried
from metafs_metadb.definitions import FIT_OF, INTERRUPTED
from metafs_metadb.errors import (
    MetaDBError,
    MetaDBLocked,
    MetaDBMissing,
    MetaDBOutdated,
    QueryRefused,
)
from metafs_metadb.learner_candidates import LearnerCandidate
from metafs_metadb.linear_models import LinearRows, StoredLinear
from metafs_metadb.memory_index import MemoryIndex
from metafs_metadb.merging import Merged
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
from metafs_metadb.saved_models import SavedModel
from metafs_metadb.search import NeighbourSearch, SqlSearch
from metafs_metadb.stored_run import StoredRun
from metafs_metadb.trials import PastTrials, TrialRow
from metafs_metadb.weights import Acquainted, BeliefRow, Reference, ReferenceRows

__all__ = [
    "FIT_OF",
    "INTERRUPTED",
    "Acquainted",
    "BasisPart",
    "BeliefRow",
    "Carried",
    "Experience",
    "FeatureExperience",
    "FeatureHistory",
    "LearnerCandidate",
    "LinearRows",
    "MemoryIndex",
    "Merged",
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
    "SavedModel",
    "SelectionRows",
    "Signatures",
    "SqlSearch",
    "StabilityRow",
    "StoredLinear",
    "StoredRun",
    "Table",
    "TrialRow",
    "part_of",
]
