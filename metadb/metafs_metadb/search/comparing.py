"""How problems are described and compared: signatures, and searches among them."""

from collections.abc import Collection

import numpy as np

from metafs_metadb import recall_queries
from metafs_metadb.files.file import MetaFile
from metafs_metadb.rows import Neighbour, Signature, Signatures
from metafs_metadb.search import signature_index
from metafs_metadb.search.memory_index import MemoryIndex
from metafs_metadb.search.nearest import SqlSearch


class Comparing(MetaFile):
    """The queries that find past problems like a new one."""

    def describes(self, space: str, distance: str) -> bool:
        """Tell whether problems of a space are described by a distance."""
        which = {"space": space, "distance": distance}
        return bool(self._table(recall_queries.DESCRIBES, which).rows[0][0])

    def distances(self, problem_id: int) -> list[str]:
        """Return the distances that a problem was described by."""
        return self._table(recall_queries.DISTANCES, {"problem_id": problem_id}).column("distance")

    def signature(self, problem_id: int, distance: str) -> Signature | None:
        """Return keys and probabilities of a problem's signature, or None if it has none."""
        which = {"problem_id": problem_id, "distance": distance}
        with self.reading() as con:
            found = con.execute(recall_queries.PROBLEM_SIGNATURE, which).fetchnumpy()
        keys, p = np.asarray(found["key"], np.uint64), np.asarray(found["p"], np.float64)
        return (keys, p) if len(keys) else None

    def signatures(
        self, distance: str, space: str, exclude_problem_ids: Collection[int] = ()
    ) -> Signatures:
        """Return the signatures of all problems that can be recalled, by problem_id."""
        with self.reading() as con:
            return signature_index.read(con, distance, space, exclude_problem_ids)

    def search(self, distance: str, space: str) -> SqlSearch:
        """Return the search among the signatures of a space that asks in SQL."""
        return SqlSearch(self, distance, space)

    def index(self, distance: str, space: str) -> MemoryIndex:
        """Return a faster search among the signatures of a space, in memory.

        That of a large memory is kept in the index cache for the next process.
        """
        with self.reading() as con:
            if (kept := self._index_cache.kept_index(con, distance, space)) is not None:
                return kept
            stamp = self._index_cache.look(con)
            signatures = signature_index.read(con, distance, space)
        self.end_visit()
        index = MemoryIndex(signatures)  # takes its time, while others may write
        self._index_cache.keep_index(index, stamp, distance, space, signatures.problem_id)
        return index

    def kept_index(self, distance: str, space: str) -> MemoryIndex | None:
        """Return the search in memory if the index cache has it, else None."""
        with self.reading() as con:
            return self._index_cache.kept_index(con, distance, space)

    def unrelated(
        self,
        space: str,
        k: int,
        known: Collection[int],
        *,
        exclude_fingerprint: str | None = None,
        exclude_name: str | None = None,
    ) -> list[Neighbour]:
        """Return the k solved problems of a space that came first, at distance 1.

        Those of `known` are left out, because they are nearer.
        """
        which = {
            "space": space,
            "k": k,
            "known": list(known),
            "exclude_fingerprint": exclude_fingerprint,
            "exclude_name": exclude_name,
        }
        return [Neighbour(*row) for row in self._table(recall_queries.UNRELATED, which).rows]

    def important_features(self, space: str, limit: int) -> tuple[list[str], int]:
        """Return the features selected in most of a space's problems, and how many these are."""
        found = self._table(recall_queries.IMPORTANT_FEATURES, {"space": space, "limit": limit})
        return found.column("name"), max(found.column("n_problems"), default=0)

    def projection(self, space: str, distance: str) -> list[str] | None:
        """Return the frozen features of a projected distance, or None if none are."""
        _, rows = self._table(recall_queries.PROJECTION, {"space": space, "distance": distance})
        return list(rows[0][0]) if rows else None
