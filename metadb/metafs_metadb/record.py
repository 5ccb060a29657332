"""Write one run with all its rows in one transaction."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import duckdb
import numpy as np
from numpy.typing import ArrayLike, NDArray

from metafs_metadb import recall_queries, record_queries
from metafs_metadb.errors import MetaDBError
from metafs_metadb.features import properties
from metafs_metadb.features.feature_names import feature_ids, texts
from metafs_metadb.files.migrate import utc_now
from metafs_metadb.models import basis, learner_candidates, trials, weights
from metafs_metadb.models.learner_candidates import LearnerCandidate
from metafs_metadb.models.trials import TrialRow
from metafs_metadb.models.weights import BeliefRow, ReferenceRows
from metafs_metadb.rows import (
    OF_COLUMNS,
    PHASES,
    SAVING,
    Candidate,
    NeighbourRow,
    ProblemRow,
    Recorded,
    RunRow,
    SelectionRows,
    Signature,
    StabilityRow,
)
from metafs_metadb.search.signatures import write_signature


@dataclass(frozen=True, eq=False)
class Written:
    """What a run has added to the tables, for the indexes of them."""

    feature_ids: NDArray[np.int64]  # of its selections
    run_digest: int
    problem_digest: int  # 0 if the problem was there
    n_rows: Counter[str]  # of each table, by now


def write(
    con: duckdb.DuckDBPyConnection,
    problem: ProblemRow,
    run: RunRow,
    signatures: Mapping[str, Signature],
    selections: SelectionRows,
    meta_features: Mapping[str, ArrayLike],
    candidates: Sequence[Candidate],
    neighbours: Sequence[NeighbourRow],
    begun: float,
    reference: ReferenceRows | None = None,
    belief: BeliefRow | None = None,
    row_hashes: NDArray[np.uint64] | None = None,
    tried: Sequence[TrialRow] = (),
    learned: Sequence[LearnerCandidate] = (),
) -> tuple[Recorded, Written | None]:
    """Write all rows of a run and return their ids; the caller holds the transaction."""
    tally = dict.fromkeys(record_queries.TALLIED, 0)
    known_id = _known_problem(con, problem)
    if known_id is not None and (before := _solved_before(con, known_id, run)) is not None:
        return Recorded(known_id, before, again=True), None
    ids = _feature_ids(con, problem.space, selections.names, tally)
    properties.write(con, ids, meta_features, tally)
    if known_id is None:
        con.execute(record_queries.PLAN_NOTHING)
    problem_id, problem_digest = _write_problem(con, problem, known_id, tally)
    for distance, signature in signatures.items():
        write_signature(con, problem_id, distance, signature, tally)
    (run_id,) = con.execute(record_queries.NEXT_RUN_ID).fetchall()[0]
    _write_selections(con, run_id, ids, selections, tally)
    _write_candidates(con, run_id, ids, selections.names, candidates, tally)
    _write_neighbours(con, run_id, neighbours, tally)
    trials.write(con, run_id, tried, tally)
    learner_candidates.write(con, run_id, learned, tally)
    if row_hashes is not None:
        weights.write_sketch(con, problem_id, row_hashes, tally)
    if belief is not None:
        weights.write_belief(con, run_id, belief, tally)
    if reference is not None:
        part = basis.part_of(problem.source)
        if weights.write(con, problem_id, run_id, ids, reference, part, tally):
            basis.keep_up(con, problem.space, run_id)
    # The run comes last, so that it can store how long recording took.
    inserted = con.execute(
        record_queries.INSERT_RUN,
        _run_values(run, perf_counter() - begun)
        | {
            "run_id": run_id,
            "problem_id": problem_id,
            "n_selections": len(ids),
            "n_candidates": len(candidates),
            "n_neighbours": len(neighbours),
            "n_trials": len(tried),
            "n_learner_candidates": len(learned),
        },
    )
    ((run_digest,),) = inserted.fetchall()
    tally["run"] = 1
    n_rows = Counter(dict(con.execute(record_queries.ADD_TO_TALLY, tally).fetchall()))
    recorded = Recorded(problem_id, int(run_id), first=known_id is None)
    return recorded, Written(ids, run_digest, problem_digest, n_rows)


def write_stability(
    con: duckdb.DuckDBPyConnection, problem: ProblemRow, stability: StabilityRow
) -> int:
    """Write how stable a selector was and return its id; the caller holds the transaction."""
    tally = dict.fromkeys(record_queries.TALLIED, 0) | {"stability": 1}
    problem_id, _ = _write_problem(con, problem, _known_problem(con, problem), tally)
    values = vars(stability) | {"problem_id": problem_id, "created_at": utc_now()}
    values["params"] = _json(stability.params)
    (stability_id,) = con.execute(record_queries.INSERT_STABILITY, values).fetchall()[0]
    con.execute(record_queries.ADD_TO_TALLY, tally)
    return int(stability_id)


def _json(params: Mapping[str, Any]) -> str:
    return json.dumps(params, sort_keys=True, default=str)


def _run_values(run: RunRow, record_s: float) -> dict[str, Any]:
    values = dict(vars(run))
    durations = {"record": record_s} | values.pop("duration_s")
    saving = values.pop("saving") or {}
    if unknown := set(durations) - set(PHASES):
        raise ValueError(f"unknown phases {sorted(unknown)}; known are {PHASES}")
    # NaN sorts above every number in DuckDB, so a score that could not be had must be a null.
    values |= {k: None for k, v in values.items() if isinstance(v, float) and math.isnan(v)}
    values["params"] = _json(run.params)
    values["pipeline"] = None if run.pipeline is None else _json(run.pipeline)
    values |= {f"saving_{name}": saving.get(name) for name in SAVING}
    return values | {f"{phase}_s": durations.get(phase) for phase in PHASES}


def _known_problem(con: duckdb.DuckDBPyConnection, problem: ProblemRow) -> int | None:
    known = con.execute(
        recall_queries.KNOWN_PROBLEM, {"fingerprint": problem.fingerprint}
    ).fetchall()
    if not known:
        return None
    problem_id, space = known[0]
    if space != problem.space:
        raise MetaDBError(
            f"problem {problem.name} is already remembered in space {space} and cannot also be "
            f"in {problem.space}: give --space {space}, or another --db"
        )
    return int(problem_id)


def _solved_before(con: duckdb.DuckDBPyConnection, problem_id: int, run: RunRow) -> int | None:
    """Return the run that another process recorded while this one was at work."""
    if run.status != "solved" or run.settings is None:
        return None
    which = {"problem_id": problem_id, "settings": run.settings}
    found = con.execute(record_queries.SOLVED_BEFORE, which).fetchall()
    return int(found[0][0]) if found else None


def _write_problem(
    con: duckdb.DuckDBPyConnection,
    problem: ProblemRow,
    known_id: int | None,
    tally: dict[str, int],
) -> tuple[int, int]:
    """Return the id of the problem, and its digest if it is new, else 0."""
    if known_id is None:
        tally["problem"] = 1
        values = vars(problem) | {"created_at": utc_now()}
        ((problem_id, digest),) = con.execute(record_queries.INSERT_PROBLEM, values).fetchall()
        return int(problem_id), int(digest)
    con.execute(
        record_queries.UPDATE_PROBLEM,
        {
            "problem_id": known_id,
            "name": problem.name,
            "source": problem.source,
            "target": problem.target,
        },
    )
    return known_id, 0


def _feature_ids(
    con: duckdb.DuckDBPyConnection,
    space: str,
    names: Sequence[str],
    tally: dict[str, int],
) -> NDArray[np.int64]:
    """Return the id of each name, extending the vocabulary of the space where needed."""
    if len(set(names)) != len(names):
        raise ValueError("a run names each feature once")
    ids = feature_ids(con, space, names)
    unknown = np.flatnonzero(ids == 0)
    if len(unknown):
        new = texts([names[place] for place in unknown.tolist()])
        con.register("new_feature", {"name": new, "position": unknown})
        inserted = con.execute(record_queries.INSERT_FEATURES, {"space": space}).fetchall()
        id_of = {name: feature_id for feature_id, name in inserted}
        ids[unknown] = [id_of[name] for name in new.tolist()]
        tally["feature"] = len(unknown)
    return ids


def _write_selections(
    con: duckdb.DuckDBPyConnection,
    run_id: int,
    feature_ids: NDArray[np.int64],
    rows: SelectionRows,
    tally: dict[str, int],
) -> None:
    n = len(feature_ids)
    if not n:
        return
    rank = np.arange(1, n + 1) if rows.rank is None else rows.rank
    columns: dict[str, NDArray[Any]] = {
        "feature_id": feature_ids,
        "rank": np.asarray(rank, np.int32),
        "q": rows.doubles("q"),
        "quality": rows.doubles("quality"),
        "expected": rows.doubles("expected"),
        "selected": rows.is_selected(),
    }
    columns |= {name: rows.doubles(name).astype(np.float32) for name in OF_COLUMNS}
    if any(len(column) != n for column in columns.values()):
        raise ValueError("every column of SelectionRows is as long as its names")
    con.register("incoming_selection", columns)
    con.execute(record_queries.INSERT_SELECTION, {"run_id": run_id})
    tally["selection"] = n


def _write_candidates(
    con: duckdb.DuckDBPyConnection,
    run_id: int,
    feature_ids: NDArray[np.int64],
    names: Sequence[str],
    candidates: Sequence[Candidate],
    tally: dict[str, int],
) -> None:
    if not candidates:
        return
    index_of = {name: index for index, name in enumerate(names)}
    columns = {
        "step": [int(step) for step, _, _ in candidates],
        "features": [
            str(np.sort(feature_ids[_positions(features, index_of)]).tolist())
            for _, features, _ in candidates
        ],
        "fitness": [_or_null(fitness) for _, _, fitness in candidates],
    }
    con.execute(record_queries.INSERT_CANDIDATE, columns | {"run_id": run_id})
    tally["candidate"] = len(candidates)


def _positions(
    features: Sequence[str] | Sequence[int] | NDArray[Any], index_of: Mapping[str, int]
) -> NDArray[np.int64]:
    """Return the positions of features that are given by name, or by position already."""
    if len(features) and isinstance(features[0], str):
        features = [index_of[str(name)] for name in features]
    return np.asarray(features, np.int64)


def _write_neighbours(
    con: duckdb.DuckDBPyConnection,
    run_id: int,
    neighbours: Sequence[NeighbourRow],
    tally: dict[str, int],
) -> None:
    if not neighbours:
        return
    asked = [int(row.problem_id) for row in neighbours]
    found = con.execute(record_queries.KNOWN_AMONG, {"problem_ids": asked}).fetchall()
    columns = {
        "problem_id": asked,
        "known": [problem_id for (problem_id,) in found],
        "rank": [int(row.rank) for row in neighbours],
        "distance": [float(row.distance) for row in neighbours],
        "weight": [_or_null(row.weight) for row in neighbours],
    }
    con.execute(record_queries.INSERT_NEIGHBOUR, columns | {"run_id": run_id})
    tally["neighbour"] = len(neighbours)


def _or_null(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)
