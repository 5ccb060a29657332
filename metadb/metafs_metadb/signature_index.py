"""Signatures read from the database, and the structure built of them kept in a file.

A kept structure lacks the problems that were solved since. These are read and added one by one,
as in a stream, unless they are so many that all is better built anew. Names and fingerprints are
always read: a problem may be renamed.
"""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Self

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb import index_queries, queries
from metafs_metadb.memory_index import MemoryIndex, most_recent
from metafs_metadb.rows import Signatures, Signed
from metafs_metadb.stamp import Stamp
from metafs_metadb.structure import Structure


def file_name(distance: str, space: str) -> str:
    """Return a name for the file of a distance in a space, whatever these are called."""
    digest = hashlib.sha256(f"{len(distance)} {distance}{space}".encode()).hexdigest()
    return f"signatures-{digest[:16]}"


def read(
    con: duckdb.DuckDBPyConnection,
    distance: str,
    space: str,
    exclude_problem_ids: Collection[int] = (),
) -> Signatures:
    """Return the signatures of all problems that can be recalled, by problem_id."""
    which = {"distance": distance, "space": space}
    problems = con.execute(queries.SIGNED_PROBLEMS, which).fetchall()
    found = con.execute(queries.SIGNATURES, which).fetchnumpy()
    problems = [row for row in problems if row[0] not in exclude_problem_ids]
    ids = np.array([row[0] for row in problems], np.int64)
    owner = np.asarray(found["problem_id"], np.int64)
    keys, p = np.asarray(found["key"], np.uint64), np.asarray(found["p"], np.float64)
    if exclude_problem_ids or np.any(owner[1:] < owner[:-1]):
        order = np.argsort(owner, kind="stable")
        if exclude_problem_ids:
            order = order[np.isin(owner[order], ids)]
        owner, keys, p = owner[order], keys[order], p[order]
    return Signatures(
        problem_id=ids,
        names=tuple(row[1] for row in problems),
        fingerprints=tuple(row[2] for row in problems),
        starts=np.append(np.searchsorted(owner, ids), len(owner)).astype(np.int64),
        keys=keys,
        p=p,
    )


@dataclass(frozen=True, eq=False)
class KeptSignatures:
    """The structure over the problems of a space, as of a stamp."""

    stamp: Stamp
    distance: str
    space: str
    problem_id: NDArray[np.int64]
    structure: Structure

    @classmethod
    def of(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the structure that was written down."""
        return cls(
            Stamp.of(about["stamp"]),
            about["distance"],
            about["space"],
            arrays["problem_id"],
            Structure.of(arrays),
        )

    def about(self) -> dict[str, Any]:
        """Return what is to be written down beside the arrays."""
        return {"stamp": self.stamp.about(), "distance": self.distance, "space": self.space}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be written down."""
        return {"problem_id": self.problem_id, **self.structure.arrays()}

    def caught_up(self, con: duckdb.DuckDBPyConnection) -> MemoryIndex | None:
        """Return the index with what was solved since; None if that is too much."""
        since = {"run_id": self.stamp.run_id, "space": self.space}
        found = con.execute(index_queries.SOLVED_SINCE, since).fetchnumpy()["problem_id"]
        counts = [np.searchsorted(self.problem_id, found, side) for side in ("left", "right")]
        new = np.asarray(found, np.int64)[counts[0] == counts[1]]
        if len(new) >= most_recent(len(self.problem_id)):
            return None
        problems = con.execute(index_queries.PROBLEMS, {"space": self.space}).fetchnumpy()
        index = MemoryIndex.of(_signed(problems, self.problem_id), self.structure)
        if not len(new):
            return index
        con.register("incoming_problem", {"problem_id": new})
        bounds = {"first_id": int(new[0]), "last_id": int(new[-1]), "distance": self.distance}
        rows = con.execute(index_queries.SIGNATURES_OF, bounds).fetchnumpy()
        added, starts = np.unique(rows["problem_id"], return_index=True)
        keys = np.split(np.asarray(rows["key"], np.uint64), starts[1:])
        p = np.split(np.asarray(rows["p"], np.float64), starts[1:])
        signed = _signed(problems, added)
        for row, problem_id in enumerate(added.tolist()):
            index.add(problem_id, signed.names[row], signed.fingerprints[row], keys[row], p[row])
        return index


def _signed(problems: Mapping[str, Any], problem_id: NDArray[np.int64]) -> Signed:
    """Return names and fingerprints of problems, in their order."""
    order = np.argsort(problems["problem_id"])
    places = order[np.searchsorted(problems["problem_id"], problem_id, sorter=order)]
    names, fingerprints = (problems[column][places] for column in ("name", "fingerprint"))
    return Signed(problem_id, tuple(names.tolist()), tuple(fingerprints.tolist()))
