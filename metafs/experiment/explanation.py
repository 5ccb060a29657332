"""The explanation of a problem in an experiment: what memory proposed, and the outcomes."""

from dataclasses import asdict, dataclass
from typing import Any

from metafs.pipeline.fitting.selection import TOLERANCE
from metafs.pipeline.task import PreparedTask, TaskResult
from metafs.plugin.prior import Prior, most_expected
from metafs.transfer.expectation import OF_NEIGHBOURS, Transfer, relative_scores
from metafs.transfer.explanation import SELECTED, RecalledNeighbour, fate_of, memory_sentence

MOST = 10
"""Number of features explained for each problem."""


@dataclass(frozen=True)
class Proposed:
    """A feature that memory proposed."""

    feature: str
    expected: float
    by: str | None
    """The neighbour, or other source, that contributed most to the expectation."""
    distance: float | None
    """The distance of that neighbour."""
    relative: float | None
    """Its score here, 1 for the best feature."""
    fate: str

    @property
    def survived(self) -> bool:
        """Whether it was selected."""
        return self.fate == SELECTED


@dataclass(frozen=True)
class Why:
    """The neighbours of one problem, and the features with the highest expectation."""

    memory: str
    neighbours: tuple[RecalledNeighbour, ...]
    proposed: tuple[Proposed, ...]

    @property
    def n_survived(self) -> int:
        """How many of the proposed features were selected."""
        return sum(each.survived for each in self.proposed)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def why(task: PreparedTask, result: TaskResult) -> Why:
    """Return the explanation of a problem from its prior and its selection."""
    prior, settings, names = task.prior, task.plan.settings, task.problem.feature_names
    sources = () if prior is None else prior.sources
    all_weighted = len(sources) == len(task.neighbours)
    neighbours = tuple(
        RecalledNeighbour(
            number + 1, each.name, each.distance, sources[number].weight if all_weighted else None
        )
        for number, each in enumerate(task.neighbours)
    )
    used = None if prior is None else settings.transfer
    run = {"transfer": settings.transfer, "prior_used": used, "selector": settings.selector_name}
    memory = memory_sentence(run, neighbours)
    if prior is None:
        return Why(memory, neighbours, ())
    selection, relative = result.selection, relative_scores(result.selection.scores)
    proposed = []
    for j in most_expected(prior.expected, MOST).tolist():
        by, distance = proposer(prior, j, task.plan.transfer)
        tried = any(j in features for _, features, _ in selection.candidates)
        proposed.append(
            Proposed(
                names[j],
                float(prior.expected[j]),
                by,
                distance,
                float(relative[j]) if relative.any() else None,
                fate_of(bool(selection.selected[j]), tried, bool(selection.candidates)),
            )
        )
    return Why(memory, neighbours, tuple(proposed))


def proposer(prior: Prior, j: int, rule: Transfer | None) -> tuple[str | None, float | None]:
    """Return what contributed most to the expectation of a feature, and its distance if it has one.

    The expectation is the sum of a part from each neighbour and one from the selection frequency.
    """
    if j in prior.predicted:
        return "meta-features", None
    of_neighbours = OF_NEIGHBOURS if rule is not None and rule.guides else 1.0
    parts = [of_neighbours * each.weight * float(each.quality[j]) for each in prior.sources]
    of_frequency = float(prior.expected[j]) - sum(parts)
    most = max(range(len(parts)), key=parts.__getitem__, default=None)
    if most is not None and parts[most] > 0 and parts[most] >= of_frequency - TOLERANCE:
        return prior.sources[most].problem, prior.sources[most].distance
    return ("selection frequency", None) if of_frequency > TOLERANCE else (None, None)
