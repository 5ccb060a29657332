"""Search by a distance that the MetaDB cannot compute: every stored problem is compared."""

from dataclasses import replace
from typing import Any

from metafs.plugin.signature import Signature
from metafs_metadb import MetaDB, Neighbour


class PluginSearch:
    """The stored signatures of one distance and space, compared by the plugin."""

    def __init__(self, db: MetaDB, distance: Any, name: str, space: str) -> None:
        self._distance = distance
        self._stored: dict[int, tuple[Neighbour, Signature]] = {}
        stored = db.signatures(name, space)
        for row, problem_id in enumerate(stored.problem_id.tolist()):
            part = slice(stored.starts[row], stored.starts[row + 1])
            self.add(
                problem_id,
                stored.names[row],
                stored.fingerprints[row],
                stored.keys[part],
                stored.p[part],
            )

    def add(self, problem_id: int, name: str, fingerprint: str, keys: Any, p: Any) -> None:
        """Add a problem that was recorded after the search was built."""
        found = Neighbour(problem_id, name, 0.0, fingerprint)
        self._stored[problem_id] = (found, Signature(keys, p))

    def nearest(
        self,
        keys: Any,
        p: Any,
        k: int,
        *,
        exclude_fingerprint: str | None = None,
        exclude_name: str | None = None,
    ) -> list[Neighbour]:
        """Return the k nearest problems, those at distance 1 left out."""
        asked = Signature(keys, p)
        near = [
            replace(stored, distance=self._distance.distance(asked, signature))
            for stored, signature in self._stored.values()
            if stored.fingerprint != exclude_fingerprint and stored.name != exclude_name
        ]
        near = [each for each in near if each.distance < 1.0]
        return sorted(near, key=lambda each: (round(each.distance, 12), each.problem_id))[:k]
