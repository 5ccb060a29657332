"""Kill whoever records, inside every write and at random moments, and look for damage.

    python benchmarks/kill.py [--torn] [--recorders N] [--solves N] [--jobs N] [--dask N]

`--torn` tears every write of commits, of folding, of creating and of migrating a memory at several
offsets (`torn.py`). The others are numbers of random SIGKILLs: of processes that only record and
fold, of `metafs solve`, of `metafs solve --jobs 2`, and of `metafs solve --engine dask`. Everything
is resumed after each kill. Without options: all, with 1,000 random kills.

Afterwards every problem that was reported as recorded must be there once, of the one that was being
recorded all or nothing, `db check` must be clean, recording and folding must go on, and no file may
be left that nobody removes.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import numpy as np
import torn
from torn import Tally, damage, record, report

from metafs.cli import main as run_command
from metafs.cli import solve  # noqa: F401  (so that children need not import it)
from metafs_metadb import MetaDB
from metafs_metadb.files import log

N_TABLES = 12


def kill_recorders(folder: Path, n: int, rng: random.Random) -> Tally:
    """Kill processes that record, folding often, up to 200 ms after they begin.

    Every fifth is killed while it starts, the others once they have recorded something.
    """
    tally = Tally()
    path, told = folder / torn.NAME, set[int]()
    for kill in range(n):
        if kill % 25 == 0:  # from an empty folder again
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            told.clear()
        first = 1000 * kill

        def work(writer: int, first: int = first) -> None:
            log.LEAST_BYTES = 3000
            db = MetaDB(path, wait_s=5)
            for number in range(first, first + 1000):
                record(db, number)
                os.write(writer, f"{number}\n".encode())

        said = torn.killed_after(work, rng.uniform(0.0, 0.2), begun=kill % 5 > 0)
        new = {int(line) for line in said.split()}
        next_one = max(new, default=first - 1) + 1
        wrong = damage(path, told, new, {next_one, torn.AFTERWARDS})
        tally.add(True, len(new), wrong and f"kill {kill}: {wrong}")
        told |= new | {torn.AFTERWARDS}
        told.update(torn.numbers_in(path))
    return tally


def write_tables(folder: Path) -> None:
    for number in range(N_TABLES):
        X = np.random.default_rng(number).integers(0, 2, (40, 6))
        lines = [f"{','.join(map(str, x))},{'ab'[x[0] | x[number % 5 + 1]]}" for x in X]
        header = ",".join([*(f"c{j}" for j in range(6)), "y"])
        (folder / f"t{number:02d}.csv").write_text("\n".join([header, *lines]) + "\n")


def kill_solves(folder: Path, n: int, rng: random.Random, options: list[str]) -> Tally:
    """Kill `metafs solve` at random moments and start it again; a stream that is done, with a seed.

    The command is forked from this process, which has imported it: that saves the seconds it takes
    to begin. Every fifth is killed while it starts, the others once they have solved a problem.
    """
    folder.mkdir()
    (folder / "tables").mkdir()
    write_tables(folder / "tables")
    tally, db, seed = Tally(), folder / torn.NAME, 0
    told: set[tuple[str, int]] = set()
    for kill in range(n):
        words = ["solve", str(folder / "tables"), "--target", "y", "--budget", "30", "--folds", "2"]
        words += ["--json", "--db", str(db), "--seed", str(seed), *options]
        reader, pid = start_command(words)
        with os.fdopen(reader, "rb") as output:
            said = first_solved(output) if kill % 5 else b""
            time.sleep(rng.uniform(0.0, 1.0))
            done = os.waitpid(pid, os.WNOHANG)[0] == pid
            if not done:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            os.set_blocking(reader, False)  # workers may outlive it and hold the pipe open
            said += output.read() or b""
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        n_told = len(told)
        for line in said.decode().splitlines():
            with suppress(json.JSONDecodeError):  # the last line may be cut off
                about = json.loads(line)
                if about["status"] == "solved":
                    told.add((about["problem"], seed))
        wrong, _ = torn.in_child(lambda writer: look_at_runs(writer, db, told))
        tally.add(not done, len(told) - n_told, wrong and f"kill {kill}: {wrong}")
        seed += done or len(said.splitlines()) >= N_TABLES  # nothing is left to be recorded
    return tally


def first_solved(output: BinaryIO) -> bytes:
    """Read what a stream says up to the first problem that it has solved, or to its end."""
    said = b""
    for line in iter(output.readline, b""):
        said += line
        if b'"status": "solved"' in line:
            break
    return said


def start_command(words: list[str]) -> tuple[int, int]:
    """Fork a process that runs the command in a session of its own; return its output and id."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            os.dup2(writer, 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.close(reader)
            sys.argv = ["metafs", *words]
            run_command()
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.close(writer)
    return reader, pid


