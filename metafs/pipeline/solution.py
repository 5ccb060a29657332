"""The record of one run, from the search to the MetaDB, the command and the experiment."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Literal

from metafs.pipeline.memory_savings import Saving

PHASES = ("describe", "recall", "expect", "select", "learn", "record")
Status = Literal["solved", "failed", "skipped"]
Experience = Literal["near", "far", "none", "nameless"]


@dataclass(frozen=True)
class Solution:
    """The outcome of one problem of a stream, and how it was solved.

    `metafs.pipeline.recording` derives the row of the MetaDB from the fields of the same names.
    """

    problem: str
    status: Status
    features: tuple[str, ...] = ()
    """The selected features, the best first."""
    fitness: float | None = None
    """What the search optimised, for the selected set."""
    score: float | None = None
    """Nested: cross-validated with the selection made inside the folds."""
    non_nested_score: float | None = None
    """Cross-validated on columns selected from all rows, so usually too high."""
    scoring: str | None = None
    all_features: float | None = None
    """The score of a linear model on all columns, if a pipeline was chosen."""
    no_skill: float | None = None
    """The score of guessing."""
    pipeline: Mapping[str, Any] | None = None
    """The selector, size and learner that were chosen; None if they were named, or if nothing
    beats no skill."""
    without_memory: float | None = None
    """The nested score of what is chosen without memory, if that was checked."""
    features_without_memory: int | None = field(default=None, repr=False)
    seconds_without_memory: float | None = field(default=None, repr=False)
    transfers: tuple[tuple[int, float, float], ...] = field(default=(), repr=False)
    """(labels, strength, loss) of a linear model with few labels, measured on this problem's rows:
    what memory would have given it. Strength 0 is no memory."""
    notes: tuple[str, ...] = ()
    """What was assumed or left out, and why a figure is missing."""
    least_score: float | None = field(default=None, repr=False)
    """The least score that a candidate of the learner could have had, if it reports candidates."""
    greatest_score: float | None = field(default=None, repr=False)
    n_evaluations: int | None = None
    stopped: str | None = None
    neighbours: tuple[tuple[str, float], ...] = ()
    """(problem, distance), the nearest first."""
    transferred: tuple[str, ...] = ()
    """The features that memory proposed, to start from or to try first."""
    experience: Experience | None = None
    """Whether memory had relevant experience; None if it was not asked, "nameless" if columns have
    no names by which to compare them."""
    memory: Mapping[str, float] | None = None
    """The weight of memory in a linear model on all features (`strength`, 0 is not at all),
    and by how much memory is expected to lower its loss (`gain`); None if memory knows no
    weights of these features."""
    belief: str | None = None
    """Why memory is weighted so strongly, as a sentence."""
    saving: Saving | None = None
    """What memory saved, if a cold search was run for comparison."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Seconds by phase."""
    error: str | None = None
    details: str | None = field(default=None, repr=False)
    """The traceback of an unforeseen error."""
    stored_error: str | None = field(default=None, repr=False)
    """The error as the MetaDB stores it: it quotes no data."""
    n_features: int = field(default=0, repr=False)
    """Number of features to select from."""
    selector: str | None = field(default=None, repr=False)
    params: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Parameters of the selector."""
    learner: str | None = field(default=None, repr=False)
    distance: str | None = field(default=None, repr=False)
    """The distance by which the problem was described."""
    transfer: str | None = field(default=None, repr=False)
    prior_used: str | None = field(default=None, repr=False)
    """The transfer, if the selector got a prior."""
    seed: int | None = field(default=None, repr=False)
    target_score: float | None = field(default=None, repr=False)
    """The fitness at which the search was allowed to stop."""
    settings: str | None = field(default=None, repr=False)
    """Digest of everything that determines the result."""
    started_at: datetime | None = field(default=None, repr=False, compare=False)
    """UTC, without time zone."""
    model: Any = field(default=None, repr=False, compare=False)
    """A `FittedModel` that predicts new rows; None for a problem that was skipped or failed.

    Where selector and learner were named it is fitted when first used; until then it keeps the
    selected columns of the table."""

    @property
    def n_selected(self) -> int:
        """Number of selected features."""
        return len(self.features)

    @property
    def optimistic_score(self) -> float | None:
        """Deprecated name of `non_nested_score`."""
        return self.non_nested_score

    def _repr_html_(self) -> str:
        from metafs.pipeline.display.html import solution_html  # which imports this module

        return solution_html(self)

    def as_json(self) -> dict[str, Any]:
        """Return plain values, in the documented order."""
        return {
            "problem": self.problem,
            "status": self.status,
            "features": list(self.features),
            "fitness": self.fitness,
            "score": self.score,
            "non_nested_score": self.non_nested_score,
            "scoring": self.scoring,
            "baseline": {"all_features": self.all_features, "no_skill": self.no_skill},
            "pipeline": None if self.pipeline is None else dict(self.pipeline),
            "without_memory": self.without_memory,
            "notes": list(self.notes),
            "n_evaluations": self.n_evaluations,
            "stopped": self.stopped,
            "neighbours": [{"problem": name, "distance": d} for name, d in self.neighbours],
            "transferred": list(self.transferred),
            "experience": self.experience,
            "memory": None if self.memory is None else dict(self.memory),
            "belief": self.belief,
            "saving": None if self.saving is None else asdict(self.saving),
            "seconds": {phase: self.seconds.get(phase, 0.0) for phase in PHASES},
            "error": self.error,
            "optimistic_score": self.non_nested_score,  # deprecated name
        }
