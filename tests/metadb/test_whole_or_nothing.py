"""A run is remembered whole or not at all, also by who has no room or is killed while folding."""

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time

import pytest

from metafs_metadb import MetaDB, MetaDBError
from metafs_metadb.files import connect, log

from ..cli.running import invoke
from .building import record

PROBLEM = """
insert into problem (space, name, source, fingerprint, n_samples, n_features, target, created_at)
values ('default', $name, '', $name, 1, 1, 'y', '2026-01-02')
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_commit_leaves_the_file_alone_and_goes_into_the_log(db, tmp_path):
    db.ensure()
    assert names(tmp_path) == ["metafs.duckdb"]
    content = db.path.read_bytes()
    with db.writing() as con, connect.transaction(con):
        con.execute(PROBLEM, {"name": "p"})
    assert names(tmp_path) == ["metafs.duckdb", "metafs.duckdb.wal"]
    assert db.path.read_bytes() == content
    copy = MetaDB(tmp_path / "copy.duckdb")  # of file and log together
    copy.path.write_bytes(content)
    copy.path.with_name("copy.duckdb.wal").write_bytes(
        db.path.with_name("metafs.duckdb.wal").read_bytes()
    )
    assert copy.problems().column("name") == db.problems().column("name") == ["p"]


def test_a_fold_leaves_one_file_that_is_the_whole_memory(db, tmp_path):
    record(db, "p")
    db.path.chmod(0o640)
    assert db.fold() and db.fold()
    assert names(tmp_path) == ["metafs.duckdb"]
    assert stat.S_IMODE(db.path.stat().st_mode) == 0o640
    assert db.problems().column("name") == ["p"]
    assert db.check() == []


def test_a_log_that_has_grown_long_is_folded_in(db, monkeypatch):
    monkeypatch.setattr(log, "LEAST_BYTES", 10_000)
    lengths = []
    for number in range(8):
        record(db, f"p{number}")
        path = log.log_of(db.path)
        lengths.append(path.stat().st_size if path.exists() else 0)
    assert 0 in lengths[1:] and max(lengths) < 20_000
    assert len(db.problems().rows) == 8
    assert db.check() == []


def test_a_fold_goes_through_a_link_to_the_file_itself(db, tmp_path):
    record(db, "p")
    link = MetaDB(tmp_path / "link.duckdb")
    link.path.symlink_to(db.path)
    record(link, "q")
    assert link.fold()
    assert link.path.is_symlink()
    assert db.problems().column("name") == ["p", "q"]


def test_the_command_folds_and_says_so(db, tmp_path):
    assert "no MetaDB at" in invoke("db", "fold", "--db", db.path).output
    record(db, "p")
    done = invoke("db", "fold", "--db", db.path)
    assert done.exit_code == 0 and "is one file" in done.output
    assert names(tmp_path) == ["metafs.duckdb"]


def killed_fold(db, step):
    """Fold in another process that is killed at a step."""
    code = f"""
        import os
        from metafs_metadb import MetaDB
        replace = os.replace
        def dying(*names):
            if {step!r} == "after the rename":
                replace(*names)
            os._exit(9)
        os.replace = dying
        MetaDB({str(db.path)!r}).fold()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)])
    assert done.returncode == 9


@pytest.mark.parametrize(
    ("step", "next_visit"),
    [
        ("before the rename", "record"),
        ("after the rename", "check"),
        ("after the rename", "record"),
        ("after the rename", "sql"),
        ("after the rename", "fold"),
    ],
)
def test_a_fold_killed_at_any_step_needs_nobody(db, tmp_path, step, next_visit):
    record(db, "p")
    killed_fold(db, step)
    assert log.log_of(db.path).exists()
    assert (tmp_path / ".metafs.duckdb.fold").exists() == (step == "before the rename")
    if next_visit == "record":
        record(db, "q")
    elif next_visit == "fold":
        assert db.fold()
    elif next_visit == "sql":
        assert list(db.sql("select name from problem")[1]) == [("p",)]
    assert db.check() == []
    assert db.problems().column("name") == ["p", "q"][: 1 + (next_visit == "record")]
    record(db, "r")
    assert db.fold()
    assert names(tmp_path) == ["metafs.duckdb"]


def test_a_log_of_another_file_is_a_sentence(db, tmp_path):
    other = MetaDB(tmp_path / "other.duckdb")
    record(other, "o")
    record(db, "p")
    log.log_of(db.path).write_bytes(log.log_of(other.path).read_bytes())
    for use in (db.problems, db.ensure, db.fold):
        with pytest.raises(MetaDBError, match="does not belong to the MetaDB"):
            use()


FOLDING = """
import sys
from metafs_metadb import MetaDB
from metafs_metadb.files import log
from tests.metadb.building import record
log.LEAST_BYTES = int(sys.argv[3])
db = MetaDB(sys.argv[1], wait_s=60)
for number in range(12):
    record(db, f"{sys.argv[2]} {number}")
    assert db.problems().rows
"""


def test_files_that_take_each_others_place_lose_nothing_of_other_processes(db, tmp_path):
    """Two processes fold at each commit, a third never: each opens what the others renamed."""
    db.ensure()
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    running = [
        subprocess.Popen([sys.executable, "-c", FOLDING, str(db.path), name, str(least)], cwd=root)
        for name, least in (("a", 0), ("b", 0), ("c", 10**9))
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    assert len(db.problems().rows) == 36
    assert db.check() == []


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
