"""Features by name and by id: one query for all that a problem asks for."""

from collections.abc import Sequence

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb import recall_queries


def feature_ids(
    con: duckdb.DuckDBPyConnection, space: str, names: Sequence[str]
) -> NDArray[np.int64]:
    """Return the id of each name, 0 for one that the space does not have.

    The names stay registered as `incoming_feature`.
    """
    con.register("incoming_feature", {"name": texts(names), "position": np.arange(len(names))})
    ids = np.zeros(len(names), np.int64)
    found = con.execute(recall_queries.FEATURE_IDS, {"space": space}).fetchnumpy()
    ids[found["position"]] = found["feature_id"]
    return ids


def names_of(con: duckdb.DuckDBPyConnection, feature_ids: NDArray[np.int64]) -> dict[int, str]:
    """Return the names of features, given their ids in ascending order."""
    if not len(feature_ids):
        return {}
    con.register("incoming_id", {"feature_id": feature_ids})
    bounds = {"first_id": int(feature_ids[0]), "last_id": int(feature_ids[-1])}
    return dict(con.execute(recall_queries.FEATURES_BY_ID, bounds).fetchall())


def texts(values: Sequence[str]) -> NDArray[np.object_]:
    """Return texts as an array that DuckDB reads as texts, also when there are none."""
    found = np.empty(len(values), object)
    found[:] = [str(value) for value in values]
    return found
