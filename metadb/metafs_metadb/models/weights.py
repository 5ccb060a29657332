"""What models learned: the rows of a reference model, written with its run and read for others.

Of each remembered problem a reader gets the sparse weights of its reference model, how its
columns were scaled, their univariate relevance, and what memory would have gained.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
from numpy.typing import ArrayLike, NDArray

from metafs_metadb.models import linear_models
from metafs_metadb.models import weight_queries as queries
from metafs_metadb.models.linear_models import LinearRows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ReferenceRows:
    """The linear model of a problem on all its columns, as it is to be remembered.

    `places` and `weights` hold for each output the columns whose weights are kept, by their
    places in `SelectionRows.names`; `apart` holds the weights of these columns that have not
    learned from the rows set apart.
    """

    preparation: str
    n_labels: int
    outputs: Sequence[str | None]
    places: Sequence[ArrayLike]
    weights: Sequence[ArrayLike]
    rest_norms: Sequence[float]
    regularisation: float | None = None
    transfers: Sequence[tuple[int, float, float]] = ()
    """Labels, strength and loss of each trial of memory."""
    linear: LinearRows | None = None
    """What the model needs besides its weights to predict."""
    apart: Sequence[ArrayLike] | None = None


@dataclass(frozen=True, eq=False)
class BeliefRow:
    """The weight of memory in a run's model, and which directions carried how much of it."""

    strength: float
    reason: str
    gain: float = 0.0
    problem_ids: Sequence[int] = ()
    outputs: Sequence[str | None] = ()
    coefficients: ArrayLike = ()
    """Of each direction, output by output of the run's own problem."""


@dataclass(frozen=True, eq=False)
class Reference:
    """What is remembered of the reference model of one problem."""

    problem_id: int
    run_id: int
    source: str
    n_samples: int
    preparation: str
    n_labels: int
    outputs: tuple[str | None, ...]
    weight_ids: tuple[Ints, ...]
    """By output, the features whose weights are known, ascending."""
    weights: tuple[Floats, ...]
    feature_ids: Ints
    """All columns of the problem, ascending."""
    relevance: Floats
    document_frequency: Floats
    mean: Floats
    spread: Floats
    transfers: tuple[tuple[int, float, float], ...]
    apart: tuple[Floats, ...] | None = None
    """Like `weights`, without learning from the rows set apart; None if that is not known."""


@dataclass(frozen=True, eq=False)
class Acquainted:
    """What memory knows of a problem's content, columns and rows before it is asked further."""

    lacks_reference: bool
    """Whether no reference model is remembered of this content."""
    feature_ids: Ints
    """The columns in the vocabulary of the space, 0 for a new one."""
    sharing: Mapping[int, str]
    """Problems that hold some of the rows, with their sources."""


def write(
    con: duckdb.DuckDBPyConnection,
    problem_id: int,
    run_id: int,
    feature_ids: Ints,
    reference: ReferenceRows,
    part: int,
    tally: dict[str, int],
) -> bool:
    """Write a reference model unless the problem has one; tell whether it was written."""
    if not tally["problem"]:
        if con.execute(queries.HAS_REFERENCE, {"problem_id": problem_id}).fetchall():
            return False
    places = [np.asarray(each, np.int64) for each in reference.places]
    weights = [np.asarray(each, np.float64) for each in reference.weights]
    apart = [np.full(len(each), np.nan) for each in weights]
    if reference.apart is not None:
        apart = [np.asarray(each, np.float64) for each in reference.apart]
    outputs = list(reference.outputs)
    if not len(places) == len(weights) == len(outputs) == len(reference.rest_norms):
        raise ValueError("a reference model has places, weights and a rest for each output")
    n_weights, linear = sum(map(len, places)), reference.linear
    classes = None if linear is None or linear.classes is None else list(linear.classes)
    con.execute(
        queries.INSERT_REFERENCE,
        {
            "run_id": run_id,
            "problem_id": problem_id,
            "part": part,
            "preparation": reference.preparation,
            "n_labels": int(reference.n_labels),
            "regularisation": reference.regularisation,
            "outputs": outputs,
            "rest_norms": [float(each) for each in reference.rest_norms],
            "n_weights": n_weights,
            "n_transfers": len(reference.transfers),
            "classes": classes,
            "intercepts": None if linear is None else [float(each) for each in linear.intercepts],
            "slope": None if linear is None else float(linear.slope),
            "n_columns": None if linear is None else len(np.asarray(linear.places)),
        },
    )
    if linear is not None:
        linear_models.write(con, run_id, feature_ids, linear, tally)
    if n_weights:
        columns = {
            "feature_id": feature_ids[np.concatenate(places)],
            "output": np.repeat(np.arange(1, len(outputs) + 1), [len(each) for each in places]),
            "weight": np.concatenate(weights).astype(np.float32),
            "apart": np.concatenate(apart).astype(np.float32),
        }
        con.register("incoming_weight", columns)
        con.execute(queries.INSERT_WEIGHTS, {"run_id": run_id, "outputs": outputs})
    if reference.transfers:
        n_labels, strength, loss = zip(*reference.transfers, strict=True)
        trials = {"n_labels": n_labels, "strength": strength, "loss": loss}
        con.execute(
            queries.INSERT_TRANSFERS,
            {"run_id": run_id} | {name: list(values) for name, values in trials.items()},
        )
    tally["reference_model"] = 1
    tally["weight"] = n_weights
    tally["transfer_loss"] = len(reference.transfers)
    return True


