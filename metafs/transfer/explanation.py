"""An explanation: what memory said before a run, by whom, and what became of it; as sentences too.

`metafs.memory.explaining` makes one of what the MetaDB holds.
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
    """A neighbour that was asked."""

    rank: int
    problem: str
    distance: float
    share: float | None
    """Of the weight of all who were asked; None where no expectation was made of it."""


@dataclass(frozen=True)
class NeighbourPart:
    """What one neighbour said of one feature, by the best run it had."""

    problem: str
    distance: float
    share: float
    """Of the weight of all who were asked."""
    had: bool
    """Whether it had the feature."""
    selected: bool
    relative: float
    """Its score there, 1 for the best feature."""
    quality: float
    """As the learner earned it there."""
    part: float
    """What this added to the expectation."""


@dataclass(frozen=True)
class FrequencyPart:
    """A feature's record over all other problems, before the run."""

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
    """How strongly memory was believed by the model on all features, and why."""

    strength: float
    """0: not at all."""
    gain: float
    """By how much memory was expected to lower the loss."""
    reason: str


@dataclass(frozen=True)
class FeatureExplanation:
    """One feature of one run: measured, expected and why, and what became of it."""

    feature: str
    rank: int | None
    fate: str
    q: float | None
    """As the selector scored it."""
    relative: float | None
    """Its score here, 1 for the best feature."""
    quality: float | None
    """As the learner earned it here."""
    expected: float | None
    place: int | None = None
    """Its place among all features by expectation, 1 for the most expected."""
    neighbours: float | None = None
    """The part of the expectation that neighbours supplied; None if that cannot be told."""
    record: FrequencyPart | None = None
    judged: bool = False
    """Whether nobody had the feature, and it was expected by its meta-features."""
    adds_up: bool = True
    """Whether the parts come to what was stored."""
    said: tuple[NeighbourPart, ...] = ()
    """By each neighbour, the largest part first."""
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
        """Whether it survived."""
        return self.fate == SELECTED

    @property
    def strongest(self) -> NeighbourPart | None:
        """The neighbour that added most to the expectation, if one added anything."""
        return self.said[0] if self.said and self.said[0].part > 0 else None

    @property
    def by(self) -> str | None:
        """Who proposed it: the neighbour, or what else, that added most."""
        if self.judged:
            return "its kind"
        of_record = self.record.part if self.record else 0.0
        if self.strongest is not None and self.strongest.part >= of_record:
            return self.strongest.problem
        return "its record" if of_record > 0 else None

    def as_json(self) -> dict[str, Any]:
        """Return plain values, with who proposed the feature."""
        values = asdict(self) | {"by": self.by}
        values["steps"] = [{"step": step, "fitness": fitness} for step, fitness in self.steps]
        return values


@dataclass(frozen=True)
class Explanation:
    """What memory said before a run, and what became of some of the features."""

    run: Mapping[str, Any]
    """The run's columns, with name, space and fingerprint of its problem."""
    neighbours: tuple[RecalledNeighbour, ...]
    features: tuple[FeatureExplanation, ...]
    n_features: int
    """All that the run scored; those told of may be fewer."""
    n_solved: int = 0
    """Problems that the records rest on."""
    belief: Belief | None = None
    """None where memory knew no weights of these features."""

    @property
    def unassigned_share(self) -> float:
        """The share of the weight that stands for nobody, so that far problems promise little."""
        return max(0.0, 1.0 - sum(each.share or 0.0 for each in self.neighbours))

    @property
    def memory(self) -> str:
        """What part memory had in it, as a sentence."""
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
            "features": [each.as_json() for each in self.features],
        }


def memory_sentence(run: Mapping[str, Any], neighbours: tuple[RecalledNeighbour, ...]) -> str:
    """Say what part memory had in a run.

    Examples
    --------
    >>> memory_sentence({"transfer": "none", "prior_used": None}, ())
    "Memory was not asked: transfer 'none'."
    """
    transfer = run["transfer"]
    rule = TRANSFERS.get(transfer)
    if transfer in TRANSFERS and (rule is None or not rule.remembers):
        return f"Memory was not asked: transfer {transfer!r}."
    if not neighbours and run["prior_used"] is None:
        return "No relevant experience existed: no problem solved before shared anything with it."
    if run["prior_used"] is None:
        return f"Memory was asked in vain: selector {run['selector']!r} takes no expectations."
    if not neighbours:
        return "No problem solved before was near: memory went by what it knew of features."
    nearest = min(each.distance for each in neighbours)
    number = "1 problem was" if len(neighbours) == 1 else f"{len(neighbours)} problems were"
    doubt = ", too far to be trusted" if nearest > FAR and rule and rule.guides else ""
    return f"{number} asked, the nearest at distance {nearest:.3g}{doubt}."


def sentences(explanation: Explanation, feature: FeatureExplanation) -> list[str]:
    """Say what was measured of a feature, what was expected and why, and what became of it."""
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
        own = ": it was found by its own evidence." if feature.selected else "."
        return [f"Nobody proposed it{own}"]
    expected = f"{feature.expected:.4g} was expected of it"
    if feature.place is not None:
        expected += f", place {feature.place} of {explanation.n_features}"
    if feature.judged:
        return [f"{expected}, by its meta-features alone: nobody asked had met it before."]
    if feature.neighbours is None or feature.record is None:
        return [
            f"{expected}; this metafs does not know how, transfer {explanation.run['transfer']!r}."
        ]
    parts, record = [f"{feature.neighbours:.4g} from near problems"], feature.record
    rule = TRANSFERS.get(explanation.run["transfer"])
    if rule is not None and rule.guides:
        parts.append(f"{record.part:.4g} from its record")
    found = [f"{expected}: {' and '.join(parts)}."]
    found.append(
        f"Before, it had been selected in {record.n_selected} of the {record.n_problems} problems "
        f"that had it, of {explanation.n_solved} solved."
    )
    if not feature.adds_up:
        found.append(
            f"These parts come to {feature.neighbours + record.part:.4g}, not to what was stored: "
            "the memory has changed since, problems were solved side by side, or a prior was "
            "given by hand."
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
        where = f" Recorded sets with it: {len(steps)}, at evaluation {some}."
    if feature.selected:
        earned = f" and earned quality {feature.quality:.4g}" if feature.quality else ""
        return f"It was selected{earned}.{where}"
    if feature.fate == LEFT_OUT:
        return f"It was tried and did not survive.{where}"
    if feature.fate == NOT_KEPT:
        return "It was not selected: no recorded set had it, whether it was tried or not."
    return "It was not selected."
