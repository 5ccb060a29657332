"""An explanation of a run: what memory expected, why, and the outcome; also as sentences.

`metafs.memory.explaining` builds it from the MetaDB.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from metafs.transfer.expectation import FAR, TRANSFERS

SELECTED, LEFT_OUT, NOT_KEPT = "selected", "tried, left out", "in no recorded set"
NOT_SELECTED = "not selected"
HIDDEN = ("problem", "space", "fingerprint")


@dataclass(frozen=True)
class RecalledNeighbour:
    """A neighbour that was recalled for the run."""

    rank: int
    problem: str
    distance: float
    share: float | None
    """Its share of the weight of all neighbours; None if it contributed no expectation."""


@dataclass(frozen=True)
class NeighbourPart:
    """The contribution of one neighbour, by its best run, to the expectation of one feature."""

    problem: str
    distance: float
    share: float
    """Its share of the weight of all neighbours."""
    had: bool
    """Whether it had the feature."""
    selected: bool
    relative: float
    """Its score there, 1 for the best feature."""
    quality: float
    """What the learner gained from it there."""
    part: float
    """What this added to the expectation."""


@dataclass(frozen=True)
class FrequencyPart:
    """The selection frequency of a feature over all other problems, before the run."""

    n_selected: int
    n_problems: int
    """Those that had the feature."""
    part: float
    """What this added to the expectation."""


@dataclass(frozen=True)
class Carrier:
    """A past problem's part in the weight of a feature."""

    problem: str
    part: float


@dataclass(frozen=True)
class Belief:
    """The weight of memory in the model on all features, and why."""

    strength: float
    """0: not at all."""
    gain: float
    """By how much memory was expected to lower the loss."""
    reason: str


@dataclass(frozen=True)
class LearnedProgram:
    """The best program that the learner kept for a class, as moses does."""

    output: str | None
    text: str
    errors: float
    rows: float | None
    """Both by weight; None where the number of rows is not known."""

    @property
    def sentence(self) -> str:
        """The class, the program, and how often it errs on the rows it was learned from."""
        errors = "1 error" if self.errors == 1 else f"{self.errors:g} errors"
        rows = "" if self.rows is None else f"{self.rows:g} "
        return f"{self.output} if {self.text}: {errors} on the {rows}rows it was learned from"


@dataclass(frozen=True)
class FeatureExplanation:
    """One feature of one run: its scores, its expectation with the parts, and its outcome."""

    feature: str
    rank: int | None
    fate: str
    q: float | None
    """As the selector scored it."""
    relative: float | None
    """Its score here, 1 for the best feature."""
    quality: float | None
    """What the learner gained from it here."""
    expected: float | None
    place: int | None = None
    """Its rank among all features by expectation, 1 for the highest."""
    neighbours: float | None = None
    """The part of the expectation that neighbours contributed; None if unknown."""
    frequency: FrequencyPart | None = None
    predicted: bool = False
    """Whether the feature was unseen, so that meta-regression predicted its expectation."""
    adds_up: bool = True
    """Whether the parts add up to the stored expectation."""
    contributions: tuple[NeighbourPart, ...] = ()
    """The contribution of each neighbour, the largest first."""
    steps: tuple[tuple[int, float | None], ...] = ()
    """Evaluation number and fitness of each recorded set that had the feature."""
    weight: float | None = None
    """In the linear model on all features, with memory; None where memory knew no weights."""
    from_memory: float | None = None
    """The part of the weight that memory supplied."""
    carriers: tuple[Carrier, ...] = ()
    """The past problems that carried this part, the largest first."""

    @property
    def selected(self) -> bool:
        """Whether it was selected."""
        return self.fate == SELECTED

    @property
    def strongest(self) -> NeighbourPart | None:
        """The neighbour that added most to the expectation, if one added anything."""
        largest = self.contributions[0] if self.contributions else None
        return largest if largest is not None and largest.part > 0 else None

    @property
    def by(self) -> str | None:
        """The neighbour, or other source, that contributed most to the expectation."""
        if self.predicted:
            return "meta-features"
        of_frequency = self.frequency.part if self.frequency else 0.0
        if self.strongest is not None and self.strongest.part >= of_frequency:
            return self.strongest.problem
        return "selection frequency" if of_frequency > 0 else None

    def as_json(self) -> dict[str, Any]:
        """Return plain values, with the source that proposed the feature."""
        values = asdict(self) | {"by": self.by}
        values |= {  # deprecated names
            "record": values["frequency"],
            "judged": self.predicted,
            "said": values["contributions"],
        }
        values["steps"] = [{"step": step, "fitness": fitness} for step, fitness in self.steps]
        return values


@dataclass(frozen=True)
class Explanation:
    """What memory expected before a run, and the outcome of some of the features."""

    run: Mapping[str, Any]
    """The run's columns, with name, space and fingerprint of its problem."""
    neighbours: tuple[RecalledNeighbour, ...]
    features: tuple[FeatureExplanation, ...]
    n_features: int
    """All features that the run scored; those explained may be fewer."""
    n_solved: int = 0
    """Number of problems behind the selection frequencies."""
    belief: Belief | None = None
    """None where memory knew no weights of these features."""
    programs: tuple[LearnedProgram, ...] = ()

    @property
    def unassigned_share(self) -> float:
        """The share of the weight that belongs to no neighbour; large if all are distant."""
        return max(0.0, 1.0 - sum(each.share or 0.0 for each in self.neighbours))

    @property
    def memory(self) -> str:
        """How memory was used, as a sentence."""
        return memory_sentence(self.run, self.neighbours)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "problem": self.run["problem"],
            "space": self.run["space"],
            "run": {key: value for key, value in self.run.items() if key not in HIDDEN},
            "memory": self.memory,
            "belief": None if self.belief is None else asdict(self.belief),
            "n_features": self.n_features,
            "n_solved_before": self.n_solved,
            "neighbours": [asdict(each) for each in self.neighbours],
            "programs": [asdict(each) for each in self.programs],
            "features": [each.as_json() for each in self.features],
        }


