"""Copy problems with all their rows from one memory into another.

The memory they come from is attached as `origin`, the one they go to is in use, and the caller
holds a transaction there. A problem that both have, by its fingerprint, stays one problem and gets
the runs that it lacks; features are one by space and name. Whoever stays behind is nobody's
neighbour any more: rows that name it get `ELSEWHERE` for its id.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb import record_queries
from metafs_metadb.errors import MetaDBError
from metafs_metadb.managing import carry_queries as sql
from metafs_metadb.managing import managing_queries
from metafs_metadb.models import basis

ORIGIN = "origin"
"""The alias under which the memory is attached that problems come from."""

# What asks which rows are here already comes before the rows it asks about.
STATEMENTS = {
    "problem": sql.PROBLEM,
    "row_sketch": sql.ROW_SKETCH,
    "signature": sql.SIGNATURE,
    "selection": sql.SELECTION,
    "candidate": sql.CANDIDATE,
    "neighbour": sql.NEIGHBOUR,
    "trial": sql.TRIAL,
    "learner_candidate": sql.LEARNER_CANDIDATE,
    "belief": sql.BELIEF,
    "meta_feature": sql.META_FEATURE,
    "reference_model": sql.REFERENCE_MODEL,
    "weight": sql.WEIGHT,
    "reference_column": sql.REFERENCE_COLUMN,
    "transfer_loss": sql.TRANSFER_LOSS,
    "saved_model": sql.SAVED_MODEL,
    "run": sql.RUN,
    "stability": sql.STABILITY,
}

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Carried:
    """How much came along, and how many problems were here already."""

    problems: int = 0
    runs: int = 0
    known: int = 0

    def __add__(self, other: "Carried") -> "Carried":
        return Carried(
            self.problems + other.problems, self.runs + other.runs, self.known + other.known
        )


def carry(
    con: duckdb.DuckDBPyConnection,
    problem_ids: Collection[int] | None = None,
    *,
    keep_ids: bool = False,
    check: Callable[[], None] = lambda: None,
) -> Carried:
    """Copy the problems of `origin`, or some of them, with all their rows.

    With `keep_ids` the memory they go to is empty and takes the place of the other: every row keeps
    its id. Otherwise the files of models stay behind, for these lie in folders of another memory.
    If there is anything to copy, `check` is asked before.
    """
    ((last_run,),) = con.execute(sql.LAST_RUN).fetchall()
    rows_there = Counter(dict(con.execute(sql.ROWS_OF_ORIGIN).fetchall()))
    problems, spaces = _problems(con, problem_ids, keep_ids)
    runs, owners = _columns(con.execute(sql.RUNS).fetchall(), 2)
    tally = dict.fromkeys(record_queries.TALLIED, 0)
    if len(runs) or problems["is_new"].any() or rows_there["stability"]:
        check()
        run_ids = _ids(con, "run_id", runs, keep_ids)
        has_news = problems["is_new"] | np.isin(problems["old_id"], owners)
        con.register("incoming_run", {"old_id": runs, "new_id": run_ids})
        con.register("incoming_problem", problems | {"has_news": has_news})
        same_ids = _features(con, keep_ids, tally)
        if not keep_ids:
            del rows_there["saved_model"]
        _rows(con, rows_there, same_ids, tally)
        if rows_there["projection"]:
            all_of_them = int(problems["chosen"].sum()) == rows_there["problem"]
            con.execute(sql.PROJECTION if all_of_them else sql.PROJECTION_OF_SOME)
        con.execute(record_queries.ADD_TO_TALLY, tally)
    if tally["reference_model"]:
        for space in spaces:
            basis.catch_up(con, space, last_run)
    if keep_ids:  # nor does a later row get the id of one that stayed behind
        for name, last in con.execute(sql.LAST_IDS).fetchall():
            if name in sql.NEXT_IDS:
                con.execute(sql.NEXT_IDS[name], {"n": last})
    known = int((problems["chosen"] & ~problems["is_new"]).sum())
    return Carried(tally["problem"], len(runs), known)


def _problems(
    con: duckdb.DuckDBPyConnection, problem_ids: Collection[int] | None, keep_ids: bool
) -> tuple[dict[str, NDArray[Any]], list[str]]:
    """Register the problems that are carried, and those that both know; return them and spaces."""
    if problem_ids is None:
        problem_ids = [
            each for (each,) in con.execute(managing_queries.PROBLEMS_OF_ORIGIN).fetchall()
        ]
    con.register("incoming_choice", {"problem_id": np.array(sorted(problem_ids), np.int64)})
    rows = con.execute(sql.PROBLEMS).fetchall()
    for *_, name, space, known_space in rows:
        if known_space not in (None, space):
            raise MetaDBError(
                f"its problem {name} is remembered in space {known_space}, not {space}"
            )
    old, known, chosen = _columns([row[:3] for row in rows], 3)
    is_new = known == 0
    new = known.copy()
    new[is_new] = _ids(con, "problem_id", old[is_new], keep_ids)
    problems = {"old_id": old, "new_id": new, "is_new": is_new, "chosen": chosen.astype(bool)}
    con.register("incoming_problem", problems)
    return problems, sorted({row[4] for row in rows if row[2]})


def _features(con: duckdb.DuckDBPyConnection, keep_ids: bool, tally: dict[str, int]) -> bool:
    """Extend the vocabulary by what the runs need; tell whether all keep the ids they had."""
    old, known = _columns(con.execute(sql.FEATURES).fetchall(), 2)
    is_new = known == 0
    new = known.copy()
    new[is_new] = _ids(con, "feature_id", old[is_new], keep_ids)
    con.register("incoming_feature", {"old_id": old, "new_id": new, "is_new": is_new})
    tally["feature"] = _count(con, sql.FEATURE) if is_new.any() else 0
    return bool(np.array_equal(old, new))


def _rows(
    con: duckdb.DuckDBPyConnection, there: Counter[str], same_ids: bool, tally: dict[str, int]
) -> None:
    """Copy the rows of all tables that have any."""
    if there["reference_model"]:
        old, new = _columns(con.execute(sql.MODELS).fetchall(), 2)
        con.register("incoming_model", {"old_id": old, "new_id": new})
    if there["meta_feature"]:
        tally["meta_feature"] = -_count(con, sql.META_FEATURES_CHANGED)
    for table, statement in STATEMENTS.items():
        if there[table]:
            if table == "candidate" and same_ids:
                statement = sql.CANDIDATE_AS_IT_IS
            tally[table] += _count(con, statement)


def _ids(con: duckdb.DuckDBPyConnection, name: str, old: Ids, keep_ids: bool) -> Ids:
    """Return the ids that rows get here."""
    if keep_ids or not len(old):
        return old
    ((last,),) = con.execute(sql.NEXT_IDS[name], {"n": len(old)}).fetchall()
    return np.arange(last - len(old) + 1, last + 1, dtype=np.int64)


def _columns(rows: list[tuple[Any, ...]], n: int) -> list[Ids]:
    """Return rows as n columns of numbers, 0 for null."""
    return list(np.array([[each or 0 for each in row] for row in rows], np.int64).reshape(-1, n).T)


def _count(con: duckdb.DuckDBPyConnection, statement: str) -> int:
    """Write rows, and return how many."""
    ((n_rows,),) = con.execute(statement).fetchall()
    return int(n_rows)
