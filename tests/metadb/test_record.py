import os
import subprocess
import sys
import textwrap
from datetime import datetime

import duckdb
import numpy as np
import pytest

from metafs_metadb import (
    MetaDBError,
    NeighbourRow,
    ProblemRow,
    Recorded,
    RunRow,
    SelectionRows,
)

from .building import STARTED, record, signature


def rows(db, query, **params):
    return list(db.sql(query, params)[1])


def test_what_was_recorded_comes_back(db):
    first = record(db, "p1")
    second = record(
        db,
        "p2",
        transfer="guided",
        neighbours=[NeighbourRow(first.problem_id, 1, 0.25, 3.0)],
        settings="digest",
    )
    run = db.solved("print of p2", "digest")
    assert run["run_id"] == second.run_id
    assert run["features"] == ["a", "b"]
    assert [(n.name, n.distance) for n in run["neighbours"]] == [("p1", 0.25)]
    assert run["duration_s"]["select"] == 1.5 and run["duration_s"]["recall"] is None
    assert 0 < run["duration_s"]["record"] < 10
    assert run["started_at"] == STARTED
    assert rows(db, "select params::varchar from run limit 1") == [('{"a": [2], "b": 1}',)]
    assert rows(db, "select step, len(features), fitness from candidate where run_id = 1") == [
        (1, 0, 0.1),
        (10, 1, 0.4),
        (60, 2, 0.5),
    ]
    assert rows(db, "select rank, q, expected, selected from selection where run_id = 1") == [
        (1, 0.3, None, True),
        (2, 0.2, None, True),
        (3, 0.1, None, False),
    ]
    assert db.check() == []


def test_equal_content_is_one_problem_with_one_signature(db):
    first = record(db, "old name", fingerprint="same")
    second = record(db, "new name", fingerprint="same", seed=8)
    assert first.problem_id == second.problem_id and first.run_id != second.run_id
    assert rows(db, "select name from problem") == [("new name",)]
    assert rows(db, "select count(*) from signature") == [(2,)]
    assert db.find_problem("old name") is None
    assert db.find_problem("new name", "default")["problem_id"] == first.problem_id
    assert db.find_problem("new name", "elsewhere") is None
    assert db.check() == []


def test_equal_content_cannot_move_to_another_space(db):
    record(db, "p", space="pixels")
    with pytest.raises(MetaDBError, match="already remembered in space pixels"):
        record(db, "p", space="words")
    assert db.check() == []


def test_one_vocabulary_for_a_space(db):
    record(db, "p1", names=("a", "b"), selected=(True, False), candidates=[])
    record(db, "p2", names=("b", "é 'quoted'"), selected=(True, True), candidates=[])
    record(db, "p3", space="other", names=("a",), selected=(True,), candidates=[])
    assert rows(db, "select space, name from feature order by feature_id") == [
        ("default", "a"),
        ("default", "b"),
        ("default", "é 'quoted'"),
        ("other", "a"),
    ]


def test_a_failed_run_is_remembered_but_solves_nothing(db):
    problem = ProblemRow("default", "broken", "broken.csv", "unreadable", 0, 0, "y")
    failed = RunRow("climb", "none", STARTED, "0.1.0", status="failed", error="it broke")
    db.record(problem, failed)
    assert db.solved("unreadable", "digest") is None
    assert db.runs(status="failed").rows[0][-1] == "it broke"
    assert db.index("jsd-rows", "default").nearest(*signature({1: 1.0}), 5) == []
    assert db.check() == []


def test_settings_decide_what_counts_as_solved(db):
    record(db, "p", settings="one")
    assert db.solved("print of p", "one")["name"] == "p"
    assert db.solved("print of p", "two") is None
    assert db.solved("another", "one") is None


