"""The indexes beside a database answer as SQL does, whatever happened to either of them."""

import os
import pickle
import shutil
import subprocess
import sys
import textwrap
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metafs.memory import Memory
from metafs_metadb import (
    MemoryIndex,
    MetaDB,
    ProblemRow,
    RunRow,
    SelectionRows,
    SqlSearch,
    beside,
    feature_sums,
)

from .building import STARTED, signature

WORDS = ("a", "b", "c", "d", "é 'f'")
ASKED = ("unheard of", *WORDS[::-1], "new 3")


@contextmanager
def limits(n):
    """Index from n rows on, and rewrite files at every turn."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("FEATURES_FROM", "SUMS_FROM", "SELECTIONS_FROM", "SIGNATURES_FROM"):
            patch.setattr(beside, name, n)
        patch.setattr(beside, "FEWEST_TO_WRITE", 2)
        patch.setattr(beside, "MOST_AT_ONCE", 2)
        patch.setattr("metafs_metadb.vocabulary.FEWEST_TO_REBUILD", 2)
        patch.setattr("metafs_metadb.memory_index.FEWEST_TO_MERGE", 3)
        yield


@pytest.fixture(autouse=True)
def indexed():
    with limits(0):
        yield


@pytest.fixture
def db(tmp_path):
    return MetaDB(tmp_path / "metafs.duckdb")


def tell(db, run=None, name="p", *, space="default", source="p.csv", score=0.5, status="solved"):
    """Record one run: name of feature -> (q, selected)."""
    run = {"a": (1.0, True), "b": (0.5, False)} if run is None else run
    masses = {key: 1.0 for key in (len(run), sum(map(ord, name)) % 3 + 10)}
    return db.record(
        ProblemRow(space, name, source, f"print of {space} {name} {source}", 10, 3, "y"),
        RunRow("climb", "none", STARTED, "0.1.0", score=score, status=status),
        signatures={"jsd": signature({key: 1 / len(masses) for key in masses})}
        if status == "solved"
        else {},
        selections=SelectionRows(
            tuple(run),
            q=[q for q, _ in run.values()],
            selected=[selected for _, selected in run.values()],
        ),
    )


QUESTIONS = (
    ("other", {}),
    ("default", {}),
    ("default", {"exclude_fingerprint": "print of default p p.csv"}),
    ("default", {"exclude_name": "q", "exclude_source": "p.csv"}),
)
QUERY = signature({2: 0.4, 10: 0.2, 11: 0.2, 12: 0.2})


def answers(db):
    """Everything that an index may answer, as plain values."""
    told = []
    for space, left_out in QUESTIONS:
        record = db.feature_record(space, ASKED, **left_out)
        told.append((record.n_solved, *(column.tolist() for column in vars_of(record))))
    return told, db.index("jsd", "default").nearest(*QUERY, 4, exclude_name="r")


def vars_of(record):
    return (
        record.n_problems,
        record.n_selected,
        record.relative,
        record.relative2,
        record.relative4,
    )


def by_sql(db):
    with limits(10**18):
        told, nearest = answers(MetaDB(db.path))
        assert db.search("jsd", "default").nearest(*QUERY, 4, exclude_name="r") == nearest
    return told, nearest


def execute(db, statement, **values):
    with db.writing() as con:
        con.execute(statement, values)
        con.execute("checkpoint")


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


def test_own_runs_are_added_without_asking_for_them(db, monkeypatch):
    tell(db)
    answers(db)

    def asked(self, con, upto):
        raise AssertionError("the database was asked for what this process has just told it")

    monkeypatch.setattr(feature_sums.FeatureSums, "catch_up", asked)
    monkeypatch.setattr(beside, "FEWEST_TO_WRITE", 100)
    for number, q in enumerate((0.3, 1e-320, np.inf, np.nan, -1.0)):
        tell(db, {"a": (q, True), f"new {number}": (1.0, False)}, f"new {number}", source="q.csv")
        record = db.feature_record("default", ASKED, exclude_source="p.csv")
        with limits(10**18):
            expected = MetaDB(db.path).feature_record("default", ASKED, exclude_source="p.csv")
        assert record.n_solved == expected.n_solved == number + 1
        for own, by_sql_alone in zip(vars_of(record), vars_of(expected), strict=True):
            np.testing.assert_array_equal(own, by_sql_alone)
    with pytest.raises(AssertionError, match="just told"):
        tell(MetaDB(db.path), name="from elsewhere")
        db.feature_record("default", ASKED)


def test_the_same_change_of_two_problems_does_not_go_unnoticed(db):
    tell(db, source="p.csv")
    tell(db, source="q.csv")
    answers(db)
    happen(db, "excluded")
    assert answers(db) == by_sql(db)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.one_of(runs, runs, st.sampled_from(HAPPENINGS)), min_size=2, max_size=9))
def test_the_index_answers_as_sql_whatever_happened(tmp_path_factory, events):
    db = MetaDB(tmp_path_factory.mktemp("db") / "metafs.duckdb")
    tell(db)
    for event in events:
        if isinstance(event, str):
            db = happen(db, event)
        else:
            tell(db, **event)
    expected = by_sql(db)
    assert answers(db) == expected
    assert answers(MetaDB(db.path)) == expected
    with db.reading() as con:
        twice = "select space, name from feature group by all having count(*) > 1"
        assert con.execute(twice).fetchall() == []


@pytest.mark.parametrize("what", HAPPENINGS)
def test_each_happening_between_two_questions(db, what):
    for name in ("p", "q", "r"):
        tell(db, {"a": (0.7, True), name: (1.0, False)}, name)
    answers(db)
    other = happen(db, what)
    assert answers(other) == answers(MetaDB(db.path)) == by_sql(db)
    tell(other, {"a": (0.2, False), "new 3": (1.0, True)}, "s")
    tell(other, {"b": (1.0, True)}, "q", score=0.9)  # another best run
    assert answers(other) == answers(MetaDB(db.path)) == by_sql(db)


def test_files_are_made_once_and_then_only_opened(db, monkeypatch):
    for name in ("p", "q"):
        tell(db, name=name)
    expected = answers(db)
    folder = db.path.with_name("metafs.duckdb.index")
    assert len(list(folder.iterdir())) == 3  # vocabulary, sums, signatures
    assert db.check() == []

    def refuse(*arguments):
        raise AssertionError("built again")

    monkeypatch.setattr("metafs_metadb.vocabulary.Vocabulary.build", refuse)
    monkeypatch.setattr(feature_sums.FeatureSums, "_take_in", refuse)
    monkeypatch.setattr("metafs_metadb.structure.Structure.build", refuse)
    assert answers(MetaDB(db.path)) == expected
    assert MetaDB(db.path).kept_index("jsd", "default") is not None


def test_nothing_asked_and_nothing_known(db):
    db.ensure()
    assert db.feature_record("default", ["a"]).n_problems.tolist() == [0]
    tell(db)
    record = db.feature_record("default", [])
    assert len(record) == 0 and record.n_solved == 1
    assert db.feature_record("nowhere", ["a"]).n_solved == 0


def test_a_short_stream_searches_an_index_that_is_there(db):
    for name in ("p", "q"):
        tell(db, name=name)
    memory = Memory(db, SimpleNamespace(in_sql=True))
    assert isinstance(memory._search("jsd", "default"), SqlSearch)
    db.index("jsd", "default")
    tell(db, name="r")
    found = Memory(db, SimpleNamespace(in_sql=True))._search("jsd", "default")
    assert isinstance(found, MemoryIndex) and len(found) == 3
    assert found.nearest(*QUERY, 4) == db.search("jsd", "default").nearest(*QUERY, 4)


def test_a_small_database_has_no_index(db):
    with limits(10**6):
        tell(db)
        answers(db)
        assert db.kept_index("jsd", "default") is None
    assert [each.name for each in db.path.parent.iterdir()] == ["metafs.duckdb"]


def test_a_folder_that_cannot_be_written_means_doing_without(db):
    for name in ("p", "q"):
        tell(db, name=name)
    folder = db.path.with_name("metafs.duckdb.index")
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("a file where the folder would be")
    for _ in range(2):
        assert answers(db) == by_sql(db)
        tell(db, {"new 3": (1.0, True)}, "r")
    assert folder.is_file()


def test_a_copy_put_back_and_continued_is_another_database(db):
    tell(db, name="p")
    shutil.copy(db.path, db.path.with_name("copy"))
    for number in range(3):
        tell(db, {f"new {number}": (1.0, True)}, f"old {number}")
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


def test_own_runs_of_a_database_that_was_put_back_are_forgotten(db):
    for name in ("p", "q", "r"):
        tell(db, name=name)
    answers(db)  # writes sums down, which fit the copy too
    shutil.copy(db.path, db.path.with_name("copy"))
    tell(db, {"a": (0.3, True)}, "own")
    shutil.copy(db.path.with_name("copy"), db.path)
    tell(MetaDB(db.path), {"b": (1.0, True)}, "of the same id", score=0.7)
    assert answers(db) == by_sql(db)


def test_hashes_in_common_are_told_apart(db, monkeypatch):
    """Names of equal length share the first hash here."""
    for name in ("FEATURE_HASHES", "INCOMING_HASHES"):
        query = getattr(beside.index_queries, name)
        shared = query.replace("hash(space, name) as one", "strlen(name)::ubigint as one")
        shared = shared.replace(
            "hash($space::varchar, name) as one",
            "if($space = '', 0, strlen(name))::ubigint as one",
        )
        assert shared != query
        monkeypatch.setattr(beside.index_queries, name, shared)
    for name in ("p", "q", "r"):
        tell(db, {"a": (1.0, True), "b": (0.5, False), name: (0.2, True)}, name)
    assert answers(db) == by_sql(db)
    assert db.check() == []


def test_an_error_halfway_leaves_no_half_sums(db, monkeypatch):
    tell(db)
    answers(db)
    tell(db, {"a": (0.5, False)}, score=0.9)

    calls = []

    def fail_late(con, speaking, query):
        calls.append(len(speaking))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return run_totals(con, speaking, query)

    run_totals = feature_sums._run_totals
    monkeypatch.setattr(feature_sums, "_run_totals", fail_late)
    with pytest.raises(KeyboardInterrupt):
        db.feature_record("default", ["a"])
    monkeypatch.setattr(feature_sums, "_run_totals", run_totals)
    assert answers(db) == by_sql(db)


def test_recording_in_a_large_vocabulary_finds_and_adds_names(db):
    first = {f"w{number}": (1.0, True) for number in range(40)}
    tell(db, first, "p")
    assert (db.path.with_name("metafs.duckdb.index") / "vocabulary.arrays").is_file()
    second = {name: (1.0, True) for name in ("new", "w7", "w39", "newer")}
    tell(db, second, "q")
    tell(MetaDB(db.path), {name: (1.0, True) for name in ("newer", "newest", "w1")}, "r")
    tell(db, {"w1": (1.0, True)}, "s", space="other")
    with db.reading() as con:
        names = con.execute("select space, name from feature order by feature_id").fetchall()
        told = con.execute(
            "select name from selection join feature using (feature_id) where run_id in (2, 3) "
            "order by run_id, rank"
        ).fetchall()
    expected = [*first, "new", "newer", "newest"]
    assert names == [*(("default", name) for name in expected), ("other", "w1")]
    assert [name for (name,) in told] == ["new", "w7", "w39", "newer", "newer", "newest", "w1"]
    assert db.check() == []


def test_a_metadb_goes_to_another_process_without_its_indexes(db):
    tell(db)
    answers(db)
    there = pickle.loads(pickle.dumps(db))
    assert (there.path, there.wait_s) == (db.path, db.wait_s)
    assert answers(there) == by_sql(db)


WORKER = textwrap.dedent(
    """
    import sys
    from tests.metadb.test_beside import MetaDB, answers, limits, tell
    number = sys.argv[2]
    with limits(0):
        db = MetaDB(sys.argv[1], wait_s=60)
        for turn in range(3):
            tell(db, {"a": (1.0, True), f"new {turn}": (0.5, True)}, f"p{turn * (turn % 2)}",
                 source=number * (turn % 3), score=turn / 10)
            answers(db)
    """
)


def test_several_processes_at_once(db):
    tell(db)
    commands = [[sys.executable, "-c", WORKER, str(db.path), str(n)] for n in range(2)]
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    running = [subprocess.Popen(command, cwd=folder) for command in commands]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    expected = by_sql(db)
    assert answers(db) == expected
    assert answers(MetaDB(db.path)) == expected
    assert db.check() == []
    names = [file.name for file in db.path.with_name("metafs.duckdb.index").iterdir()]
    assert not [name for name in names if name.endswith(".new")]
