"""Signatures over the features that matter most in a space, for distances that can be projected.

Signatures compare only under one list of features, so the list is frozen when it is made. It is
made of what was selected in at least `FEWEST_PROBLEMS` solved problems: one problem alone says
little about the others. Until then problems are described by all their features, and kept at hand,
as far as there is room, so that freezing can describe them by the list as well: the projection and
their new signatures are written together, and no reader sees one without the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from scipy.sparse import issparse

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.plugin.signature import Signature
from metafs_metadb import MetaDB

FEWEST_PROBLEMS = 5
"""A list is not made from fewer solved problems than these."""

PATIENCE = 20
"""After so many problems a list is made even if it is shorter than was asked for."""

ROOM = 2**28
"""Bytes of tables that are kept at hand until the list is made."""


@dataclass(frozen=True, eq=False)
class Described:
    """A signature, and the name under which the MetaDB keeps it."""

    distance: str
    signature: Signature
    whole: "Described | None" = None
    """The signature of all features, where problems are compared by some first."""

    def signatures(self) -> dict[str, tuple[Array, Array]]:
        """Return keys and probabilities by the names under which the MetaDB keeps them."""
        found = {self.distance: (self.signature.keys, self.signature.p)}
        return found if self.whole is None else found | self.whole.signatures()


class Projections:
    """Describes problems by the most selected features of their space, once these are known."""

    def __init__(self, db: MetaDB, distance: Any) -> None:
        self.db, self._distance = db, distance
        self._frozen: dict[tuple[str, str], list[str]] = {}
        self._waiting: dict[tuple[str, str], Problem] = {}  # by space and fingerprint

    def describe(
        self, problem: Problem, space: str, distance: str, n_features: int, fingerprint: str
    ) -> Described:
        """Return the projected signature, or that of all features while there is no list.

        The fingerprint is that under which the problem is recorded, of which this may be a part.
        """
        name = _name(distance, n_features)
        features = self._list(space, name) or self._freeze(space, name, n_features)
        if features is None:
            self._wait(problem, space, fingerprint)
            return Described(distance, self._distance.signature(problem))
        return Described(name, self._projected(problem, features))

    def wait(
        self, problem: Problem, space: str, distance: str, n_features: int, fingerprint: str
    ) -> None:
        """Keep a problem at hand, to describe it by the list that is yet to be made."""
        if self._list(space, _name(distance, n_features)) is None:
            self._wait(problem, space, fingerprint)

    def _wait(self, problem: Problem, space: str, fingerprint: str) -> None:
        self._waiting[space, fingerprint] = problem
        while sum(map(_size, self._waiting.values())) > ROOM:
            del self._waiting[next(iter(self._waiting))]

    def _list(self, space: str, name: str) -> list[str] | None:
        """Return the list if it is made."""
        if (space, name) not in self._frozen:
            found = self.db.projection(space, name)
            if found is None:
                return None
            self._frozen[space, name] = found
        return self._frozen[space, name]

    def _freeze(self, space: str, name: str, n_features: int) -> list[str] | None:
        """Make the list, if enough is known, and describe the waiting problems by it."""
        features, n_problems = self.db.important_features(space, n_features)
        few = len(features) < n_features and n_problems < PATIENCE
        if not features or few or n_problems < FEWEST_PROBLEMS:
            return None
        signatures = {}
        for own_space, fingerprint in list(self._waiting):
            if own_space == space:
                problem = self._waiting.pop((space, fingerprint))
                signature = self._projected(problem, features)
                signatures[fingerprint] = signature.keys, signature.p
        return self.db.freeze_projection(space, name, features, signatures)

    def _projected(self, problem: Problem, features: Sequence[str]) -> Signature:
        signature: Signature = replace(self._distance, features=tuple(features)).signature(problem)
        return signature


def _name(distance: str, n_features: int) -> str:
    return f"{distance}[{n_features}]"


def _size(problem: Problem) -> int:
    return int(problem.X.data.nbytes if issparse(problem.X) else problem.X.nbytes)
