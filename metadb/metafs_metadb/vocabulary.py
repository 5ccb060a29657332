"""The vocabulary: the id of each name in a space, found without reading a million names.

The index has two hashes of every feature, sorted, and its id: 24 bytes a feature. A name is known
by both, 128 bits: that any two of a million names share them has a chance below 10^-26. Features
that came after the index was made have larger ids, and only these are looked through by name,
until they are many enough to make it anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb import index_queries, queries
from metafs_metadb.divergence import spans
from metafs_metadb.stamp import Stamp

MOST_RECENT = 1 / 16  # share of features that may be looked through by name
FEWEST_TO_REBUILD = 8192


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The features up to `last_id` by their hashes."""

    stamp: Stamp
    last_id: int
    one: NDArray[np.uint64]  # ascending
    other: NDArray[np.uint64]
    ids: NDArray[np.int64]

    @classmethod
    def build(cls, con: duckdb.DuckDBPyConnection, stamp: Stamp) -> Self:
        """Hash all names of a database."""
        found = con.execute(index_queries.FEATURE_HASHES).fetchnumpy()
        one, other = (np.asarray(found[column], np.uint64) for column in ("one", "other"))
        ids = np.asarray(found["feature_id"], np.int64)
        return cls(stamp, int(ids.max(initial=0)), one, other, ids)

    @classmethod
    def of(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the vocabulary that was written down."""
        return cls(Stamp.of(about["stamp"]), int(about["last_id"]), **arrays)

    def about(self) -> dict[str, Any]:
        """Return what is to be written down beside the arrays."""
        return {"stamp": self.stamp.about(), "last_id": self.last_id}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be written down."""
        return {"one": self.one, "other": self.other, "ids": self.ids}

    def is_old(self, con: duckdb.DuckDBPyConnection) -> bool:
        """Tell whether so many features came since that it should be built anew."""
        ((last_id,),) = con.execute(index_queries.LAST_FEATURE).fetchall()
        return int(last_id) - self.last_id > max(FEWEST_TO_REBUILD, MOST_RECENT * self.last_id)

    def find(
        self, con: duckdb.DuckDBPyConnection, space: str
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return position and id of each name in `incoming_feature` that is known."""
        asked = con.execute(index_queries.INCOMING_HASHES, {"space": space}).fetchnumpy()
        begin = np.searchsorted(self.one, asked["one"], "left")
        counts = np.searchsorted(self.one, asked["one"], "right") - begin
        places = spans(begin, counts)
        positions = np.repeat(np.arange(len(counts)), counts)
        same = self.other[places] == asked["other"][positions]
        last = {"space": space, "last_id": self.last_id}
        recent = con.execute(index_queries.RECENT_IDS, last).fetchnumpy()
        return (
            np.concatenate([positions[same], recent["position"]]),
            np.concatenate([self.ids[places[same]], recent["feature_id"]]),
        )


def feature_ids(
    con: duckdb.DuckDBPyConnection, space: str, names: Sequence[str], known: Vocabulary | None
) -> NDArray[np.int64]:
    """Return the id of each name, 0 for one that the space does not have.

    The names stay registered as `incoming_feature`.
    """
    ids = np.zeros(len(names), np.int64)
    con.register("incoming_feature", {"name": texts(names), "position": np.arange(len(names))})
    if known is None:
        found = con.execute(queries.FEATURE_IDS, {"space": space}).fetchnumpy()
        positions, of_positions = found["position"], found["feature_id"]
    else:
        positions, of_positions = known.find(con, space)
    ids[positions] = of_positions
    return ids


def texts(values: Sequence[str]) -> NDArray[np.object_]:
    """Return texts as an array that DuckDB reads as texts, also when there are none."""
    found = np.empty(len(values), object)
    found[:] = [str(value) for value in values]
    return found
