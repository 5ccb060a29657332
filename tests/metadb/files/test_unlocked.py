"""Copies that are made without the lock: nobody waits, and nothing is torn."""

import multiprocessing
import time

import duckdb
import pytest

from metafs_metadb import MetaDB, MetaDBError, MetaDBMissing
from metafs_metadb.files import log, unlocked

from ..building import record


def hold(path, held, over):
    with duckdb.connect(str(path)) as con:
        con.execute("begin")
        con.execute("delete from run")
        held.set()
        over.wait(60)


def write_on(path, n_problems):
    db = MetaDB(path)
    for number in range(n_problems):
        record(db, f"problem {number}")


@pytest.fixture
def processes():
    """Processes of their own, which fork nothing of DuckDB."""
    return multiprocessing.get_context("spawn")


def test_a_memory_that_somebody_holds_is_copied_as_it_was_committed(tmp_path, processes):
    path = tmp_path / "m.duckdb"
    record(MetaDB(path), "one")
    held, over = processes.Event(), processes.Event()
    holder = processes.Process(target=hold, args=(path, held, over))
    holder.start()
    try:
        assert held.wait(60)
        with pytest.raises(MetaDBError, match="in use by another process"):
            MetaDB(path, wait_s=0.1).problems()
        rows = MetaDB(path, wait_s=0.1).report()
        assert rows.problems.column("name") == ["one"]
        assert rows.problems.column("score") == [0.8]
    finally:
        over.set()
        holder.join()


def test_every_copy_made_while_somebody_records_and_folds_is_whole(tmp_path, processes):
    path = tmp_path / "m.duckdb"
    record(MetaDB(path), "first")
    writer = processes.Process(target=write_on, args=(path, 60))
    writer.start()
    counts, files = [], set()
    try:
        while writer.is_alive():
            folder = tmp_path / f"copy {len(counts)}"
            folder.mkdir()
            copy = MetaDB(path).copy_into(folder)
            assert copy.check() == []
            counts.append(len(copy.problems().rows))
            files.add(log.identity(path))
    finally:
        writer.join()
    assert writer.exitcode == 0
    assert counts == sorted(counts) and len(set(counts)) > 2
    MetaDB(path).fold()
    assert len(MetaDB(path).report().problems.rows) == 61


def test_a_fold_in_the_middle_of_a_copy_makes_it_begin_again(tmp_path, monkeypatch):
    path = tmp_path / "m.duckdb"
    db = MetaDB(path)
    record(db, "one")
    assert log.log_of(path).exists()
    copied, copy_memory = [], log.copy_memory

    def folded_meanwhile(*arguments):
        copy_memory(*arguments)
        if arguments[0] == path and not copied:
            copied.append(arguments[0])
            other = path.with_name("other")
            other.write_bytes(path.read_bytes())
            other.replace(path)

    monkeypatch.setattr(unlocked.log, "copy_memory", folded_meanwhile)
    folder = tmp_path / "copy"
    folder.mkdir()
    assert len(db.copy_into(folder).problems().rows) == 1
    assert copied


@pytest.mark.parametrize("content", [None, b"", b"no database" * 1000])
def test_what_is_no_memory_gets_a_sentence_that_names_it(tmp_path, content):
    path = tmp_path / "m.duckdb"
    if content is not None:
        path.write_bytes(content)
    begun = time.monotonic()
    with pytest.raises(MetaDBError, match=r"m\.duckdb") as raised:
        MetaDB(path).report()
    assert str(path) in str(raised.value) and time.monotonic() - begun < 10
    assert isinstance(raised.value, MetaDBMissing) == (not content)


def test_the_version_changes_with_each_commit_and_not_by_reading(tmp_path):
    db = MetaDB(tmp_path / "m.duckdb")
    versions = [db.version()]
    for name in ("one", "two", "three"):
        record(db, name)
        versions.append(db.version())
        db.problems()
        db.report()
        assert db.version() == versions[-1]
    assert len(set(versions)) == 4


def test_what_was_saved_and_what_memory_was_worth_come_back(tmp_path):
    db = MetaDB(tmp_path / "m.duckdb")
    saving = {"cold_evaluations": 200, "evaluations": 50, "cold_seconds": 2.0, "seconds": 0.5}
    record(db, "checked", saving=saving | {"reached": True}, without_memory=0.75)
    record(db, "plain")
    gains = db.report().gains
    (row,) = [dict(zip(gains.columns, each, strict=True)) for each in gains.rows]
    assert (row["cold_score"], row["cold_evaluations"], row["n_evaluations"]) == (0.75, 200, 50)
    assert row["seconds"] > 0.5 and row["reached"] is True


def test_a_choice_that_was_checked_is_compared_in_size_and_seconds(tmp_path):
    db = MetaDB(tmp_path / "m.duckdb")
    alone = {"without_memory": 0.75, "features_without_memory": 9, "seconds_without_memory": 1.5}
    record(db, "checked", n_selected=4, duration_s={"select": 1.0, "record": 0.25}, **alone)
    gains = db.report().gains
    (row,) = [dict(zip(gains.columns, each, strict=True)) for each in gains.rows]
    assert (row["n_selected"], row["cold_selected"]) == (4, 9)
    assert (row["seconds"], row["cold_seconds"]) == (1.25, 1.5)
    assert row["cold_evaluations"] is None and row["reached"] is None


def test_views_show_new_columns_and_leave_out_excluded_problems(tmp_path):
    db = MetaDB(tmp_path / "m.duckdb")
    record(db, "kept", without_memory=0.5)
    record(db, "wrong", without_memory=0.25)
    ((wrong,),) = db.sql("select problem_id from problem where name = 'wrong'")[1]
    db.set_excluded([wrong], True)
    assert list(db.sql("select sum(n_runs) from leaderboard")[1]) == [(1,)]
    assert list(db.sql("select max(without_memory) from best_run")[1]) == [(0.5,)]
