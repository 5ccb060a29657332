"""What the best runs of a few problems taught about each feature they scored.

Three short questions instead of one join: which run speaks for each problem, what their rows say,
and how the features are called. Each reads only what it needs of tables that are in order of
their ids, so the time hardly grows with what is stored.
"""

from collections.abc import Sequence

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb import queries
from metafs_metadb.rows import Experience


def read(
    con: duckdb.DuckDBPyConnection, problem_ids: Sequence[int], before: int | None = None
) -> dict[int, Experience]:
    """Return what the best run of each problem taught, in the order asked."""
    asked = {"problem_ids": list(problem_ids), "before": before}
    best = {row[0]: row[1:] for row in con.execute(queries.BEST_RUNS, asked).fetchall()}
    runs = [run_id for run_id, _ in best.values()]
    found = con.execute(queries.SELECTIONS, {"run_ids": runs}).fetchnumpy()
    names = _names(con, found["feature_id"])
    order = np.argsort(found["run_id"], kind="stable")
    in_order = found["run_id"][order]

    def taught(problem_id: int, run_id: int, source: str) -> Experience:
        rows = order[slice(*np.searchsorted(in_order, [run_id, run_id + 1]))]
        return Experience(
            problem_id=problem_id,
            run_id=run_id,
            source=source,
            names=tuple(names[feature_id] for feature_id in found["feature_id"][rows].tolist()),
            q=np.ma.filled(found["q"][rows], np.nan),
            quality=np.ma.filled(found["quality"][rows], np.nan),
            selected=np.asarray(found["selected"][rows], bool),
        )

    return {each: taught(each, *best[each]) for each in problem_ids if each in best}


def _names(con: duckdb.DuckDBPyConnection, feature_ids: NDArray[np.int64]) -> dict[int, str]:
    """Return the name of each feature."""
    ids = np.unique(feature_ids)
    if not len(ids):
        return {}
    con.register("incoming_id", {"feature_id": ids})
    bounds = {"first_id": int(ids[0]), "last_id": int(ids[-1])}
    return dict(con.execute(queries.FEATURE_NAMES, bounds).fetchall())
