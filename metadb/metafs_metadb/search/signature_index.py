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

from metafs_metadb.rows import Signatures, Signed
from metafs_metadb.search import index_queries
from metafs_metadb.search.memory_index import MemoryIndex, most_recent
from metafs_metadb.search.stamp import Stamp
from metafs_metadb.search.structure import Structure

CHUNK = 8192  # problems whose signatures are read at a time


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
    """Return the signatures of all problems that can be recalled, by problem_id.

    They are read some at a time: what DuckDB hands over is not in memory twice.
    """
    problems = con.execute(index_queries.RECALLABLE, {"space": space}).fetchnumpy()
    ids = np.sort(np.asarray(problems["problem_id"], np.int64))
    ids = ids[~np.isin(ids, list(exclude_problem_ids))]
    con.register("incoming_problem", {"problem_id": ids})
    ((n,),) = con.execute(index_queries.COUNT_SIGNATURES, {"distance": distance}).fetchall()
    keys, p, lengths = np.empty(n, np.uint64), np.empty(n), np.zeros(len(ids), np.int64)
    end = 0
    for begin in range(0, len(ids), CHUNK):
        owner, of_keys, of_p = _rows_of(con, distance, ids[begin : begin + CHUNK])
        lengths += np.bincount(np.searchsorted(ids, owner), minlength=len(ids))
        part = slice(end, end + len(owner))
        keys[part], p[part] = of_keys, of_p
        end += len(owner)
    signed = _signed(problems, ids[lengths > 0])
    starts = np.append(0, np.cumsum(lengths[lengths > 0]))
    return Signatures(**vars(signed), starts=starts, keys=keys, p=p)


def _rows_of(
    con: duckdb.DuckDBPyConnection, distance: str, ids: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.float64]]:
    """Return owners, keys and probabilities of some signatures, in order of their owners."""
    con.register("incoming_problem", {"problem_id": ids})
    bounds = {"first_id": int(ids[0]), "last_id": int(ids[-1]), "distance": distance}
    found = con.execute(index_queries.SIGNATURES_OF, bounds).fetchnumpy()
    owner, keys, p = (np.asarray(found[column]) for column in ("problem_id", "key", "p"))
    if np.any(owner[1:] < owner[:-1]):
        order = np.argsort(owner, kind="stable")
        owner, keys, p = owner[order], keys[order], p[order]
    return owner, keys, p


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
        """Return what is written to the header of the file."""
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
        owner, keys, p = _rows_of(con, self.distance, new)
        added, starts = np.unique(owner, return_index=True)
        signed = _signed(problems, added)
        parts = zip(np.split(keys, starts[1:]), np.split(p, starts[1:]), strict=False)
        for row, (of_keys, of_p) in zip(range(len(added)), parts, strict=False):
            index.add(int(added[row]), signed.names[row], signed.fingerprints[row], of_keys, of_p)
        return index


def _signed(problems: Mapping[str, Any], problem_id: NDArray[np.int64]) -> Signed:
    """Return names and fingerprints of problems, in their order."""
    order = np.argsort(problems["problem_id"])
    places = order[np.searchsorted(problems["problem_id"], problem_id, sorter=order)]
    names, fingerprints = (problems[column][places] for column in ("name", "fingerprint"))
    return Signed(problem_id, tuple(names.tolist()), tuple(fingerprints.tolist()))