def test_a_pair_of_problem_and_settings_is_solved_once(db):
    first = record(db, "p", settings="one", score=0.5)
    again = record(db, "p under another name", fingerprint="print of p", settings="one", score=0.9)
    assert not first.again
    assert again == Recorded(first.problem_id, first.run_id, again=True)
    assert rows(db, "select name, score from run join problem using (problem_id)") == [("p", 0.5)]
    assert db.check() == []
    others = [
        record(db, "p", settings="two"),
        record(db, "q", settings="one"),
        record(db, "p", settings="one", status="failed", error="it broke"),
        record(db, "p", settings="one", status="failed", error="it broke"),
        record(db, "p", settings=None),
        record(db, "p", settings=None),
    ]
    assert not any(each.again for each in others)
    assert len({each.run_id for each in others}) == len(others)
    assert db.check() == []


def test_a_failed_run_does_not_stand_for_a_solved_one(db):
    record(db, "p", settings="one", status="failed", error="it broke")
    assert not record(db, "p", settings="one").again


def test_two_processes_that_solve_the_same_record_it_once(db):
    code = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from building import record
        from metafs_metadb import MetaDB
        db = MetaDB({str(db.path)!r}, wait_s=30)
        for i in range(8):
            print(record(db, f"p{{i}}", settings="one").again)
    """)
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [line for each in both for line in each.communicate(timeout=120)[0].split()]
    assert sorted(said) == ["False"] * 8 + ["True"] * 8
    assert len(db.runs().rows) == 8
    assert db.check() == []


def test_a_score_that_is_not_a_number_is_never_the_best(db):
    best = record(db, "p", score=0.5)
    record(db, "p", score=0.1)
    with duckdb.connect(str(db.path)) as con:
        con.execute("update run set score = 'nan' where score = 0.1")
    assert rows(db, "select run_id from best_run") == [(best.run_id,)]
    assert db.problems().column("best_score") == [0.5]
    assert db.experience([best.problem_id])[best.problem_id].run_id == best.run_id


def test_experience_is_that_of_the_best_run(db):
    record(db, "p1", score=0.7)
    best = record(db, "p1", score=0.9, selected=(False, False, True), seed=2)
    record(db, "p1", score=0.9, n_evaluations=500, seed=3)
    record(db, "p2", names=("z",), selected=(True,), candidates=[])
    results = db.experience([2, 99, 1])
    assert list(results) == [2, 1]
    assert results[1].run_id == best.run_id
    assert results[1].names == ("a", "b", "c")
    assert results[1].selected.tolist() == [False, False, True]
    np.testing.assert_allclose(results[1].quality, [0.6, 0.4, 0.2])
    assert results[2].names == ("z",)


def test_lists_for_people(db):
    record(db, "p1")
    record(db, "p2", selected=(True, False, False))
    columns, problems = db.problems()
    assert [row[columns.index("name")] for row in problems] == ["p1", "p2"]
    assert len(db.runs(problem="p1").rows) == 1
    assert len(db.runs(limit=1).rows) == 1
    features = db.features("default", limit=2)
    assert [row[1] for row in features.rows] == ["a", "b"]
    assert features.rows[1][features.columns.index("share")] == 0.5
    assert db.important_features("default", 1)[0] == ["a"]


def test_a_projection_stays_as_it_was_first_frozen(db):
    assert db.exists() is False
    assert db.freeze_projection("default", "jsd-rows", ["a", "b"]) == ["a", "b"]
    assert db.freeze_projection("default", "jsd-rows", ["c"]) == ["a", "b"]
    assert db.projection("default", "jsd-rows") == ["a", "b"]
    assert db.projection("other", "jsd-rows") is None


def test_views_for_people(db):
    record(db, "p1", candidates=[(10, ["a"], 0.4), (60, ["a", "b"], 0.5)])
    warm = record(db, "p1", transfer="guided", candidates=[(6, ["a", "b"], 0.5)], score=0.95)
    lost = {"fitness": 0.4, "n_evaluations": 240, "params": {"b": 1, "a": [2], "target_score": 0.5}}
    record(db, "p1", transfer="paper", candidates=[(6, ["a"], 0.4)], **lost)
    query = "select transfer, cold_evaluations, warm_evaluations, reached, ratio from speedup"
    assert sorted(rows(db, query)) == [
        ("guided", 60, 6, True, 10.0),
        ("paper", 60, 240, False, 0.25),
    ]
    assert rows(db, "select run_id from best_run") == [(warm.run_id,)]
    board = "select transfer, n_runs, mean_score, floor(mean_seconds) from leaderboard order by 1"
    assert rows(db, board)[0] == ("guided", 1, 0.95, 2.0)
    assert rows(db, "select name, n_selected, n_problems, share from core_feature order by 1") == [
        ("a", 1, 1, 1.0),
        ("b", 1, 1, 1.0),
    ]
    assert rows(db, "select name, n_problems, n_selected from best_feature order by 1")[2] == (
        "c",
        1,
        0,
    )


@pytest.mark.parametrize(
    "masses", [{1: 0.5}, {1: 1.5, 2: -0.5}, {1: 0.0, 2: 1.0}], ids=["short", "negative", "zero"]
)
def test_a_bad_signature_is_refused_and_nothing_is_written(db, masses):
    record(db, "good")
    with pytest.raises(ValueError, match="sum to 1"):
        record(db, "bad", masses=masses)
    assert db.find_problem("bad") is None
    assert db.check() == []


def test_repeated_names_and_unknown_phases_are_refused(db):
    with pytest.raises(ValueError, match="each feature once"):
        record(db, "p", names=("a", "a"), selected=(True, True))
    with pytest.raises(ValueError, match="unknown phases"):
        record(db, "p", duration_s={"sleep": 1.0})


def test_columns_may_be_left_out(db):
    problem = ProblemRow("default", "p", "p.csv", "print", 1, 2, "y")
    run = RunRow("infogain", "none", datetime(2026, 1, 1), "0.1.0")
    db.record(problem, run, selections=SelectionRows(["a", "b"]))
    assert rows(db, "select rank, q, quality, expected, selected from selection") == [
        (1, None, None, None, False),
        (2, None, None, None, False),
    ]


def test_a_plain_duckdb_reads_the_file_and_storage_is_that_of_1_5(db):
    """The tag is what we can test here.

    By hand, with DuckDB 1.5.6 and 2.0.0: each recorded into a file that the other had created
    and recorded into, read it back, and `check` found nothing.
    """
    record(db, "p")
    with duckdb.connect(str(db.path)) as con:
        found = con.execute("select tags from duckdb_databases() where not internal").fetchall()
        assert found[0][0]["storage_version"].startswith("v1.5.0")
        assert con.execute("select count(*) from core_feature").fetchall() == [(2,)]
        con.execute("insert into feature (space, name) values ('default', 'by hand')")
    assert db.check() == ["table feature has 4 rows where 3 were recorded"]


def test_sets_are_kept_by_name_or_by_position_in_order_of_their_ids(db):
    record(db, "p", names=("c", "b"), selected=(True, True), candidates=[])
    sets = [(1, (), 0.1), (2, ("a", "c"), np.nan), (3, [2, 0, 1], None), (4, np.array([1]), 0.4)]
    record(db, "q", candidates=sets)
    assert rows(db, "select step, features, fitness from candidate order by step") == [
        (1, [], 0.1),
        (2, [1, 3], None),
        (3, [1, 2, 3], None),
        (4, [2], 0.4),
    ]
    assert db.check() == []


def test_experience_of_several_problems_keeps_their_rows_apart(db):
    for name, names in (("p1", ("a", "b", "c")), ("p2", ("c",)), ("p3", ("d", "a"))):
        chosen = tuple(each == names[-1] for each in names)
        record(db, name, names=names, selected=chosen, candidates=[])
    results = db.experience([3, 1, 2])
    assert [(each, run.names) for each, run in results.items()] == [
        (3, ("d", "a")),
        (1, ("a", "b", "c")),
        (2, ("c",)),
    ]
    assert results[3].selected.tolist() == [False, True]
    np.testing.assert_allclose(results[3].q, [0.3, 0.1])
    assert db.experience([]) == {}
