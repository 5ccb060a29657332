"""Which past problems a new one is like: it is described, and compared with those of its space."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.memory.plugin_search import PluginSearch
from metafs.memory.projection import Described, Projections
from metafs.memory.whole_distances import WholeDistances
from metafs.plugin.signature import DescribedOtherwise
from metafs_metadb import MetaDB, Neighbour, NeighbourSearch

EVERY = 2**31
"""As many neighbours as there are."""


class NearProblems:
    """Descriptions of problems by one distance plugin, and searches among them.

    Parameters
    ----------
    db : MetaDB
        The file.
    distance : object
        The distance plugin that describes problems.
    in_memory : bool
        Whether searches load the signatures instead of asking in SQL.
    """

    def __init__(self, db: MetaDB, distance: Any, *, in_memory: bool) -> None:
        self._db, self._distance, self._in_memory = db, distance, in_memory
        self._searches: dict[tuple[str, str], NeighbourSearch] = {}
        self._earlier: dict[tuple[str, str], bool] = {}
        self._projections = Projections(db, distance)
        self._whole_distances = WholeDistances(db, distance)

    def describe(
        self,
        problem: Problem,
        distance: str,
        project: int | None = None,
        *,
        whole: bool = False,
        fingerprint: str | None = None,
    ) -> Described:
        """Turn a problem into its signature, over all features or over the most selected ones.

        With `whole` the one over the most selected features comes with that over all. The
        fingerprint is that of the problem to be recorded, if this is only a part of it.
        """
        if project is None:
            return Described(distance, self._distance.signature(problem))
        found = self._projections.describe(
            problem, problem.own_space, distance, project, fingerprint or problem.fingerprint
        )
        if not whole or found.distance == distance:
            return found
        return replace(found, whole=Described(distance, self._distance.signature(problem)))

    def recall_below(
        self,
        problem: Problem,
        described: Described,
        k: int,
        below: float,
        *,
        exclude_name: str | None = None,
    ) -> list[Neighbour]:
        """Return the k nearest problems by all features among those nearer than `below` by some.

        While there is no list of features to look at first, all problems are compared.
        """
        if described.whole is None:
            return self.recall(problem, described, k, exclude_name=exclude_name)
        near = self.recall(problem, described, EVERY, exclude_name=exclude_name)
        near = [each for each in near if each.distance < below]
        whole = described.whole
        return self._whole_distances.of(whole.signature, near, whole.distance)[:k]

    def recall(
        self, problem: Problem, described: Described, k: int, *, exclude_name: str | None = None
    ) -> list[Neighbour]:
        """Return the k nearest solved problems of the same space, never the problem itself.

        Problems that an older metafs described otherwise are compared as they were then.
        """
        found: dict[int, Neighbour] = {}
        for asked in (described, *self._described_earlier(problem, described.distance)):
            near = self._search(asked.distance, problem.own_space).nearest(
                asked.signature.keys,
                asked.signature.p,
                k,
                exclude_fingerprint=problem.fingerprint,
                exclude_name=exclude_name,
            )
            found = {each.problem_id: each for each in near} | found
        return sorted(found.values(), key=lambda each: (each.distance, each.problem_id))[:k]

    def with_unrelated(
        self, problem: Problem, near: list[Neighbour], k: int, *, exclude_name: str | None = None
    ) -> list[Neighbour]:
        """Return k neighbours: those given, then solved problems that share nothing with this one.

        These are at distance 1; the ones that were solved first are taken.
        """
        if len(near) >= k:
            return near[:k]
        return near + self._db.unrelated(
            problem.own_space,
            k - len(near),
            [each.problem_id for each in near],
            exclude_fingerprint=problem.fingerprint,
            exclude_name=exclude_name,
        )

    def wait_for_projection(
        self, problem: Problem, distance: str, project: int, fingerprint: str
    ) -> None:
        """Let a problem that was solved before be described by the features yet to be chosen."""
        self._projections.wait(problem, problem.own_space, distance, project, fingerprint)

    def add(
        self, problem: Problem, problem_id: int, signatures: Mapping[str, tuple[Array, Array]]
    ) -> None:
        """Let the searches that are open find a problem that was recorded."""
        for distance, (keys, p) in signatures.items():
            search = self._searches.get((distance, problem.own_space))
            if search is not None:
                search.add(problem_id, problem.name, problem.fingerprint, keys, p)

    def _described_earlier(self, problem: Problem, distance: str) -> list[Described]:
        """Describe a problem as older memories were, if this one holds such signatures."""
        if not isinstance(self._distance, DescribedOtherwise):
            return []
        distances = self._distance.earlier
        space = problem.own_space
        for name in distances:
            if (name, space) not in self._earlier:
                self._earlier[name, space] = self._db.describes(space, name)
        return [
            Described(name, each.signature(problem))
            for name, each in distances.items()
            if name != distance and self._earlier[name, space]
        ]

    def _search(self, distance: str, space: str) -> NeighbourSearch:
        if (distance, space) not in self._searches:
            if not self._distance.in_sql:
                search: NeighbourSearch = PluginSearch(self._db, self._distance, distance, space)
            elif self._in_memory:
                search = self._db.index(distance, space)
            else:
                search = self._db.kept_index(distance, space) or self._db.search(distance, space)
            self._searches[distance, space] = search
        return self._searches[distance, space]
