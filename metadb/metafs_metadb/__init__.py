"""The memory of metafs: problems, runs and their results, in one DuckDB file."""

from metafs_metadb.definitions import FIT_OF, INTERRUPTED
from metafs_metadb.errors import (
    MetaDBError,
    MetaDBLocked,
    MetaDBMissing,
    MetaDBOutdated,
    QueryRefused,
)
from metafs_metadb.managing.carry import Carried
from metafs_metadb.managing.merging import Merged
from metafs_metadb.metadb import MetaDB
from metafs_metadb.models.basis import Part as BasisPart
from metafs_metadb.models.basis import part_of
from metafs_metadb.models.learner_candidates import LearnerCandidate
from metafs_metadb.models.linear_models import LinearRows, StoredLinear
from metafs_metadb.models.saved_models import SavedModel
from metafs_metadb.models.trials import PastTrials, TrialRow
from metafs_metadb.models.weights import Acquainted, BeliefRow, Reference, ReferenceRows
from metafs_metadb.questions.reporting import ReportLimits, ReportRows
from metafs_metadb.questions.stored_run import StoredRun
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
from metafs_metadb.search.memory_index import MemoryIndex
from metafs_metadb.search.nearest import NeighbourSearch, SqlSearch

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
