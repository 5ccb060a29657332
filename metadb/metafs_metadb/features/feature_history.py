"""The history of features: in how many problems of a space each was scored, and selected.

The best run of every solved problem counts. Counts are whole numbers, so what was added can be
subtracted again (`feature_sums`).
"""

from collections.abc import Mapping

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb.features import history_queries as queries
from metafs_metadb.rows import FeatureHistory

Totals = NDArray[np.int64]  # a row for each feature, with the columns TOTALS

TOTALS = ("n_problems", "n_selected")


def read(
    con: duckdb.DuckDBPyConnection,
    ids: NDArray[np.int64],
    space: str,
    *,
    before: int | None = None,
    exclude_fingerprint: str | None = None,
    exclude_name: str | None = None,
    exclude_source: str | None = None,
) -> FeatureHistory:
    """Return the history of each feature by SQL alone, also as it was before a run."""
    which = {
        "space": space,
        "before": before,
        "exclude_fingerprint": exclude_fingerprint,
        "exclude_name": exclude_name,
        "exclude_source": exclude_source,
    }
    con.register("incoming_id", {"feature_id": ids, "position": np.arange(len(ids))})
    ((n_solved,),) = con.execute(queries.N_SOLVED, which).fetchall()
    found = con.execute(queries.FEATURE_HISTORY, which).fetchnumpy()
    of_each = np.zeros((len(ids), len(TOTALS)), np.int64)
    of_each[np.asarray(found["position"], np.int64)] = columns_of(found)
    return FeatureHistory(int(n_solved), *of_each.T)


def columns_of(found: Mapping[str, NDArray[np.int64]]) -> Totals:
    """Return the totals among the columns of an answer."""
    return np.column_stack([np.asarray(found[name], np.int64) for name in TOTALS])
