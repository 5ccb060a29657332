"""A file is known again only while nobody else has written to it."""

import os
import shutil
import subprocess
import sys

import duckdb
import pytest

from metafs_metadb import MetaDB, migrate
from metafs_metadb.mark import Mark
from metafs_metadb.stamp import Stamp

from .building import record


@pytest.fixture
def db(tmp_path):
    db = MetaDB(tmp_path / "metafs.duckdb")
    record(db, "p")
    return db


def holds(db):
    with db.reading():
        return db._mark.holds()


def edit(path, how="update problem set excluded = true", *, killed=False):
    """Let somebody else write, who may be killed before the log is merged into the file."""
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
    assert db.feature_record("default", ["a"]).n_solved == 2
    assert len(db.problems().rows) == 2
    with pytest.raises(AssertionError, match="asked again"):
        record(MetaDB(db.path), "r")


def test_reading_leaves_the_mark_alone(db):
    assert holds(db) and holds(db)
    db.problems()
    MetaDB(db.path).problems()
    list(db.sql("select 1")[1])
    assert holds(db)


def test_a_run_that_could_not_be_recorded_changes_nothing(db):
    with pytest.raises(ValueError, match="sum to 1"):
        record(db, "bad", masses={1: 0.5})
    assert holds(db)
    assert db._beside._seen == fresh_stamp(db)


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
        assert db._beside._seen == fresh_stamp(db)
    assert holds(db)


@pytest.mark.parametrize("killed", [False, True])
def test_what_somebody_else_wrote_is_noticed(db, killed):
    edit(db.path, killed=killed)
    assert not holds(db)
    assert db.feature_record("default", ["a"]).n_solved == 0
    assert db._beside._seen == fresh_stamp(db)


@pytest.mark.parametrize("killed", [False, True])
def test_what_somebody_else_wrote_is_noticed_by_who_records_next(db, killed):
    edit(db.path, "update problem set fingerprint = 'print of q'", killed=killed)
    assert record(db, "q").problem_id == 1
    assert db._beside._seen == fresh_stamp(db)
    assert db.check() == []


def test_another_process_that_records_is_noticed(db):
    record(MetaDB(db.path), "q")
    assert not holds(db)
    assert db.feature_record("default", ["a"]).n_solved == 2


def test_an_older_copy_put_back_with_its_times_is_noticed(db):
    copy = db.path.with_name("copy")
    shutil.copy2(db.path, copy)
    record(db, "q")
    shutil.copy2(copy, db.path)
    assert not holds(db)
    assert db.feature_record("default", ["a"]).n_solved == 1


def test_a_mark_that_failed_is_given_up(db):
    copy = db.path.with_name("copy")
    shutil.copy2(db.path, copy)
    edit(db.path)
    assert not holds(db)
    shutil.copy2(copy, db.path)
    assert not holds(db)
    record(db, "q")
    assert holds(db)


def test_the_same_content_put_back_with_its_times_is_the_same(db):
    copy = db.path.with_name("copy")
    shutil.copy2(db.path, copy)
    edit(db.path)
    shutil.copy2(copy, db.path)
    assert holds(db)
    assert db.feature_record("default", ["a"]).n_solved == 1


def test_a_file_system_that_rounds_times_has_no_marks(db, monkeypatch):
    def round_down(path, ns):
        utime(path, ns=tuple(each // 10**9 * 10**9 for each in ns))

    utime = os.utime
    monkeypatch.setattr(os, "utime", round_down)
    record(db, "q")
    assert not holds(db)
    assert db.feature_record("default", ["a"]).n_solved == 2


def test_a_file_that_cannot_be_dated_has_no_mark(tmp_path, monkeypatch):
    def refuse(path, ns):
        raise PermissionError("not the owner")

    path = tmp_path / "file"
    path.write_bytes(b"content")
    mark = Mark(path)
    mark.leave()
    assert mark.holds()
    monkeypatch.setattr(os, "utime", refuse)
    mark.leave()
    assert not mark.holds()
