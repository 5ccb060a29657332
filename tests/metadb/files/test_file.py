"""What a MetaDB file can be instead of what we hoped for, and what others do to it meanwhile."""

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import pytest

from metafs_metadb import (
    MetaDB,
    MetaDBError,
    MetaDBLocked,
    MetaDBMissing,
    MetaDBOutdated,
)
from metafs_metadb.files import migrate as migrations

from ..building import record


@pytest.fixture
def db(tmp_path):
    return MetaDB(tmp_path / "metafs.duckdb", wait_s=0.3)


def one_sentence(raised):
    message = str(raised.value)
    assert "\n" not in message and "Error:" not in message
    return message


def test_a_missing_file_says_how_to_get_one(db):
    for read in (db.check, db.problems, db.migrate, lambda: db.sql("select 1")):
        with pytest.raises(MetaDBMissing) as raised:
            read()
        assert one_sentence(raised) == (
            f"no MetaDB at {db.path}: run `metafs solve` first, or give --db"
        )
    assert not db.path.exists()


def test_creating_leaves_nothing_beside_the_file(db):
    db.ensure()
    assert [path.name for path in db.path.parent.iterdir()] == ["metafs.duckdb"]


@pytest.mark.parametrize(
    "content", [b"SQLite format 3\0" * 512, b"hello" * 5000, b"a,b,y\n1,2,3\n"]
)
def test_something_else_than_a_database(db, content):
    db.path.write_bytes(content)
    for use in (db.ensure, db.problems, db.check, lambda: db.sql("select 1")):
        with pytest.raises(MetaDBError) as raised:
            use()
        assert "damaged or not a DuckDB file" in one_sentence(raised)


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
def test_a_truncated_file(db, keep):
    for i in range(3):
        record(db, f"p{i}")
    assert db.fold()
    whole = db.path.read_bytes()
    db.path.write_bytes(whole[: int(keep * len(whole))])
    with pytest.raises(MetaDBError) as raised:
        db.check()
        db.problems()
    assert "damaged" in one_sentence(raised)
    db.path.write_bytes(whole)
    assert db.check() == []


def test_overwritten_blocks(db):
    record(db, "p")
    assert db.fold()
    whole = bytearray(db.path.read_bytes())
    whole[12288:] = os.urandom(len(whole) - 12288)
    db.path.write_bytes(whole)
    with pytest.raises(MetaDBError) as raised:
        db.problems()
    assert "damaged" in one_sentence(raised)


@pytest.mark.parametrize(
    "theirs",
    [
        "create table mine (x integer)",
        "create view run as select 1 as run_id",
        "create sequence run_id",
        "create table migration (version integer, installed boolean)",
        "create table migration (number integer, name varchar, digest varchar)",
        "create table migration as select 'first' as number, 'x' as name, 'y' as digest",
        "create table migration as select 1 as number, 'users' as name, 'y' as digest",
        "create view migration as select 1 as number",
    ],
)
def test_somebody_elses_database(db, theirs):
    with duckdb.connect(str(db.path)) as con:
        con.execute(theirs)
    for use in (db.ensure, db.problems, db.migrate, db.check, lambda: db.sql("select 1")):
        with pytest.raises(MetaDBError) as raised:
            use()
        assert "is a DuckDB file but not a MetaDB" in one_sentence(raised)


def test_an_empty_file_is_as_good_as_none(db):
    db.path.touch()
    assert not db.exists()
    for read in (db.check, db.problems, db.migrate, lambda: db.sql("select 1")):
        with pytest.raises(MetaDBMissing, match="no MetaDB at"):
            read()
    assert db.path.stat().st_size == 0
    record(db, "p")
    assert db.check() == []
    assert db.fold()
    assert [path.name for path in db.path.parent.iterdir()] == ["metafs.duckdb"]


def test_devices_and_encrypted_files_are_refused_with_a_sentence(tmp_path):
    from metafs_metadb.files.file_errors import sentence

    for use in (MetaDB("/dev/null").ensure, MetaDB("/dev/null").problems):
        with pytest.raises(MetaDBError) as raised:
            use()
        assert "/dev/null" in one_sentence(raised)
    locked = duckdb.CatalogException('Catalog Error: Cannot open encrypted database "x" without')
    assert "is an encrypted DuckDB file" in str(sentence(locked, tmp_path))


def test_an_empty_database_is_filled_by_the_first_write(db):
    duckdb.connect(str(db.path)).close()
    with pytest.raises(MetaDBMissing, match="is empty"):
        db.problems()
    record(db, "p")
    assert db.check() == []


def test_a_folder_and_a_missing_folder(tmp_path):
    with pytest.raises(MetaDBError, match="is a folder, not a MetaDB"):
        MetaDB(tmp_path).ensure()
    with pytest.raises(MetaDBError, match="is a folder, not a MetaDB"):
        MetaDB(tmp_path).problems()
    with pytest.raises(MetaDBError, match="there is no folder"):
        MetaDB(tmp_path / "none" / "metafs.duckdb").ensure()


def test_an_unwritable_folder(tmp_path):
    """Root may write to any folder but those that the kernel makes up."""
    folder = Path("/sys") if os.geteuid() == 0 else tmp_path
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(MetaDBError) as raised:
            MetaDB(folder / "metafs.duckdb").ensure()
        assert "permission denied" in one_sentence(raised)
    finally:
        tmp_path.chmod(stat.S_IRWXU)


