"""The arms of an experiment: the same search without memory, with a ranking, and with memory.

An arm is a transfer under the name it has in an experiment. ``cold`` is the published climb from
the empty set. ``cold-ranked`` orders the search by univariate relevance: it has no memory, and is
the control that memory must beat. All others use memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from metafs.errors import UsageError
from metafs.transfer.expectation import TRANSFERS

COLD = "cold"
RANKED = "cold-ranked"
WITHOUT_MEMORY: Mapping[str, str] = {"none": COLD, "ranked": RANKED}
"""Transfers without memory have other names as arms."""
DEFAULT = (COLD, RANKED, "paper", "guided")
DESCRIPTIONS: Mapping[str, str] = {
    COLD: "no memory: the published search from the empty set. All others are compared with it.",
    RANKED: "no memory: tries the features with the highest univariate relevance first. "
    "This is what memory has to beat.",
    "paper": "memory as published: starts from the features that similar problems selected.",
    "guided": "tries the features with the highest priority first: by similar problems, by "
    "selection frequency over all problems and by univariate relevance.",
}
"""What each arm does, for readers of the page."""


@dataclass(frozen=True)
class Arm:
    """One way to search, by the name of its transfer.

    Examples
    --------
    >>> Arm("paper").name, Arm("paper").remembers
    ('paper', True)
    >>> Arm("none").name, Arm("none").remembers
    ('cold', False)
    """

    transfer: str

    @property
    def name(self) -> str:
        """The name of the arm."""
        return WITHOUT_MEMORY.get(self.transfer, self.transfer)

    @property
    def remembers(self) -> bool:
        """Whether it uses memory, so that the order of problems matters."""
        rule = TRANSFERS[self.transfer]
        return rule is not None and rule.remembers


def explained(arms: Sequence[Arm]) -> Arm | None:
    """Return the arm whose memory is explained: guided, or else the last that remembers.

    Examples
    --------
    >>> explained([Arm("none"), Arm("guided"), Arm("paper")])
    Arm(transfer='guided')
    """
    remembering = [arm for arm in arms if arm.remembers]
    guided = [arm for arm in remembering if arm.name == "guided"]
    return next(reversed(guided or remembering), None)


def known_arms() -> dict[str, Arm]:
    """Return every arm by its name: one for each transfer there is."""
    return {arm.name: arm for arm in map(Arm, TRANSFERS)}


def arms_named(names: Sequence[str] = ()) -> tuple[Arm, ...]:
    """Return the arms of these names, each once; cold is always among them, and the first.

    Without names they are those of `DEFAULT`.

    Examples
    --------
    >>> [arm.name for arm in arms_named(["paper"])]
    ['cold', 'paper']
    """
    known = known_arms()
    wanted = dict.fromkeys([COLD, *(names or DEFAULT)])
    for name in wanted:
        if name not in known:
            near = get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."
            raise UsageError(f"there is no arm named {name!r}: {hint}")
    return tuple(known[name] for name in wanted)
