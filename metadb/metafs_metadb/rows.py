"""The values that go into the MetaDB and come out of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Signature = tuple[NDArray[np.uint64], NDArray[np.float64]]  # keys, each once, and p, summing to 1
Candidate = tuple[int, Sequence[str] | Sequence[int] | NDArray[Any], float]  # step, set, fitness

# What is known of each column whatever the selector made of it, as columns of `selection`.
OF_COLUMNS = ("relevance", "document_frequency", "mean", "spread", "weight", "from_memory")

# Evaluations and seconds to the fitness of a cold search, without memory and with it.
SAVING = ("cold_evaluations", "evaluations", "cold_seconds", "seconds", "reached")

PHASES = ("describe", "recall", "expect", "select", "learn", "record")


@dataclass(frozen=True)
class ProblemRow:
    """A problem to remember; `fingerprint` identifies its content."""

    space: str
    name: str
    source: str
    fingerprint: str
    n_samples: int
    n_features: int
    target: str


@dataclass(frozen=True)
class RunRow:
    """One run to remember. What a failed run never came to know stays None."""

    selector: str
    transfer: str
    started_at: datetime  # UTC, without time zone
    metafs_version: str
    status: Literal["solved", "failed"] = "solved"
    params: Mapping[str, Any] = field(default_factory=dict)
    learner: str | None = None
    distance: str | None = None
    seed: int | None = None
    fitness: float | None = None
    score: float | None = None
    non_nested_score: float | None = None
    scoring: str | None = None
    target_score: float | None = None
    n_evaluations: int | None = None
    n_selected: int | None = None
    stopped: str | None = None
    duration_s: Mapping[str, float] = field(default_factory=dict)  # phase -> seconds
    prior_used: str | None = None
    settings: str | None = None
    error: str | None = None
    pipeline: Mapping[str, Any] | None = None  # selector, size and learner that were chosen
    all_features: float | None = None  # score of a linear model on all columns
    no_skill: float | None = None  # score of guessing
    without_memory: float | None = None  # nested score of what is chosen without memory
    features_without_memory: int | None = None
    seconds_without_memory: float | None = None  # of choosing it
    saving: Mapping[str, float] | None = None  # what a cold search cost, and this one; see SAVING
    least_score: float | None = None  # that a candidate of the learner can have here
    greatest_score: float | None = None


@dataclass(frozen=True, eq=False)
class SelectionRows:
    """One row for each feature the selector scored; None stands for a column of nulls."""

    names: Sequence[str] = ()
    rank: ArrayLike | None = None
    q: ArrayLike | None = None
    quality: ArrayLike | None = None
    expected: ArrayLike | None = None
    selected: ArrayLike | None = None
    relevance: ArrayLike | None = None
    document_frequency: ArrayLike | None = None
    mean: ArrayLike | None = None
    spread: ArrayLike | None = None
    weight: ArrayLike | None = None
    from_memory: ArrayLike | None = None

    def doubles(self, column: str) -> NDArray[np.float64]:
        """Return a column as numbers, nan for nulls."""
        values = getattr(self, column)
        return np.full(len(self.names), np.nan) if values is None else np.asarray(values, float)

    def is_selected(self) -> NDArray[np.bool_]:
        """Return whether each feature was selected."""
        none = np.zeros(len(self.names), bool)
        return none if self.selected is None else np.asarray(self.selected, bool)


@dataclass(frozen=True)
class NeighbourRow:
    """A neighbour that a run asked."""

    problem_id: int
    rank: int
    distance: float
    weight: float | None = None


@dataclass(frozen=True)
class StabilityRow:
    """How stable a selector was found to be on a problem."""

    selector: str
    n_resamples: int
    share: float
    jensen_shannon: float
    by_chance: float
    jaccard: float
    kuncheva: float
    metafs_version: str
    bootstrap: bool = False
    params: Mapping[str, Any] = field(default_factory=dict)
    top: int | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Recorded:
    """Where a run was written; `again` if an equal one was there already, which then stays."""

    problem_id: int
    run_id: int
    again: bool = False
    first: bool = False  # nothing was known of the problem before


@dataclass(frozen=True)
class Neighbour:
    """A problem found by a search, and how far away it is."""

    problem_id: int
    name: str
    distance: float
    fingerprint: str


@dataclass(frozen=True, eq=False)
class Experience:
    """The best run of a problem, with the values of each feature it scored."""

    problem_id: int
    run_id: int
    source: str
    names: tuple[str, ...]
    q: NDArray[np.float64]  # nan where unknown, as in quality
    quality: NDArray[np.float64]
    selected: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FeatureExperience:
    """Outcomes of features with meta-features, averaged over the problems that had them."""

    names: tuple[str, ...]
    n_problems: NDArray[np.int64]
    quality: NDArray[np.float64]  # as learners earned it
    selected: NDArray[np.float64]  # share of the problems in which it was selected
    relative: NDArray[np.float64]  # score relative to the best of its run
    meta_feature_names: tuple[str, ...]
    meta_features: NDArray[np.float64]  # (features, meta-features), nan where unknown

    def __len__(self) -> int:
        return len(self.names)

    def equals(self, other: "FeatureExperience") -> bool:
        """Return whether another has the same values for the same features."""
        return (
            self.names == other.names
            and self.meta_feature_names == other.meta_feature_names
            and np.array_equal(self.meta_features, other.meta_features, equal_nan=True)
            and all(
                np.array_equal(getattr(self, name), getattr(other, name))
                for name in ("n_problems", "quality", "selected", "relative")
            )
        )


@dataclass(frozen=True, eq=False)
class FeatureHistory:
    """History of features over all solved problems of a space; zeros for one never scored."""

    n_solved: int
    n_problems: NDArray[np.int64]  # those whose best run scored the feature
    n_selected: NDArray[np.int64]  # those whose best run selected it

    def __len__(self) -> int:
        return len(self.n_problems)


@dataclass(frozen=True, eq=False)
class Signed:
    """Problems that have a signature of one distance, in one space."""

    problem_id: NDArray[np.int64]
    names: tuple[str, ...]
    fingerprints: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.problem_id)


@dataclass(frozen=True, eq=False)
class Signatures(Signed):
    """All signatures of one distance in one space: row i has keys[starts[i]:starts[i + 1]]."""

    starts: NDArray[np.int64]
    keys: NDArray[np.uint64]
    p: NDArray[np.float64]


class Table(NamedTuple):
    """Column names and rows, ready to print."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def column(self, name: str) -> list[Any]:
        """Return the values of one column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def only(self, columns: Sequence[str]) -> "Table":
        """Return the table with these columns, in this order."""
        places = [self.columns.index(name) for name in columns]
        return Table(tuple(columns), [tuple(row[i] for i in places) for row in self.rows])
