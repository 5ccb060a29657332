"""A memory is known again only while nobody else has written to its file or its log."""

import shutil
import subprocess
import sys

import duckdb
import pytest

from metafs_metadb import MetaDB
from metafs_metadb.files import log as log_module
from metafs_metadb.files import migrate
from metafs_metadb.search.stamp import Stamp

from ..building import record


@pytest.fixture
def db(tmp_path):
    db = MetaDB(tmp_path / "metafs.duckdb")
    record(db, "p")
    return db


def holds(db):
    with db.reading():
        return db._index_cache.is_as_seen()


def edit(path, how="update problem set excluded = true", *, killed=False):
    """Let somebody else write with DuckDB itself, who may be killed before a checkpoint."""
    code = "import duckdb, os, sys; con = duckdb.connect(sys.argv[1]); con.execute(sys.argv[2])"
    if killed:
        subprocess.run([sys.executable, "-c", f"{code}; os._exit(9)", str(path), how])
        assert path.with_name(f"{path.name}.wal").exists()
    else:
        with duckdb.connect(str(path)) as con:
            con.execute(how)


def test_a_file_as_it_was_left_is_asked_neither_for_its_schema_nor_for_its_stamp(db, monkeypatch):
    def refuse(*arguments):
        raise AssertionError("asked again")

    monkeypatch.setattr(migrate, "applied", refuse)
    monkeypatch.setattr(Stamp, "_both", refuse)
    record(db, "q")
    assert db.feature_history("default", ["a"]).n_solved == 2
    assert len(db.problems().rows) == 2
    with pytest.raises(AssertionError, match="asked again"):
        record(MetaDB(db.path), "r")


def test_reading_changes_nothing(db):
    assert holds(db) and holds(db)
    db.problems()
    MetaDB(db.path).problems()
    list(db.sql("select 1")[1])
    assert holds(db)


def test_a_run_that_could_not_be_recorded_changes_nothing(db):
    with pytest.raises(ValueError, match="sum to 1"):
        record(db, "bad", masses={1: 0.5})
    assert holds(db)
    assert db._index_cache._seen == fresh_stamp(db)


def fresh_stamp(db):
    with MetaDB(db.path).reading() as con:
        return Stamp.look(con, None)[0]


def test_the_stamp_that_follows_from_recording_is_that_of_the_file(db):
    runs = (
        {"name": "q", "score": float("nan"), "n_evaluations": None},
        {"name": "q", "seed": 8},
        {"name": "q again", "fingerprint": "print of q", "settings": "s"},
        {"name": "q again", "fingerprint": "print of q", "settings": "s"},
        {"name": "elsewhere", "space": "é 'other'"},
        {"name": "broken", "status": "failed", "error": "it broke", "score": None},
    )
    for run in runs:
        record(db, **run)
        assert db._index_cache._seen == fresh_stamp(db)
    assert holds(db)


@pytest.mark.parametrize("killed", [False, True])
def test_what_somebody_else_wrote_is_noticed(db, killed):
    edit(db.path, killed=killed)
    assert not holds(db)
    assert db.feature_history("default", ["a"]).n_solved == 0
    assert db._index_cache._seen == fresh_stamp(db)


@pytest.mark.parametrize("killed", [False, True])
def test_what_somebody_else_wrote_is_noticed_by_who_records_next(db, killed):
    edit(db.path, "update problem set fingerprint = 'print of q'", killed=killed)
    assert record(db, "q").problem_id == 1
    assert db._index_cache._seen == fresh_stamp(db)
    assert db.check() == []


def test_another_process_that_records_is_noticed(db):
    record(MetaDB(db.path), "q")
    assert not holds(db)
    assert db.feature_history("default", ["a"]).n_solved == 2


def test_an_older_copy_put_back_with_its_times_is_noticed(db):
    with db.writing() as con:
        assert log_module.fold(con, db.path)
    copy = db.path.with_name("copy")
    shutil.copy2(db.path, copy)
    record(db, "q")
    with db.writing() as con:
        assert log_module.fold(con, db.path)
    shutil.copy2(copy, db.path)
    assert not holds(db)
    assert db.feature_history("default", ["a"]).n_solved == 1


def test_an_older_log_put_back_with_its_times_is_noticed(db):
    log = db.path.with_name("metafs.duckdb.wal")
    shutil.copy2(log, log.with_name("copy"))
    record(db, "q")
    shutil.copy2(log.with_name("copy"), log)
    assert not holds(db)
    assert db.feature_history("default", ["a"]).n_solved == 1


def test_after_its_own_fold_a_process_looks_once_more(db, monkeypatch):
    monkeypatch.setattr(log_module, "LEAST_BYTES", 0)
    record(db, "q")
    assert not db.path.with_name("metafs.duckdb.wal").exists()
    assert db.feature_history("default", ["a"]).n_solved == 2
    assert holds(db)
    assert db._index_cache._seen == fresh_stamp(db)
