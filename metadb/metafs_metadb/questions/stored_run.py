"""One run as it was stored, and the history before it: enough to explain its expectations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb import recall_queries
from metafs_metadb.features import feature_history
from metafs_metadb.features.feature_names import feature_ids
from metafs_metadb.models import learner_candidates
from metafs_metadb.models.learner_candidates import LearnerCandidate
from metafs_metadb.questions import explain_queries
from metafs_metadb.rows import FeatureHistory, Neighbour


@dataclass(frozen=True, eq=False)
class StoredRun:
    """A run with all its rows; features come by rank."""

    run: dict[str, Any]  # column -> value, with name, space and fingerprint of the problem
    names: tuple[str, ...]
    rank: NDArray[np.float64]  # nan where unknown, as in all that follow
    q: NDArray[np.float64]
    quality: NDArray[np.float64]
    expected: NDArray[np.float64]
    selected: NDArray[np.bool_]
    neighbours: tuple[Neighbour, ...]  # nearest first
    candidates: tuple[tuple[int, tuple[int, ...], float | None], ...]  # step, places, fitness
    weight: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))  # with memory
    from_memory: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))  # its part
    programs: tuple[LearnerCandidate, ...] = ()  # that the learner kept, the best of each output


def read(con: duckdb.DuckDBPyConnection, problem_id: int, run_id: int | None) -> StoredRun | None:
    """Return a run of a problem, by default its best, or None if there is no such run."""
    which = {"problem_id": problem_id, "run_id": run_id}
    found = con.execute(explain_queries.RUN_OF_PROBLEM, which)
    columns = [column[0] for column in found.description or ()]
    runs = found.fetchall()
    if not runs:
        return None
    run = dict(zip(columns, runs[0], strict=True))
    this = {"run_id": run["run_id"]}
    rows = con.execute(explain_queries.SELECTION_OF_RUN, this).fetchnumpy()
    place = {feature: row for row, feature in enumerate(rows["feature_id"].tolist())}
    tried = con.execute(explain_queries.CANDIDATES_OF_RUN, this).fetchall()
    near = con.execute(recall_queries.NEIGHBOURS_OF_RUN, this).fetchall()
    return StoredRun(
        run=run,
        names=tuple(rows["name"].tolist()),
        rank=_doubles(rows["rank"]),
        q=_doubles(rows["q"]),
        quality=_doubles(rows["quality"]),
        expected=_doubles(rows["expected"]),
        selected=np.asarray(rows["selected"], bool),
        neighbours=tuple(Neighbour(*each) for each in near),
        candidates=tuple(
            (step, tuple(place[feature] for feature in features), fitness)
            for step, features, fitness in tried
        ),
        weight=_doubles(rows["weight"]),
        from_memory=_doubles(rows["from_memory"]),
        programs=tuple(learner_candidates.best_of_run(con, run["run_id"])),
    )


def history_before(
    con: duckdb.DuckDBPyConnection, run: Mapping[str, Any], names: Sequence[str]
) -> FeatureHistory:
    """Return the history of each feature over all other problems, as of when a run began."""
    return feature_history.read(
        con,
        feature_ids(con, run["space"], names),
        run["space"],
        before=run["run_id"],
        exclude_fingerprint=run["fingerprint"],
    )


def _doubles(values: Any) -> NDArray[np.float64]:
    return np.asarray(np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan))
