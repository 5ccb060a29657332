"""The indexes of a database answer as SQL does, whatever happened to either of them."""

import shutil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metafs_metadb import MetaDB, ProblemRow, RunRow, SelectionRows

from ..building import STARTED
from ..indexing import WORDS, answers, by_sql, execute, record_run

pytestmark = pytest.mark.usefixtures("indexed")


qs = st.sampled_from([0.0, 0.1, 0.3, 1.0, 7.0, -2.0, np.nan, np.inf])
runs = st.fixed_dictionaries(
    {
        "run": st.dictionaries(
            st.sampled_from([*WORDS, "new 1", "new 2", "new 3"]),
            st.tuples(qs, st.booleans()),
            max_size=4,
        ),
        "name": st.sampled_from(["p", "q", "r", "s"]),
        "space": st.sampled_from(["default", "default", "default", "other"]),
        "source": st.sampled_from(["p.csv", "q.csv"]),
        "score": st.sampled_from([None, 0.1, 0.5, 0.9]),
        "status": st.sampled_from(["solved", "solved", "solved", "failed"]),
    }
)
HAPPENINGS = (
    "asked",
    "asked by a new process",
    "excluded",
    "readmitted",
    "renamed",
    "forgotten",
    "index deleted",
    "index damaged",
    "index cut off",
)


def happen(db, what):
    """Let something happen to the database or to its index; return the MetaDB to go on with."""
    files = sorted(db.path.with_name("metafs.duckdb.index").glob("*"))
    if what == "asked":
        answers(db)
    elif what == "asked by a new process":
        db = MetaDB(db.path)
        answers(db)
    elif what in ("excluded", "readmitted"):
        execute(db, "update problem set excluded = $so where name = 'p'", so=what == "excluded")
    elif what == "renamed":
        execute(db, "update problem set name = 'q', source = 'q.csv' where name = 'r'")
    elif what == "forgotten":
        for table in ("selection", "run"):
            execute(db, f"delete from {table} where run_id = (select min(run_id) from run)")
    elif what == "index deleted":
        shutil.rmtree(db.path.with_name("metafs.duckdb.index"), ignore_errors=True)
    elif what == "index damaged":
        for file in files:
            content = bytearray(file.read_bytes())
            content[len(content) // 2] ^= 1
            content[7::4096] = bytes(len(content[7::4096]))
            file.unlink()  # somebody may have mapped it
            file.write_bytes(content)
    elif what == "index cut off":
        for file in files:
            content = file.read_bytes()
            file.unlink()
            file.write_bytes(content[: len(content) // 2])
    return db


def test_the_same_change_of_two_problems_does_not_go_unnoticed(db):
    record_run(db, source="p.csv")
    record_run(db, source="q.csv")
    answers(db)
    happen(db, "excluded")
    assert answers(db) == by_sql(db)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(runs, runs, st.sampled_from(HAPPENINGS)), min_size=2, max_size=9))
def test_the_index_answers_as_sql_whatever_happened(tmp_path_factory, events):
    db = MetaDB(tmp_path_factory.mktemp("db") / "metafs.duckdb")
    record_run(db)
    for event in events:
        if isinstance(event, str):
            db = happen(db, event)
        else:
            record_run(db, **event)
    expected = by_sql(db)
    assert answers(db) == expected
    assert answers(MetaDB(db.path)) == expected
    with db.reading() as con:
        twice = "select space, name from feature group by all having count(*) > 1"
        assert con.execute(twice).fetchall() == []


@pytest.mark.parametrize("what", HAPPENINGS)
def test_each_happening_between_two_questions(db, what):
    for name in ("p", "q", "r"):
        record_run(db, {"a": (0.7, True), name: (1.0, False)}, name)
    answers(db)
    other = happen(db, what)
    assert answers(other) == answers(MetaDB(db.path)) == by_sql(db)
    record_run(other, {"a": (0.2, False), "new 3": (1.0, True)}, "s")
    record_run(other, {"b": (1.0, True)}, "q", score=0.9)  # another best run
    assert answers(other) == answers(MetaDB(db.path)) == by_sql(db)


def test_nothing_asked_and_nothing_known(db):
    db.ensure()
    assert db.feature_history("default", ["a"]).n_problems.tolist() == [0]
    record_run(db)
    record = db.feature_history("default", [])
    assert len(record) == 0 and record.n_solved == 1
    assert db.feature_history("nowhere", ["a"]).n_solved == 0


def test_a_copy_put_back_and_continued_is_another_database(db):
    record_run(db, name="p")
    shutil.copy(db.path, db.path.with_name("copy"))
    for number in range(3):
        record_run(db, {f"new {number}": (1.0, True)}, f"old {number}")
    answers(db)
    shutil.copy(db.path.with_name("copy"), db.path)
    fresh = MetaDB(db.path)
    for number in range(3):  # the same ids, other content
        record = ProblemRow("default", f"n {number}", "", f"n {number}", 10, 3, "y")
        run = RunRow("climb", "none", STARTED.replace(year=2027), "0.1.0", score=0.5)
        names = (f"other {number}", "new 3")
        fresh.record(record, run, selections=SelectionRows(names, q=[1.0, 0.5]))
    for each in (fresh, db, MetaDB(db.path)):
        assert answers(each) == by_sql(db)
    assert db.check() == []
