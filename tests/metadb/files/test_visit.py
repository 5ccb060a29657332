"""A visit reads much from one open file, and lets others write as soon as it is over."""

import subprocess
import sys

import duckdb
import pytest

from metafs_metadb import MetaDB, MetaDBError
from metafs_metadb.files import connect

from ..building import record


@pytest.fixture
def db(tmp_path):
    db = MetaDB(tmp_path / "metafs.duckdb", wait_s=0.1)
    record(db, "p")
    return db


@pytest.fixture
def opened(monkeypatch):
    times, attach = [], connect._attach
    monkeypatch.setattr(connect, "_attach", lambda *given: times.append(given) or attach(*given))
    return times


def others_can_write(path):
    """Tell whether another process can write now."""
    code = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute('begin')"
    written = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True)
    return written.returncode == 0


def ask(db):
    return (
        db.described_spaces(),
        db.feature_history("default", ["a"]).n_solved,
        db.trials("default"),
    )


def test_a_visit_opens_the_file_once_and_gives_the_same_answers(db, opened):
    alone = ask(db)
    assert len(opened) == 3
    with db.visit():
        assert ask(db) == alone
        assert not others_can_write(db.path)
    assert len(opened) == 4
    assert others_can_write(db.path)


def test_a_visit_that_was_ended_lets_others_write_and_goes_on_to_answer(db, opened):
    with db.visit():
        db.end_visit()
        assert others_can_write(db.path)
        assert ask(db)[1] == 1
    assert len(opened) == 4
    db.end_visit()  # nothing to end


def test_building_an_index_ends_the_visit(db):
    with db.visit():
        db.index("hellinger", "default")
        assert others_can_write(db.path)


def test_an_error_within_a_visit_is_a_sentence_and_ends_it(db):
    with pytest.raises(MetaDBError, match="is damaged"), db.visit(), db.reading() as con:
        con.execute("select * from no_table")
    assert others_can_write(db.path)
    with pytest.raises(ZeroDivisionError), db.visit():
        raise ZeroDivisionError
    assert ask(db)[1] == 1


def test_an_error_within_a_visit_can_be_caught_there(db):
    with db.visit():
        with pytest.raises(MetaDBError) as caught, db.reading() as con:
            con.execute("select * from no_table")
        assert isinstance(caught.value.__cause__, duckdb.CatalogException)
        assert ask(db)[1] == 1
