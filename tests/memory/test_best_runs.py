"""Best runs at hand are those the MetaDB would tell."""

from datetime import datetime

import numpy as np
import pytest

from metafs.memory import best_runs as recalled
from metafs.memory.best_runs import BestRuns
from metafs.memory.memory import Memory
from metafs.pipeline.loop import solve
from metafs.pipeline.preparing import prepare
from metafs.pipeline.settings import Settings
from metafs.plugin.registry import Registry
from metafs_metadb import MetaDB, ProblemRow, Recorded, RunRow, SelectionRows

STARTED = datetime(2026, 1, 1)


def record(db, name, q, score=0.5):
    """Record a run of three features; return what was recorded, and its rows."""
    rows = SelectionRows(
        ("a", "b", "c"),
        rank=[1, 2, 3],
        q=q,
        quality=[1.0, 0.0, np.nan],
        selected=[True, False, False],
    )
    problem = ProblemRow("default", name, f"{name}.csv", f"print of {name}", 10, 3, "y")
    run = RunRow("climb", "none", STARTED, "0.1.0", score=score)
    return db.record(problem, run, selections=rows), rows


def assert_same(one, other):
    assert (one.problem_id, one.run_id, one.source) == (
        other.problem_id,
        other.run_id,
        other.source,
    )
    for run in (one, other):
        assert len(run.names) == 3
    for column in ("q", "quality", "selected"):
        of_other = dict(zip(other.names, getattr(other, column), strict=True))
        expected = [of_other[name] for name in one.names]
        np.testing.assert_array_equal(getattr(one, column), expected)


def nobody(problem_ids):
    raise AssertionError(f"{problem_ids} were asked for")


def best_of(runs, problem_ids, ask):
    """The best run of each problem, of which those that are not at hand are asked for and kept."""
    found = runs.at_hand(problem_ids)
    if unknown := [each for each in problem_ids if each not in found]:
        learned = ask(unknown)
        runs.keep(learned.values())
        found |= learned
    return found


@pytest.fixture
def metadb(tmp_path):
    return MetaDB(tmp_path / "metafs.duckdb")


def test_the_first_run_of_a_problem_is_told_as_the_metadb_tells_it(metadb):
    runs = BestRuns()
    recorded, rows = record(metadb, "p", [0.7, np.nan, 0.1])
    assert recorded.first
    runs.recorded(recorded, "p.csv", rows)
    at_hand = best_of(runs, [recorded.problem_id], nobody)[recorded.problem_id]
    assert_same(at_hand, metadb.experience([recorded.problem_id])[recorded.problem_id])


def test_a_further_run_is_asked_for_again_since_either_may_be_the_best(metadb):
    runs = BestRuns()
    for score in (0.9, 0.5, 0.95):
        recorded, rows = record(metadb, "p", [score, 0.0, 0.0], score)
        runs.recorded(recorded, "p.csv", rows)
        found = best_of(runs, [recorded.problem_id], metadb.experience)[recorded.problem_id]
        assert_same(found, metadb.experience([recorded.problem_id])[recorded.problem_id])
    assert not recorded.first


def test_what_was_asked_once_is_at_hand(metadb):
    runs = BestRuns()
    ids = [record(metadb, name, [1.0, 0.0, 0.0])[0].problem_id for name in "pqr"]
    found = best_of(runs, [*ids, 99], metadb.experience)
    assert sorted(found) == ids
    assert best_of(runs, ids, nobody) == found


def test_when_room_runs_out_what_is_oldest_goes(metadb, monkeypatch):
    monkeypatch.setattr(recalled, "MOST_FEATURES", 7)  # room for two runs
    runs = BestRuns()
    ids = [record(metadb, name, [1.0, 0.0, 0.0])[0].problem_id for name in "pqr"]
    assert sorted(best_of(runs, ids, metadb.experience)) == ids
    asked = []
    best_of(runs, ids, lambda unknown: asked.extend(unknown) or metadb.experience(unknown))
    assert asked == ids[:1]


def test_a_run_without_selections_leaves_nothing_at_hand():
    runs = BestRuns()
    runs.recorded(Recorded(1, 1, first=True), "p.csv", SelectionRows())
    assert best_of(runs, [1], lambda unknown: {}) == {}


def test_a_stream_expects_the_same_as_a_newcomer(db, related):
    """What is at hand after a long stream changes no expectation."""
    plan = Settings(folds=2, budget=50, selector="climb").resolve(Registry())
    problems = [related(number) for number in range(6)]
    metadb = MetaDB(db)
    metadb.ensure()
    memory = Memory(metadb, plan.distance, len(problems))
    results = list(solve(problems[:-1], db=metadb, folds=2, budget=50, selector="climb"))
    assert len(results) == 5
    once, again = (prepare(problems[-1], plan, memory) for _ in range(2))
    afresh = prepare(problems[-1], plan, Memory(MetaDB(db), plan.distance))
    for prepared in (once, again):
        np.testing.assert_array_equal(prepared.prior.expected, afresh.prior.expected)
