"""The explanation of a problem in an experiment: what memory proposed, and the outcomes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from metafs.memory import MetaDB
from metafs.memory.explaining import explain_places
from metafs.plugin.prior import most_expected
from metafs.transfer.explanation import SELECTED, RecalledNeighbour

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


def why(db: MetaDB, problem: Mapping[str, Any]) -> Why | None:
    """Return the explanation of a problem's best run; None if it has none."""
    stored = db.stored_run(problem["problem_id"])
    if stored is None:
        return None
    places = most_expected(np.nan_to_num(stored.expected), MOST)
    found = explain_places(db, stored, places)
    return Why(
        found.memory,
        found.neighbours,
        tuple(
            Proposed(
                each.feature,
                each.expected or 0.0,
                each.by,
                each.strongest.distance
                if each.strongest is not None and each.by == each.strongest.problem
                else None,
                each.relative,
                each.fate,
            )
            for each in found.features
        ),
    )
