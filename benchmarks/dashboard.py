"""What a dashboard costs the stream that it shows: the same stream with and without one.

    python benchmarks/dashboard.py [--runs 5] [--every 1.0] [SOURCE and options of metafs solve ...]

Runs alternate, and each begins with an empty memory. With a dashboard, a client asks for the data
every second, as an open page does every two. Printed are, without and with a dashboard, the seconds
of each run by the clock, those of its processor time, and those that the stream spent on its memory
(describing, recalling, recording), which is where it would wait for a lock; then how often the page
was drawn, what the dashboard used of one processor, and the median ratios of neighbouring runs.
Other programs on the machine disturb the clock most. It reads /proc, so it needs Linux.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from metafs.memory import MetaDB

METAFS = Path(sys.executable).with_name("metafs")
MEMORY = """
select sum(duration_s."describe" + duration_s.recall + duration_s.expect + duration_s.record)
from run
"""
STREAM = ["demo:digits", "--selector", "infogain", "--check", "0", "--folds", "2"]


@contextmanager
def dashboard(db, every):
    """A dashboard that is polled; gives its process and the different answers so far."""
    command = [METAFS, "dashboard", "--db", db]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        address = process.stderr.readline().split(" at ")[1].split()[0]
        over, tags = threading.Event(), set()

        def poll():
            tag = None
            while not over.wait(every):
                known = {"If-None-Match": tag or ""}
                asked = urllib.request.Request(f"{address}data", headers=known)
                try:
                    with urllib.request.urlopen(asked) as answer:
                        tag = answer.headers["ETag"]
                        tags.add(tag)
                except urllib.error.HTTPError as error:
                    if error.code not in (304, 503):  # nothing new, or no memory yet
                        raise

        client = threading.Thread(target=poll)
        client.start()
        try:
            yield process.pid, tags
        finally:
            over.set()
            client.join()
            process.terminate()


def used_by(pid):
    """Seconds of processor time that a running process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def solve(stream, db):
    """Seconds of one run by the clock, of its processor time, and spent on its memory."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([METAFS, "solve", *stream, "--db", db], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    seconds = time.perf_counter() - begun
    ((memory,),) = MetaDB(db).sql(MEMORY)[1]
    return seconds, used, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--every", type=float, default=1.0)
    asked, stream = parser.parse_known_args()
    rows = []
    print(
        "run     clock         ratio   processor     ratio   memory        ratio  drawn  dashboard"
    )
    for number in range(asked.runs):
        found = {}
        for watched in (number % 2 == 0, number % 2 == 1):
            with tempfile.TemporaryDirectory() as folder:
                db = str(Path(folder) / "m.duckdb")
                if watched:
                    with dashboard(db, asked.every) as (pid, tags):
                        before = used_by(pid)
                        found[True] = solve(stream or STREAM, db)
                        share = (used_by(pid) - before) / found[True][0]
                    drawn = len(tags)
                else:
                    found[False] = solve(stream or STREAM, db)
        pairs = list(zip(found[False], found[True], strict=True))
        rows.append([with_it / alone for alone, with_it in pairs])
        columns = (
            f"{alone:6.2f} {with_it:6.2f}  {with_it / alone:5.3f}" for alone, with_it in pairs
        )
        print(f"{number + 1:3}  {'   '.join(columns)}  {drawn:5}  {share:9.1%}", flush=True)
    clock, used, memory = (statistics.median(column) for column in zip(*rows, strict=True))
    print(f"median ratios: clock {clock:.3f}, processor time {used:.3f}, memory {memory:.3f}")


if __name__ == "__main__":
    main()
