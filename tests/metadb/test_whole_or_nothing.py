"""A run is in the file whole or not at all, also for who copies it, has no room or is killed."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from metafs_metadb import MetaDB, connect

from .building import record

PROBLEM = """
insert into problem (space, name, source, fingerprint, n_samples, n_features, target, created_at)
values ('default', $name, '', $name, 1, 1, 'y', '2026-01-02')
"""


def test_what_was_committed_is_in_the_file_alone(db, tmp_path):
    db.ensure()
    with db.writing() as con:
        with connect.transaction(con):
            con.execute(PROBLEM, {"name": "p"})
        assert [path.name for path in tmp_path.iterdir()] == ["metafs.duckdb"]
        content = db.path.read_bytes()  # whoever copies the file alone, at this very moment
        con.execute(PROBLEM, {"name": "without a transaction of ours"})
        assert [path.name for path in tmp_path.iterdir()] == ["metafs.duckdb"]
    copy = MetaDB(tmp_path / "copy.duckdb")
    copy.path.write_bytes(content)
    assert copy.problems().column("name") == ["p"]
    assert db.problems().column("name") == ["p", "without a transaction of ours"]


def test_the_log_of_somebody_who_was_killed_is_taken_in(db):
    record(db, "p")
    code = f"""
        import os, duckdb
        con = duckdb.connect({str(db.path)!r})
        con.execute("update problem set name = 'as somebody called it'")
        os._exit(0)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
    assert db.path.with_name("metafs.duckdb.wal").exists()
    record(db, "q")
    assert db.problems().column("name") == ["as somebody called it", "q"]
    assert not db.path.with_name("metafs.duckdb.wal").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit there")
def test_a_run_for_which_there_is_no_room_leaves_the_file_as_it_was(db):
    code = f"""
        import os, resource, signal, sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from building import record
        from metafs_metadb import MetaDB, MetaDBError
        db = MetaDB({str(db.path)!r})
        record(db, "p")
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(db.path), -1))
        try:
            names = tuple(map(str, range(9999)))
            record(db, "q", names=names, selected=(True,) * len(names), candidates=[])
        except MetaDBError as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
        record(db, "r")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert "cannot use the MetaDB" in done.stdout and "\n" not in done.stdout.strip()
    assert db.problems().column("name") == ["p", "r"]
    assert db.check() == []


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit there")
def test_a_disk_without_room_for_a_new_file_is_named_as_the_cause(db, tmp_path):
    code = f"""
        import resource, signal
        from metafs_metadb import MetaDB, MetaDBError
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, -1))
        try:
            MetaDB({str(db.path)!r}).ensure()
        except MetaDBError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert os.strerror(errno.EFBIG) in done.stdout and "rollback" not in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_kill_in_the_middle_of_record_leaves_a_clean_file(tmp_path):
    db = MetaDB(tmp_path / "metafs.duckdb", wait_s=30)
    code = textwrap.dedent(f"""
        import sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from building import record
        from metafs_metadb import MetaDB
        db = MetaDB({str(db.path)!r}, wait_s=30)
        n = int(sys.argv[1])
        while True:
            n += 1
            record(db, f"p{{n}}")
            print(n, flush=True)
    """)
    n = 0
    for wait_s in (0.0, 0.011, 0.023, 0.037, 0.052, 0.071):
        worker = subprocess.Popen(
            [sys.executable, "-c", code, str(n)], stdout=subprocess.PIPE, text=True
        )
        if wait_s:
            worker.stdout.readline()
            n += 1
        time.sleep(wait_s)
        worker.send_signal(signal.SIGKILL)
        said, _ = worker.communicate()
        n += len(said.splitlines())
        if db.exists():
            found = len(db.problems().rows)
            assert found in (n, n + 1)  # killed after the commit, before it could say so
            n = found
            assert db.check() == []
    assert n >= 5
