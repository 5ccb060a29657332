r"""Finding the nearest problems: one question, and its answer by SQL.

.. math:: JSD(p, q) = 1 - \tfrac12 \sum_{k \in p \cap q}
    \big[(p_k+q_k)\log_2(p_k+q_k) - p_k\log_2 p_k - q_k\log_2 q_k\big],
    \qquad d = \sqrt{JSD}

Only keys that both problems have appear in the sum, so the nearest of all are one join. Problems
that share no key (d = 1) are never neighbours. Neighbours come ordered by JSD, rounded to 12
digits so that ties are ties however the sum was taken, then by problem_id.
"""

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from metafs_metadb import recall_queries
from metafs_metadb.files.file import MetaFile
from metafs_metadb.rows import Neighbour


class NeighbourSearch(Protocol):
    """Whoever can name the k nearest solved problems, exactly."""

    def nearest(
        self,
        keys: NDArray[np.uint64],
        p: NDArray[np.float64],
        k: int,
        *,
        exclude_fingerprint: str | None = None,
        exclude_name: str | None = None,
    ) -> list[Neighbour]:
        """Return the k problems nearest to the distribution `keys` -> `p`, nearest first."""
        ...

    def add(
        self,
        problem_id: int,
        name: str,
        fingerprint: str,
        keys: NDArray[np.uint64],
        p: NDArray[np.float64],
    ) -> None:
        """Let the search find a problem that has been recorded since it was made."""
        ...


class SqlSearch:
    """The search as one SQL join: nothing in memory, always up to date."""

    def __init__(self, db: MetaFile, distance: str, space: str) -> None:
        self.db = db
        self.distance = distance
        self.space = space

    def nearest(
        self,
        keys: NDArray[np.uint64],
        p: NDArray[np.float64],
        k: int,
        *,
        exclude_fingerprint: str | None = None,
        exclude_name: str | None = None,
    ) -> list[Neighbour]:
        """Return the k problems nearest to the distribution `keys` -> `p`, nearest first."""
        incoming = {"key": np.asarray(keys, np.uint64), "p": np.asarray(p, np.float64)}
        values = {
            "distance": self.distance,
            "space": self.space,
            "k": k,
            "exclude_fingerprint": exclude_fingerprint,
            "exclude_name": exclude_name,
        }
        with self.db.reading() as con:
            con.register("incoming_signature", incoming)
            rows = con.execute(recall_queries.NEAREST, values).fetchall()
        return [
            Neighbour(problem_id, name, math.sqrt(divergence), fingerprint)
            for problem_id, name, divergence, fingerprint in rows
        ]

    def add(
        self,
        problem_id: int,
        name: str,
        fingerprint: str,
        keys: NDArray[np.uint64],
        p: NDArray[np.float64],
    ) -> None:
        """Do nothing: what has been recorded is in the table already."""