def test_the_sentence_for_a_refusal_of_the_system(tmp_path):
    from metafs_metadb.files.file_errors import sentence

    for why, said in (
        ("Permission denied", "permission denied"),
        ("Read-only file system", "permission denied"),
        ("No space left on device", "no space left"),
    ):
        error = duckdb.IOException(f'IO Error: Cannot open file "x": {why}')
        assert said in str(sentence(error, tmp_path))


def test_a_path_with_a_quote_is_a_path(tmp_path):
    db = MetaDB(tmp_path / "it's; mine.duckdb")
    record(db, "p")
    assert db.check() == []


def test_a_newer_schema_is_refused(db):
    db.ensure()
    with duckdb.connect(str(db.path)) as con:
        con.execute("insert into migration values (99, 'future', 'x', now()::timestamp)")
    for use in (db.ensure, db.problems, db.check, db.migrate, lambda: db.sql("select 1")):
        with pytest.raises(MetaDBError) as raised:
            use()
        assert "newer metafs (schema 99" in one_sentence(raised)
        assert one_sentence(raised).endswith("upgrade metafs")


def test_an_older_schema_waits_for_migrate(db, monkeypatch):
    whole = migrations.known()
    monkeypatch.setattr(migrations, "known", lambda: whole[:1])
    db.ensure()
    monkeypatch.undo()
    db = MetaDB(db.path)  # of a process with a newer metafs
    for use in (db.ensure, db.problems, lambda: db.sql("select 1"), lambda: record(db, "q")):
        with pytest.raises(MetaDBOutdated) as raised:
            use()
        assert f"run `metafs db migrate --db {db.path}`" in one_sentence(raised)
    assert db.migrate() == [
        "0002_views",
        "0003_stability",
        "0004_meta_features",
        "0005_weights",
        "0006_nested_scores",
        "0007_trials",
        "0008_models",
        "0009_report",
        "0010_comparisons",
        "0011_learner_candidates",
        "0012_rows_apart",
    ]
    assert db.migrate() == []
    record(db, "p")
    assert db.important_features("default", 5)[0] == ["a", "b"]
    assert db.check() == []


def test_a_migration_that_fails_leaves_nothing(db, monkeypatch):
    db.ensure()
    whole = migrations.known()
    broken = migrations.Migration(99, "broken", "create table half (x integer); select nonsense")
    monkeypatch.setattr(migrations, "known", lambda: (*whole, broken))
    with pytest.raises(MetaDBError, match="nonsense"):
        db.migrate()
    monkeypatch.undo()
    assert db.check() == []
    assert list(db.sql("select 1 from duckdb_tables() where table_name = 'half'")[1]) == []


def hold(path, how):
    holder = subprocess.Popen(
        [sys.executable, "-c", f"import duckdb\n{how}\nprint('held', flush=True)\ninput()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"HELD": str(path)},
    )
    assert holder.stdout.readline() == b"held\n"
    return holder


HOLD_WRITING = "import os; con = duckdb.connect(os.environ['HELD'])"
HOLD_READING = "import os; con = duckdb.connect(os.environ['HELD'], read_only=True)"


def test_a_lock_held_by_another_process_names_it(db):
    db.ensure()
    with hold(db.path, HOLD_WRITING) as holder:
        for use in (db.ensure, db.problems, lambda: db.sql("select 1")):
            begun = time.monotonic()
            with pytest.raises(MetaDBLocked) as raised:
                use()
            assert 0.25 < time.monotonic() - begun < 10, "it waited as long as by default"
            assert one_sentence(raised).count(str(holder.pid)) == 1
            assert f"in use by another process (PID {holder.pid}): wait" in str(raised.value)
        holder.communicate(b"\n")
    assert db.problems().rows == []


def test_readers_do_not_disturb_each_other(db):
    record(db, "p")
    with hold(db.path, HOLD_READING) as holder:
        assert len(db.problems().rows) == 1
        with pytest.raises(MetaDBLocked):
            record(db, "q")
        holder.communicate(b"\n")


def test_a_lock_that_is_given_back_in_time_is_only_waited_for(tmp_path):
    db = MetaDB(tmp_path / "metafs.duckdb", wait_s=30)
    db.ensure()
    with hold(db.path, HOLD_WRITING) as holder:
        letting_go = threading.Timer(0.3, holder.communicate, [b"\n"])
        letting_go.start()
        record(db, "p")
        letting_go.join()
    assert db.check() == []


def test_another_connection_of_this_process(db):
    db.ensure()
    with duckdb.connect(str(db.path)):
        for use in (db.problems, lambda: record(db, "p"), lambda: db.sql("select 1")):
            with pytest.raises(MetaDBLocked) as raised:
                use()
            assert f"in this process (PID {os.getpid()})" in one_sentence(raised)
    record(db, "p")


def test_nothing_is_held_between_calls(db):
    record(db, "p")
    list(db.sql("select 1")[1])
    db.index("jsd-rows", "default")
    for use in (lambda: db.sql("nonsense"), lambda: record(db, "q", space="elsewhere", seed="x")):
        with pytest.raises((MetaDBError, duckdb.Error)):
            use()
    code = "import duckdb, os; duckdb.connect(os.environ['HELD']).execute('from run')"
    subprocess.run(
        [sys.executable, "-c", code], check=True, env=os.environ | {"HELD": str(db.path)}
    )


def test_threads_take_turns(tmp_path):
    db = MetaDB(tmp_path / "metafs.duckdb", wait_s=60)
    failures = []

    def work(number):
        try:
            for i in range(4):
                record(db, f"p{number}-{i}")
                db.problems()
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(db.problems().rows) == 12
    assert db.check() == []
