"""The vocabulary: the id of each name in a space, found without reading a million names.

The index has two hashes of every feature, sorted, and its id: 24 bytes a feature. A name is known
by both, 128 bits: that any two of a million names share them has a chance below 10^-26. Features
that came after the index was made have larger ids, and only these are looked through by name,
until they are many enough to make it anew.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb import index_queries, recall_queries
from metafs_metadb.divergence import spans
from metafs_metadb.stamp import Stamp

MOST_RECENT = 1 / 16  # share of features that may be looked through by name
FEWEST_TO_REBUILD = 8192

MOST_AT_HAND = 2**17  # names that a process remembers by themselves, at some 300 bytes each


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
        """Return what is written to the header of the file."""
        return {"stamp": self.stamp.about(), "last_id": self.last_id}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be written down."""
        return {"one": self.one, "other": self.other, "ids": self.ids}

    def is_old(self, n_features: int) -> bool:
        """Tell whether so many features came since that it should be built anew."""
        n_indexed = len(self.ids)
        return n_features - n_indexed > max(FEWEST_TO_REBUILD, MOST_RECENT * n_indexed)

    def find(self, con: duckdb.DuckDBPyConnection, space: str) -> NDArray[np.int64]:
        """Return the id of each name in `incoming_feature`, 0 for one that is new."""
        which = {"space": space, "last_id": self.last_id}
        asked = con.execute(index_queries.INCOMING_HASHES, which).fetchnumpy()
        begin = np.searchsorted(self.one, asked["one"], "left")
        counts = np.searchsorted(self.one, asked["one"], "right") - begin
        places = spans(begin, counts)
        positions = np.repeat(np.arange(len(counts)), counts)
        same = self.other[places] == asked["other"][positions]
        ids = np.array(asked["recent_id"], np.int64)
        ids[positions[same]] = self.ids[places[same]]
        return ids


class NamesAtHand:
    """Names that a process has asked for or recorded, and their ids, while nobody else writes.

    A stream asks for the same names again and again, also for those that are new: once to know
    what to expect of them, once more to record them.
    """

    def __init__(self) -> None:
        self._ids: dict[tuple[str, str], int] = {}  # by space and name
        self._names: dict[int, str] = {}

    def ids(self, space: str, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the id of each name, 0 for one that is new, -1 for one that is not at hand."""
        return np.array([self._ids.get((space, name), -1) for name in names], np.int64)

    def names(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the names of those ids that are at hand."""
        return {each: self._names[each] for each in ids if each in self._names}

    def keep(self, space: str, names: Sequence[str], ids: NDArray[np.int64]) -> None:
        """Have names at hand from now on, with their ids, 0 for a new one."""
        known = zip(ids.tolist(), names, strict=True)
        self.keep_all((feature_id, space, name) for feature_id, name in known)

    def keep_all(self, features: Iterable[tuple[int, str, str]]) -> None:
        """Have features at hand from now on, each an id, a space and a name."""
        for feature_id, space, name in features:
            self._ids[space, name] = feature_id
            if feature_id:
                self._names[feature_id] = name
        if len(self._ids) > MOST_AT_HAND:
            self.forget()

    def forget(self) -> None:
        """Have nothing at hand."""
        self._ids.clear()
        self._names.clear()


def feature_ids(
    con: duckdb.DuckDBPyConnection, space: str, names: Sequence[str], known: Vocabulary | None
) -> NDArray[np.int64]:
    """Return the id of each name, 0 for one that the space does not have.

    The names stay registered as `incoming_feature`.
    """
    con.register("incoming_feature", {"name": texts(names), "position": np.arange(len(names))})
    if known is not None:
        return known.find(con, space)
    ids = np.zeros(len(names), np.int64)
    found = con.execute(recall_queries.FEATURE_IDS, {"space": space}).fetchnumpy()
    ids[found["position"]] = found["feature_id"]
    return ids


def features(
    con: duckdb.DuckDBPyConnection, feature_ids: NDArray[np.int64]
) -> list[tuple[int, str, str]]:
    """Return id, space and name of features, given their ids in ascending order."""
    if not len(feature_ids):
        return []
    con.register("incoming_id", {"feature_id": feature_ids})
    bounds = {"first_id": int(feature_ids[0]), "last_id": int(feature_ids[-1])}
    return con.execute(recall_queries.FEATURES_BY_ID, bounds).fetchall()


def texts(values: Sequence[str]) -> NDArray[np.object_]:
    """Return texts as an array that DuckDB reads as texts, also when there are none."""
    found = np.empty(len(values), object)
    found[:] = [str(value) for value in values]
    return found
