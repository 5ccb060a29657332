r"""Two stages of a distance: by some features first, by all features only where that is small.

Rows that are equal in all features are equal in some, so the divergence of what is left of two
distributions is at most that of the whole, and

.. math:: d_{some}(D, D') \ge t \;\Rightarrow\; d(D, D') \ge t

Problems that are no nearer than t by some features need no second look, if k others are.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021, section 4.8.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from metafs.plugin.signature import Signature
from metafs_metadb import MetaDB, Neighbour


class WholeDistances:
    """Compares problems by all their features, one by one; signatures once read stay at hand."""

    def __init__(self, db: MetaDB, distance: Any) -> None:
        self.db, self._distance = db, distance
        self._known: dict[tuple[int, str], Signature] = {}
        self.n_compared = 0
        """Comparisons so far."""

    def of(self, asked: Signature, near: Iterable[Neighbour], name: str) -> list[Neighbour]:
        """Return problems with their distance by all features, the nearest first.

        Problems that were never described so, or share nothing, are left out. `name` is the one
        under which the MetaDB keeps these signatures.
        """
        found = []
        for each in near:
            signature = self._signature(each.problem_id, name)
            if signature is not None:
                self.n_compared += 1
                found.append(replace(each, distance=self._distance.distance(asked, signature)))
        found = [each for each in found if each.distance < 1.0]
        return sorted(found, key=lambda each: (round(each.distance, 12), each.problem_id))

    def _signature(self, problem_id: int, name: str) -> Signature | None:
        if (problem_id, name) not in self._known:
            stored = self.db.signature(problem_id, name)
            if stored is None:
                return None
            self._known[problem_id, name] = Signature(*stored)
        return self._known[problem_id, name]
