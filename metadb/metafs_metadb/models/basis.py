r"""The basis of a space: the main directions of all its problems, in bounded room.

With unit directions :math:`w_1, w_2, \dots` of the problems of a part, the basis is the best
approximation of low rank, :math:`S_r V_r^T` of their singular value decomposition. It is kept up
as in incremental principal components: that of the basis so far, stacked on the directions that
came since (M. Brand, "Incremental singular value decomposition of uncertain data with missing
values", ECCV 2002). A part keeps the features on which its vectors are longest.

A part holds the problems whose sources have one checksum, so that it can be left out
where a source must not be used. Every `EVERY` models of a space one part takes in what it lacks,
in turn. So a basis follows from the order of the models in the space alone: `rebuild` gives the one
that a memory without some problems would have, and `catch_up` the one of a memory that saw all.
"""

import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb.models import weight_queries as queries
from metafs_metadb.models.weights import Floats, Ints, rows_by_run

N_PARTS = 8
RANK = 8
EVERY = 8
FIRST = 128
"""Models before which there is no basis: the nearest problems are nearly all there are."""
MOST_RUNS = 64
MOST_FEATURES = 8192


@dataclass(frozen=True, eq=False)
class Part:
    """The basis of one part: scaled singular vectors on some features."""

    n_runs: int
    upto: int
    feature_ids: Ints
    weights: Floats  # (rank, features)


NOTHING = Part(0, 0, np.zeros(0, np.int64), np.zeros((0, 0)))


def part_of(source: str) -> int:
    """Return the part to which the problems of a source belong.

    Examples
    --------
    >>> part_of("north.csv") == part_of("north.csv")
    True
    """
    return zlib.crc32(source.encode("utf-8", "surrogatepass")) % N_PARTS


def read(
    con: duckdb.DuckDBPyConnection, space: str, without: Collection[int] = ()
) -> dict[int, Part]:
    """Return the parts of a space's basis but for those to leave out."""
    found = con.execute(queries.BASIS, {"space": space, "part": None}).fetchall()
    return {row[0]: _part(*row[1:]) for row in found if row[0] not in without}


def keep_up(con: duckdb.DuckDBPyConnection, space: str, run_id: int) -> None:
    """Let the part whose turn it is take in the latest runs; the caller holds the transaction.

    The model of the run has just been written.
    """
    if run_id < FIRST:
        return  # there are fewer models than runs
    con.execute(queries.PLAN)  # recording plans nothing, and here large tables are searched
    ((n_models,),) = con.execute(queries.COUNT_MODELS, {"space": space}).fetchall()
    take_turn(con, space, run_id, n_models)


def rebuild(con: duckdb.DuckDBPyConnection, spaces: Iterable[str]) -> None:
    """Make the basis of spaces anew from all of their models; the caller holds the transaction."""
    for space in spaces:
        con.execute(queries.DELETE_BASIS, {"space": space})
        catch_up(con, space, 0)


def catch_up(con: duckdb.DuckDBPyConnection, space: str, since: int) -> None:
    """Take in the models of later runs than `since`, as if each had just been written."""
    con.execute(queries.PLAN)
    runs = [row[0] for row in con.execute(queries.MODELS, {"space": space}).fetchall()]
    for n_models, run_id in enumerate(runs, start=1):
        if run_id > since:
            take_turn(con, space, run_id, n_models)


def take_turn(con: duckdb.DuckDBPyConnection, space: str, run_id: int, n_models: int) -> None:
    """Extend the part whose turn it is with `n_models` models in the space, up to a run."""
    if n_models < FIRST or n_models % EVERY:
        return
    which = {"space": space, "part": n_models // EVERY % N_PARTS}
    before = con.execute(queries.BASIS, which).fetchall()
    part = _part(*before[0][1:]) if before else NOTHING
    asked = {**which, "since": part.upto, "upto": run_id, "most": MOST_RUNS}
    runs = np.array([row[0] for row in con.execute(queries.BEYOND_BASIS, asked).fetchall()])
    if not len(runs):
        return
    part = extended(part, *_directions(con, runs), len(runs), int(runs.max()))
    con.execute(queries.DELETE_BASIS_PART, which)
    values = {
        "n_runs": part.n_runs,
        "upto": part.upto,
        "feature_ids": part.feature_ids.astype("<i8").tobytes(),
        "weights": part.weights.astype("<f4").tobytes(),
    }
    con.execute(queries.INSERT_BASIS_PART, which | values)


def extended(part: Part, feature_ids: Ints, directions: Floats, n_runs: int, upto: int) -> Part:
    """Return the part with further directions, given on features in ascending order.

    Examples
    --------
    >>> one = extended(NOTHING, np.array([3, 7]), np.array([[2.0, 0.0], [9.0, 0.0]]), 2, 5)
    >>> abs(one.weights).round(2), one.feature_ids
    (array([[1.41]]), array([3]))
    """
    ids = np.union1d(part.feature_ids, feature_ids)
    stacked = np.zeros((len(part.weights) + len(directions), len(ids)))
    stacked[: len(part.weights), np.searchsorted(ids, part.feature_ids)] = part.weights
    length = np.linalg.norm(directions, axis=1, keepdims=True)
    unit = np.divide(directions, length, out=np.zeros_like(directions), where=length > 0)
    stacked[len(part.weights) :, np.searchsorted(ids, feature_ids)] = unit
    # Rows are few and columns many: the small Gram matrix has the same singular vectors.
    values, vectors = np.linalg.eigh(stacked @ stacked.T)
    main = np.argsort(-values)[:RANK]
    main = main[values[main] > 1e-9 * max(values.max(initial=0.0), 1e-300)]
    basis = vectors[:, main].T @ stacked
    norms = np.linalg.norm(basis, axis=0)
    kept = np.sort(np.argsort(-norms, kind="stable")[:MOST_FEATURES])
    kept = kept[norms[kept] > 0]
    return Part(part.n_runs + n_runs, upto, ids[kept], basis[:, kept])


def _directions(con: duckdb.DuckDBPyConnection, runs: Ints) -> tuple[Ints, Floats]:
    """Return the features of some runs' weights, and one direction a run and output."""
    con.register("incoming_run", {"run_id": runs})
    bounds = {"first_id": int(runs.min()), "last_id": int(runs.max())}
    found = con.execute(queries.WEIGHTS, bounds).fetchnumpy()
    ids, columns = np.unique(np.asarray(found["feature_id"], np.int64), return_inverse=True)
    directions = []
    for rows in rows_by_run({**found, "column": columns}, runs).values():
        outputs = np.ma.filled(np.ma.asarray(rows["output"]).astype(object), None)
        for output in dict.fromkeys(outputs.tolist()):
            chosen = np.flatnonzero([each == output for each in outputs.tolist()])
            direction = np.zeros(len(ids))
            direction[rows["column"][chosen]] = rows["weight"][chosen]
            directions.append(direction)
    return ids, np.array(directions).reshape(len(directions), len(ids))


def _part(n_runs: int, upto: int, feature_ids: bytes, weights: bytes) -> Part:
    ids = np.frombuffer(feature_ids, "<i8").astype(np.int64)
    table: NDArray[np.float64] = np.frombuffer(weights, "<f4").astype(np.float64)
    return Part(n_runs, upto, ids, table.reshape(-1, len(ids)) if len(ids) else table[None, :0])
