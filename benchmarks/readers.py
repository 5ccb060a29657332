"""Ten processes read a memory while another records into it, and then the disk is full.

    python benchmarks/readers.py [--readers 10] [--seconds 30]

Readers list problems, ask by SQL and check, one after the other, as commands. Counted are answers,
answers that were refused because the file was in use for too long, and anything else. For the full
disk a limit on the size of files stops the recording; then the limit is lifted, the memory is
checked and recorded to again.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from multiprocessing import Process, Queue
from pathlib import Path

from torn import record

from metafs_metadb import MetaDB, MetaDBError

COMMANDS = (["problems"], ["sql", "select count(*) from run"], ["db", "check"])


def read(path, until, answers):
    """Run commands that read until time is up, and tell how they ended."""
    turn = os.getpid()
    while time.time() < until:
        words = COMMANDS[turn % len(COMMANDS)]
        turn += 1
        done = subprocess.run(
            [Path(sys.executable).parent / "metafs", *words, "--db", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        busy = "use" in done.stderr or "lock" in done.stderr
        kind = "answered" if done.returncode == 0 else "busy" if busy else f"wrong: {done.stderr}"
        answers.put(kind)


def side_by_side(path, n_readers, seconds):
    """Record while others read; return how many were recorded and what happened to the readers."""
    db, answers = MetaDB(path), Queue()
    record(db, 0)
    until = time.time() + seconds
    readers = [Process(target=read, args=(path, until, answers)) for _ in range(n_readers)]
    for each in readers:
        each.start()
    n = 1
    while time.time() < until:
        record(db, n)
        n += 1
    counts = Counter()
    while any(each.is_alive() for each in readers) or not answers.empty():
        if answers.empty():
            time.sleep(0.1)
        else:
            counts[answers.get()] += 1
    return n, counts


def n_runs(db):
    """Return how many runs a memory holds."""
    _, rows = db.sql("select count(*) from run")
    ((found,),) = rows
    return found


def full_disk(path):
    """Return what recording says when a file may grow no further, and what is there afterwards."""
    db = MetaDB(path)
    record(db, 10_000_000)
    before = n_runs(db)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit = 100_000  # less than the file, so that neither the log nor a copy can grow beyond it
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    refused, kept = 0, before
    for number in range(10_000_001, 10_000_201):
        try:
            record(db, number)
            kept += 1
        except MetaDBError:
            refused += 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    record(db, 10_000_500)
    found = n_runs(db)
    return refused, kept + 1 - found, db.check()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--readers", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=30)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "m.duckdb"
        n, counts = side_by_side(path, asked.readers, asked.seconds)
        stored = n_runs(MetaDB(path))
        print(
            f"recorded {n}, stored {stored}; readers: {dict(counts)}; check {MetaDB(path).check()}"
        )
        refused, lost, wrong = full_disk(path)
        print(f"full disk: {refused} refused by a sentence, {lost} lost, check {wrong}")


if __name__ == "__main__":
    main()
