"""Names have one id each."""

import pytest

from metafs_metadb import MetaDB

from ..indexing import execute, record_run


def names_of(db):
    return [name for (name,) in db.sql("select name from feature order by feature_id")[1]]


def test_recording_finds_and_adds_names(db):
    first = {f"w{number}": (1.0, True) for number in range(40)}
    record_run(db, first, "p")
    second = {name: (1.0, True) for name in ("new", "w7", "w39", "newer")}
    record_run(db, second, "q")
    record_run(MetaDB(db.path), {name: (1.0, True) for name in ("newer", "newest", "w1")}, "r")
    record_run(db, {"w1": (1.0, True)}, "s", space="other")
    with db.reading() as con:
        names = con.execute("select space, name from feature order by feature_id").fetchall()
        results = con.execute(
            "select name from selection join feature using (feature_id) where run_id in (2, 3) "
            "order by run_id, rank"
        ).fetchall()
    expected = [*first, "new", "newer", "newest"]
    assert names == [*(("default", name) for name in expected), ("other", "w1")]
    assert [name for (name,) in results] == ["new", "w7", "w39", "newer", "newer", "newest", "w1"]
    assert db.check() == []


def test_a_name_that_was_changed_by_hand_is_another_name(db):
    record_run(db, {"a": (1.0, True)}, "p")
    execute(db, "update feature set name = 'z' where name = 'a'")
    record_run(db, {"a": (1.0, True)}, "q")
    assert names_of(db) == ["z", "a"]
    assert db.feature_history("default", ["a", "z"]).n_problems.tolist() == [1, 1]


def test_names_of_a_run_that_was_not_recorded_are_not_kept(db):
    record_run(db, {"a": (1.0, True)}, "p")
    with pytest.raises(ValueError, match="could not convert"):
        record_run(db, {"new": ("no number", True)}, "q")
    record_run(db, {"new": (1.0, True)}, "q")
    assert names_of(db) == ["a", "new"]
    assert db.check() == []