def write_sketch(
    con: duckdb.DuckDBPyConnection,
    problem_id: int,
    hashes: NDArray[np.uint64],
    tally: dict[str, int],
) -> None:
    """Write the smallest hashes of a problem's rows; equal content has them already."""
    if tally["problem"] and len(hashes):
        con.register("incoming_hash", {"hash": np.asarray(hashes, np.uint64)})
        con.execute(queries.INSERT_SKETCH, {"problem_id": problem_id})
        tally["row_sketch"] = len(hashes)


def write_belief(
    con: duckdb.DuckDBPyConnection, run_id: int, belief: BeliefRow, tally: dict[str, int]
) -> None:
    """Write the weight of memory in a run's model."""
    values = {
        "run_id": run_id,
        "strength": float(belief.strength),
        "gain": belief.gain,
        "reason": belief.reason,
        "problem_ids": [int(each) for each in belief.problem_ids],
        "outputs": list(belief.outputs),
        "coefficients": np.ravel(np.asarray(belief.coefficients, np.float64)).tolist(),
    }
    con.execute(queries.INSERT_BELIEF, values)
    tally["belief"] = 1


def read(con: duckdb.DuckDBPyConnection, problem_ids: Sequence[int]) -> dict[int, Reference]:
    """Return what is remembered of those of the problems that have a reference model."""
    if not problem_ids:
        return {}
    asked = {"problem_ids": list(problem_ids)}
    heads = con.execute(queries.REFERENCES, asked).fetchall()
    if not heads:
        return {}
    runs = np.array([head[1] for head in heads], np.int64)
    con.register("incoming_run", {"run_id": runs})
    bounds = {"first_id": int(runs.min()), "last_id": int(runs.max())}
    weights = rows_by_run(con.execute(queries.WEIGHTS, bounds).fetchnumpy(), runs)
    scales = rows_by_run(con.execute(queries.SCALES, bounds).fetchnumpy(), runs)
    transfers = rows_by_run(con.execute(queries.TRANSFERS, bounds).fetchnumpy(), runs)
    found = {}
    for problem_id, run_id, source, n_samples, preparation, n_labels, outputs in heads:
        kept, columns, tried = weights[run_id], scales[run_id], transfers[run_id]
        own = [of_output(kept, output) for output in outputs]
        apart = tuple(of_output(kept, output, "apart")[1] for output in outputs)
        is_apart = not any(np.isnan(each).any() for each in apart)
        order = np.argsort(columns["feature_id"])
        losses = (_doubles(tried[name]).tolist() for name in ("strength", "loss"))
        found[problem_id] = Reference(
            problem_id=problem_id,
            run_id=run_id,
            source=source,
            n_samples=n_samples,
            preparation=preparation,
            n_labels=n_labels,
            outputs=tuple(outputs),
            weight_ids=tuple(ids for ids, _ in own),
            weights=tuple(values for _, values in own),
            feature_ids=np.asarray(columns["feature_id"], np.int64)[order],
            relevance=_doubles(columns["relevance"])[order],
            document_frequency=_doubles(columns["document_frequency"])[order],
            mean=_doubles(columns["mean"])[order],
            spread=_doubles(columns["spread"])[order],
            transfers=tuple(zip(tried["n_labels"].tolist(), *losses, strict=True)),
            apart=apart if is_apart else None,
        )
    return {each: found[each] for each in problem_ids if each in found}


def rows_by_run(found: Mapping[str, Any], runs: Ints) -> dict[int, dict[str, Any]]:
    """Return the rows of each run, column by column."""
    order = np.argsort(found["run_id"], kind="stable")
    in_order = np.asarray(found["run_id"])[order]
    spans = zip(
        runs.tolist(),
        np.searchsorted(in_order, runs, "left").tolist(),
        np.searchsorted(in_order, runs, "right").tolist(),
        strict=True,
    )
    return {
        run_id: {name: column[order[start:stop]] for name, column in found.items()}
        for run_id, start, stop in spans
    }


def of_output(
    rows: Mapping[str, Any], output: str | None, which: str = "weight"
) -> tuple[Ints, Floats]:
    """Return the features and weights of one output, features ascending."""
    outputs = np.ma.filled(np.ma.asarray(rows["output"]).astype(object), None)
    chosen = np.flatnonzero(outputs == output) if output is not None else np.arange(len(outputs))
    ids = np.asarray(rows["feature_id"], np.int64)[chosen]
    order = np.argsort(ids)
    return ids[order], _doubles(rows[which])[chosen][order]


def _doubles(values: Any) -> Floats:
    return np.asarray(np.ma.filled(np.ma.asarray(values).astype(np.float64), np.nan))


def belief(con: duckdb.DuckDBPyConnection, run_id: int) -> BeliefRow | None:
    """Return the weight of memory in a run's model, or None if it had no memory."""
    found = con.execute(queries.BELIEF, {"run_id": run_id}).fetchall()
    if not found:
        return None
    strength, gain, reason, problem_ids, outputs, coefficients = found[0]
    return BeliefRow(strength, reason, gain, problem_ids, outputs, coefficients)


def sharing(
    con: duckdb.DuckDBPyConnection, space: str, row_hashes: NDArray[np.uint64]
) -> dict[int, str]:
    """Return the problems of a space that hold some of these rows, with their sources.

    Few of the rows of each problem are remembered, so who shares few may go unnoticed.
    """
    if not len(row_hashes):
        return {}
    con.register("incoming_hash", {"hash": np.asarray(row_hashes, np.uint64)})
    return dict(con.execute(queries.SHARING, {"space": space}).fetchall())