def fate_of(selected: bool, in_some: bool, any_recorded: bool) -> str:
    """Return what became of a feature; `in_some` if a recorded set had it."""
    if selected:
        return SELECTED
    if in_some:
        return LEFT_OUT
    return NOT_KEPT if any_recorded else NOT_SELECTED


def memory_sentence(run: Mapping[str, Any], neighbours: tuple[RecalledNeighbour, ...]) -> str:
    """Return how memory was used in a run, as a sentence.

    Examples
    --------
    >>> memory_sentence({"transfer": "none", "prior_used": None}, ())
    "Memory was not used: transfer 'none'."
    """
    transfer = run["transfer"]
    rule = TRANSFERS.get(transfer)
    if transfer in TRANSFERS and (rule is None or not rule.remembers):
        return f"Memory was not used: transfer {transfer!r}."
    if not neighbours and run["prior_used"] is None:
        return "No relevant experience: no problem solved before has anything in common with it."
    if run["prior_used"] is None:
        return f"Memory was not used: selector {run['selector']!r} takes no expectations."
    if not neighbours:
        return "No neighbour was found: memory used selection frequencies and meta-features only."
    nearest = min(each.distance for each in neighbours)
    number = "1 neighbour was" if len(neighbours) == 1 else f"{len(neighbours)} neighbours were"
    doubt = ", too far to be trusted" if nearest > FAR and rule and rule.guides else ""
    return f"{number} used, the nearest at distance {nearest:.3g}{doubt}."


def sentences(explanation: Explanation, feature: FeatureExplanation) -> list[str]:
    """Return sentences on a feature's score, its expectation with the reasons, and its outcome."""
    return [
        *_measured(explanation, feature),
        *_expected(explanation, feature),
        *_weighed(feature),
        _outcome(feature),
    ]


def _measured(explanation: Explanation, feature: FeatureExplanation) -> list[str]:
    if feature.q is None:
        return [f"{feature.feature!r} was not scored here."]
    relative = "" if feature.relative is None else f", {feature.relative:.0%} of the best score"
    rank = "" if feature.rank is None else f"; rank {feature.rank} of {explanation.n_features}"
    return [f"{feature.feature!r} scored {feature.q:.4g} here{relative}{rank}."]


def _expected(explanation: Explanation, feature: FeatureExplanation) -> list[str]:
    if not feature.expected:
        why = ": the search found it by its univariate relevance." if feature.selected else "."
        return [f"Memory did not propose it{why}"]
    expected = f"Memory expected {feature.expected:.4g} of it"
    if feature.place is not None:
        expected += f", rank {feature.place} of {explanation.n_features}"
    if feature.predicted:
        return [f"{expected}, from its meta-features alone: no neighbour had this feature."]
    if feature.neighbours is None or feature.frequency is None:
        return [
            f"{expected}; the parts are unknown, because this version of metafs has no transfer "
            f"{explanation.run['transfer']!r}."
        ]
    parts, frequency = [f"{feature.neighbours:.4g} from neighbours"], feature.frequency
    rule = TRANSFERS.get(explanation.run["transfer"])
    if rule is not None and rule.guides:
        parts.append(f"{frequency.part:.4g} from its selection frequency")
    found = [f"{expected}: {' and '.join(parts)}."]
    found.append(
        f"Before this run it was selected in {frequency.n_selected} of the {frequency.n_problems} "
        f"problems that had it; {explanation.n_solved} problems were solved in all."
    )
    if not feature.adds_up:
        found.append(
            f"These parts add up to {feature.neighbours + frequency.part:.4g}, not to the stored "
            "expectation: the memory has changed since, problems were solved in one batch, or a "
            "prior was given by hand."
        )
    return found


def _weighed(feature: FeatureExplanation) -> list[str]:
    if feature.weight is None or feature.from_memory is None:
        return []
    weight = f"In the linear model on all features its weight is {feature.weight:.4g}"
    if not feature.carriers:
        return [f"{weight}, nothing of it from memory."]
    by = ", ".join(f"{each.problem} ({each.part:+.4g})" for each in feature.carriers)
    return [f"{weight}, {feature.from_memory:+.4g} of it from memory, carried by {by}."]


def _outcome(feature: FeatureExplanation) -> str:
    steps = [str(step) for step, _ in feature.steps]
    where = ""
    if steps:
        some = ", ".join(steps[:8]) + (", ..." if len(steps) > 8 else "")
        where = f" {len(steps)} recorded sets had it, at evaluation {some}."
    if feature.selected:
        earned = f" with quality {feature.quality:.4g}" if feature.quality else ""
        return f"It was selected{earned}.{where}"
    if feature.fate == LEFT_OUT:
        return f"It was tried but not selected.{where}"
    if feature.fate == NOT_KEPT:
        return "It was not selected: no recorded set had it."
    return "It was not selected."
