"""A problem on its way through the loop: what was prepared for it, and what work on it found."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.memory import Neighbour, TrialRow
from metafs.memory.projection import Described
from metafs.memory.weights import ModelHistory
from metafs.pipeline.choice.expectation import Past
from metafs.pipeline.choice.rows import sampled
from metafs.pipeline.fitting.learner_candidates import Tried
from metafs.pipeline.fitting.reference import Learned
from metafs.pipeline.fitting.scoring import Scores
from metafs.pipeline.fitting.selection import Selection
from metafs.pipeline.models.model import FittedModel
from metafs.pipeline.plan import Plan
from metafs.plugin.prior import Prior


def utc_now() -> datetime:
    """Return the time as the MetaDB keeps it: UTC, without saying so."""
    return datetime.now(UTC).replace(tzinfo=None)


@dataclass(frozen=True, eq=False)
class PreparedTask:
    """A problem with its neighbours and prior: everything that selecting and learning need."""

    problem: Problem
    plan: Plan
    described: Described | None = None
    """None if the problem has no space, so that it cannot be compared with others."""
    neighbours: tuple[Neighbour, ...] = ()
    prior: Prior | None = None
    fold_prior: Prior | None = None
    """The prior without neighbours of the same source: these may hold rows of the test folds."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    checked: bool = False
    """Whether to search cold as well, to measure what memory saved."""
    spent: float | None = None
    """Seconds that reading and preparing took; None if all the time since `started_at` counts."""
    started_at: datetime = field(default_factory=utc_now)
    history: ModelHistory | None = None
    """What the models of near problems learned of the columns."""
    fold_history: ModelHistory | None = None
    """The same without problems of the same source, nor any that share rows."""
    apart_history: ModelHistory | None = None
    """What was learned without rows set apart, by problems of other sources that share rows too."""
    row_hashes: Array = field(default_factory=lambda: np.zeros(0, dtype=np.uint64), repr=False)
    sharing: Mapping[int, str] = field(default_factory=dict)
    """Problems that memory knows to hold some of the rows, with their sources."""
    notes: tuple[str, ...] = ()
    """What may be wrong with the table."""
    past: tuple[Past, ...] = ()
    """What was tried on other problems of the space, if a pipeline is to be chosen."""
    fold_past: tuple[Past, ...] = ()
    """The same without problems of the same source."""
    teaches: bool = False
    """Whether a reference model is needed: memory has none of this content."""
    recorded: bool = False
    """Whether there is a memory that the run goes into."""
    saves_model: bool = False
    """Whether the model is to be saved, and so has to be fitted here."""

    @cached_property
    def seen(self) -> Problem:
        """The rows by which the problem is described and pipelines are compared: all if few."""
        return sampled(self.problem, self.plan.settings.seed)


@dataclass(frozen=True)
class WithoutMemory:
    """What a pipeline that was chosen without memory reached on the same problem."""

    score: float
    n_features: int
    seconds: float


@dataclass(frozen=True, eq=False)
class TaskResult:
    """A problem's selection, what a learner reached with it, and each feature's quality."""

    selection: Selection
    scores: Scores | None
    quality: Array
    seconds: Mapping[str, float]
    cold: tuple[Selection, float] | None = None
    """What a cold search found, and its seconds, where memory was checked."""
    notes: tuple[str, ...] = ()
    """Why a figure is missing."""
    learned: Learned | None = None
    """What models on all columns learned; None if the problem cannot be recalled."""
    learner: str | None = None
    pipeline: Mapping[str, Any] | None = None
    """The selector, size and learner that were chosen, if they were not named."""
    trials: tuple[TrialRow, ...] = ()
    """Every pipeline that was tried, fold by fold."""
    without_memory: WithoutMemory | None = None
    """What is chosen without memory, where that was checked."""
    tried: Tried | None = None
    """The candidates of the learner, if it reports them."""
    model: FittedModel | None = None
    """None if nothing was learnt, or if selector and learner were named and no model was wanted."""
    frontier: tuple[tuple[int, float], ...] = ()
    """The best score for each number of features that was tried."""
    leaderboard: tuple[tuple[Mapping[str, Any], float], ...] = ()
    """The pipelines that were tried on all folds, with their scores, the best first."""


class Stopwatch:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Count what the block takes towards a phase."""
        started = perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + perf_counter() - started
