"""The best runs of a few problems, with the values of each feature they scored.

Three short queries instead of one join: the best run of each problem, their rows,
and how the features are called. Each reads only what it needs of tables that are in order of
their ids, so the time hardly grows with what is stored.
"""

from collections.abc import Sequence

import duckdb
import numpy as np

from metafs_metadb import recall_queries
from metafs_metadb.features.feature_names import names_of
from metafs_metadb.rows import Experience


def read(
    con: duckdb.DuckDBPyConnection,
    problem_ids: Sequence[int],
    before: int | None = None,
) -> dict[int, Experience]:
    """Return what the best run of each problem recorded of its features, in the order asked."""
    if not problem_ids:
        return {}
    asked = {"problem_ids": list(problem_ids), "before": before}
    best: dict[int, tuple[int, str]] = {}
    for problem_id, run_id, source in con.execute(recall_queries.RUNS_BEST_FIRST, asked).fetchall():
        best.setdefault(problem_id, (run_id, source))
    runs = [run_id for run_id, _ in best.values()]
    found = con.execute(recall_queries.SELECTIONS, {"run_ids": runs}).fetchnumpy()
    names = names_of(con, np.unique(found["feature_id"]))
    order = np.argsort(found["run_id"], kind="stable")
    in_order = found["run_id"][order]

    def best_run(problem_id: int, run_id: int, source: str) -> Experience:
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

    return {each: best_run(each, *best[each]) for each in problem_ids if each in best}