@contextmanager
def dask_cluster(folder: Path) -> Iterator[None]:
    """Start a Dask scheduler and a worker for all runs, so that no run has to start its own."""
    import dask

    address = folder / "scheduler.json"
    on = ["--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", str(address)]
    programs = (
        ["distributed.cli.dask_scheduler", "--port", "0", *on],
        ["distributed.cli.dask_worker", "--no-nanny", "--nthreads", "2", *on],
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-m", *words],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for words in programs
    ]
    try:
        while not address.exists() or not address.read_text().strip():
            assert running[0].poll() is None, "the scheduler did not start"
            time.sleep(0.1)
        os.environ["DASK_SCHEDULER_ADDRESS"] = json.loads(address.read_text())["address"]
        dask.config.refresh()
        yield
    finally:
        for process in running:
            process.terminate()
            process.wait()


def look_at_runs(writer: int, path: Path, told: set[tuple[str, int]]) -> None:
    """Say what is wrong with the memory of killed streams."""
    db = MetaDB(path, wait_s=30)
    if not db.exists():
        os.write(writer, b"the file is gone" if told else b"")
        return
    wrong = db.check()
    _, rows = db.sql(
        "select p.name, r.seed, count(*) from run r join problem p using (problem_id) "
        "where status = 'solved' group by all"
    )
    found = {(name, seed): n for name, seed, n in rows}
    wrong += [f"{each} is lost" for each in sorted(told - set(found))]
    wrong += [f"{each} is there {n} times" for each, n in found.items() if n != 1]
    os.write(writer, "; ".join(wrong).encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--torn", action="store_true")
    for kind in ("recorders", "solves", "jobs", "dask"):
        parser.add_argument(f"--{kind}", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    if not (asked.torn or asked.recorders or asked.solves or asked.jobs or asked.dask):
        asked.torn, asked.recorders, asked.solves = True, 700, 200
        asked.jobs, asked.dask = 30, 70
    rng = random.Random(asked.seed)
    sound = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.torn:
            sound &= subprocess.run([sys.executable, torn.__file__]).returncode == 0
        print(torn.HEAD, flush=True)
        if asked.recorders:
            place = folder / "recorders"
            sound &= report(
                "processes that record", lambda: kill_recorders(place, asked.recorders, rng)
            )
        if asked.solves:
            place = folder / "solves"
            sound &= report("`metafs solve`", lambda: kill_solves(place, asked.solves, rng, []))
        if asked.jobs:
            place, options = folder / "jobs", ["--jobs", "2", "--batch", "4"]
            what = "`metafs solve --jobs 2`"
            sound &= report(what, lambda: kill_solves(place, asked.jobs, rng, options))
        if asked.dask:
            place, options = folder / "dask", ["--engine", "dask", "--batch", "4"]
            what = "`metafs solve --engine dask`"
            with dask_cluster(folder):
                sound &= report(what, lambda: kill_solves(place, asked.dask, rng, options))
    sys.exit(0 if sound else 1)


if __name__ == "__main__":
    main()
