"""What the best runs of a few problems taught about each feature they scored.

Three short questions instead of one join: which run speaks for each problem, what its rows say,
and how their features are called. Each reads only what it needs of tables that are in order of
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
    told = {}
    for problem_id in problem_ids:
        if problem_id in best:
            run_id, source = best[problem_id]
            found = con.execute(queries.SELECTIONS, {"run_id": run_id}).fetchnumpy()
            told[problem_id] = (run_id, source, found)
    names = _names(con, [found["feature_id"] for _, _, found in told.values()])
    return {
        problem_id: Experience(
            problem_id=problem_id,
            run_id=run_id,
            source=source,
            names=tuple(names[feature_id] for feature_id in found["feature_id"].tolist()),
            q=np.ma.filled(found["q"], np.nan),
            quality=np.ma.filled(found["quality"], np.nan),
            selected=np.asarray(found["selected"], bool),
        )
        for problem_id, (run_id, source, found) in told.items()
    }


def _names(
    con: duckdb.DuckDBPyConnection, feature_ids: Sequence[NDArray[np.int64]]
) -> dict[int, str]:
    """Return the name of each feature."""
    ids = np.unique(np.concatenate([np.empty(0, np.int64), *feature_ids]))
    if not len(ids):
        return {}
    con.register("incoming_id", {"feature_id": ids})
    bounds = {"first_id": int(ids[0]), "last_id": int(ids[-1])}
    return dict(con.execute(queries.FEATURE_NAMES, bounds).fetchall())
