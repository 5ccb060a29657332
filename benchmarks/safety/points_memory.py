"""Ways to lose the memory: queries that write, kills inside a write, damaged schemas, odd files."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from command import Installation, Outcome

sys.path.insert(0, str(Path(__file__).parent.parent))
import torn

STREAM = "a,b,c,y\n" + "1,0,1,p\n0,1,1,q\n1,1,0,p\n0,0,0,q\n" * 8
EXPLAINED = "explain analyze copy (select 'gone') to '{}' (format csv, use_tmp_file false)"

RECORD = """
import os, sys, numpy as np
from datetime import datetime
from metafs_metadb import MetaDB, ProblemRow, RunRow, SelectionRows
names = tuple("abcdefgh")
def record(db, number):
    db.record(
        ProblemRow("default", str(number), "", f"print of {number}", 10, 8, "y"),
        RunRow("climb", "none", datetime(2026, 1, 1), "0.1.0", score=0.5, settings="one"),
        selections=SelectionRows(names, q=np.ones(8), selected=np.ones(8, bool)),
    )
db = MetaDB(sys.argv[1])
"""
FILL = f"{RECORD}\nfor number in range(3): record(db, number)\n"
TORN = f"""{RECORD}
import ctypes
shim = ctypes.CDLL(None)
shim.tear_arm(b"metafs.duckdb", ctypes.c_long(int(sys.argv[2])), ctypes.c_long(1))
record(db, 3)
print(shim.tear_count())
"""
WRITE_LATER = """
import sys, time
from metafs_metadb import MetaDB
time.sleep(8)
MetaDB(sys.argv[1], wait_s=5).ensure()
"""
LOOK = f"{RECORD}\nprint(db.check(), len(db.problems().rows))\nrecord(db, 4)\n"


def memory(metafs: Installation, folder: Path) -> Path:
    (folder / "t.csv").write_text(STREAM)
    done = metafs.metafs("solve", "t.csv", "--target", "y", "--db", "v.duckdb", cwd=folder)
    assert done.code == 0, done.err
    return folder / "v.duckdb"


def told(outcome: Outcome) -> str:
    if outcome.code is None:
        return "had to be stopped"
    return f"exit {outcome.code}, {'a traceback' if outcome.traceback else 'a sentence'}"


def explained_copy(metafs: Installation, folder: Path) -> str:
    db = memory(metafs, folder)
    said = [
        metafs.metafs("sql", "--db", db, EXPLAINED.format(path), cwd=folder)
        for path in (db, f"{db}.wal")
    ]
    check = metafs.metafs("db", "check", "--db", db, cwd=folder)
    codes = " and ".join(str(each.code) for each in said)
    return f"exit {codes}; file of {db.stat().st_size:,} bytes, `db check` exit {check.code}"


def other_statements(metafs: Installation, folder: Path) -> str:
    db = memory(metafs, folder)
    queries = (
        "explain analyze set variable x = 1",
        "explain analyze create table memory.t (x integer)",
        f"with x as (copy (select 1) to '{db}.wal' (use_tmp_file false)) select 1",
    )
    run = [metafs.metafs("sql", "--db", db, query, cwd=folder).code == 0 for query in queries]
    return f"{sum(run)} of {len(run)} executed"


def long_query(metafs: Installation, folder: Path) -> str:
    db = memory(metafs, folder)
    query = "select sum(a.range * b.range) from range(9999999) a, range(9999999) b, problem"
    asking = subprocess.Popen(
        [metafs.bin / "metafs", "sql", "--db", db, query],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        writer = metafs.python(WRITE_LATER, db, cwd=folder)
        running = asking.poll() is None
    finally:
        asking.kill()
        asking.wait()
    what = "writes" if writer.code == 0 else "is locked out"
    return f"the writer {what} while the query {'runs' if running else 'has ended'}"


def torn_commit(metafs: Installation, folder: Path) -> str:
    shim = torn.build(folder)
    db = folder / "metafs.duckdb"
    os.environ["LD_PRELOAD"] = str(shim)
    lost = 0

    def fresh() -> Path:
        for left in folder.glob("metafs.duckdb*"):
            left.unlink()
        metafs.python(FILL, db, cwd=folder)
        return db

    try:
        n_writes = int(metafs.python(TORN, fresh(), 10**9, cwd=folder).out)
        for k in range(1, n_writes + 1):
            metafs.python(TORN, fresh(), k, cwd=folder)
            seen = metafs.python(LOOK, db, cwd=folder)
            lost += seen.code != 0 or not seen.out.startswith("[] ")
    finally:
        del os.environ["LD_PRELOAD"]
    return f"{lost} of {n_writes} destroyed"


def damaged(statement: str) -> Callable[[Installation, Path], str]:
    def look(metafs: Installation, folder: Path) -> str:
        db = memory(metafs, folder)
        code = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])"
        metafs.python(code, db, statement, cwd=folder)
        (folder / "u.csv").write_text(STREAM.replace("1,0,1", "1,1,1"))
        return "; ".join(
            f"{words[0] if words[0] == 'solve' else ' '.join(words[:2])}: "
            + told(metafs.metafs(*words, "--db", db, cwd=folder))
            for words in (("db", "check"), ("solve", "u.csv", "--target", "y"), ("db", "migrate"))
        )

    return look


def odd_files(metafs: Installation, folder: Path) -> str:
    os.mkfifo(folder / "pipe")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    seen = []
    for name in ("pipe", "/dev/zero", "dangling", "loop"):
        done = metafs.metafs("db", "check", "--db", name, cwd=folder, timeout=60)
        (folder / "t.csv").write_text(STREAM)
        words = ("solve", "t.csv", "--target", "y", "--db", name)
        solved = metafs.metafs(*words, cwd=folder)
        seen.append(f"{name}: check {told(done)}, solve {told(solved)}")
    return "; ".join(seen)


POINTS = [
    ("1a", "`sql` that explains a copy over the file and its log", explained_copy),
    ("1b", "`sql` that explains `set`, `create`, or has a `with` that copies", other_statements),
    ("1c", "a writer while a query of another process runs", long_query),
    ("2a", "a kill inside each write of a commit, after its first byte", torn_commit),
    ("4a", "`drop table neighbour`", damaged("drop table neighbour")),
    ("4b", "a hole in the ledger", damaged("delete from migration where number = 2")),
    ("4c", "a pipe, a device, a dangling and a looping link as `--db`", odd_files),
]
