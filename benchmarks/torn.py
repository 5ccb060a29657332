"""Kill a process inside every write to a memory, at several offsets, and look for damage.

    python benchmarks/torn.py [--every N] [--offsets BYTES ...] [--scenario NAME ...]

Commits, folding, creating and migrating are done by children that are forked from a process with
`tear.c` preloaded, which is compiled at the start; a trial costs a tenth of a second. `kill.py`
runs all of them, the tests a few.
"""

import argparse
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

import numpy as np

from metafs_metadb import MetaDB, MetaDBOutdated, ProblemRow, RunRow, SelectionRows
from metafs_metadb.files import connect, log, migrate

NAME = "metafs.duckdb"
AFTERWARDS = 10**6  # the problem that is recorded after a kill
OFFSETS = (0, 1, 512, 4095, 20_000, -1)  # bytes written of a torn write; -1: all but one
FEATURES = tuple(f"pixel {i}" for i in range(8))


def build(folder: Path) -> Path | None:
    """Compile the shim, or return None where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    made = folder / "tear.so"
    source = Path(__file__).with_name("tear.c")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return made


def record(db: MetaDB, number: int) -> None:
    """Record a small problem of that number."""
    n = len(FEATURES)
    keys = np.arange(n, dtype=np.uint64) + np.uint64(number)
    db.record(
        ProblemRow("default", str(number), "", f"print of {number}", 10, n, "y"),
        RunRow("climb", "none", datetime(2026, 1, 1), "0.1.0", score=0.5, settings="one"),
        signatures={"jsd-features": (keys, np.full(n, 1 / n))},
        selections=SelectionRows(FEATURES, q=np.ones(n), selected=np.arange(n) < 2),
        candidates=[(1, [0, 1], 0.5)],
    )


# What may be torn: (what it is, what there is before, what is done while it is torn). What is done
# says each problem that it was told is recorded.
def _nothing(db: MetaDB) -> None:
    pass


def _logged(db: MetaDB) -> None:
    for number in range(3):
        record(db, number)


def _folded(db: MetaDB) -> None:
    _logged(db)
    db.fold()


def _older(db: MetaDB) -> None:
    whole = migrate.known()
    migrate.known = lambda: whole[:1]  # type: ignore[assignment]
    try:
        record(db, 0)
    finally:
        migrate.known = lambda: whole  # type: ignore[assignment]


def _commit(db: MetaDB) -> Iterator[int]:
    for number in (10, 11):
        record(db, number)
        yield number


def _fold(db: MetaDB) -> Iterator[int]:
    log.LEAST_BYTES = 0
    yield from _commit(db)


def _fold_alone(db: MetaDB) -> Iterator[int]:
    db.fold()
    yield from ()


def _migrate(db: MetaDB) -> Iterator[int]:
    db.migrate()
    yield from _commit(db)


SCENARIOS: dict[str, tuple[Callable[[MetaDB], None], Callable[[MetaDB], Iterator[int]]]] = {
    "a commit that begins a log": (_folded, _commit),
    "a commit after others": (_logged, _commit),
    "a commit that folds": (_logged, _fold),
    "folding alone": (_logged, _fold_alone),
    "creating the file": (_nothing, _commit),
    "migrating": (_older, _migrate),
}


def in_child(work: Callable[[int], None]) -> tuple[str, int]:
    """Run work in a forked process, which may write to a pipe; return that and how it ended."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(reader)
            work(writer)
            code = 0
        except BaseException:
            os.write(writer, traceback.format_exc()[-2000:].encode())
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        text = said.read().decode()
    return text, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed_after(work: Callable[[int], None], seconds: float, begun: bool) -> str:
    """Run work in a forked process, kill it after a while and return what it had said.

    If it has to have `begun`, the while is that after its first line.
    """
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reader)
            work(writer)
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        first = said.readline() if begun else b""
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        return (first + said.read()).decode()


def numbers_in(path: Path) -> set[int]:
    """Return the problems of a memory, looked at by another process."""
    said, _ = in_child(lambda writer: tell_numbers(writer, path))
    return set(map(int, said.split()))


def copy_folder(template: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder)
    return folder / NAME


def torn(path: Path, do: Callable[[MetaDB], Iterator[int]], k: int, offset: int) -> tuple[str, int]:
    """Let a child do something to a memory, killed in its k-th write; return what it said."""

    def work(writer: int) -> None:
        shim = ctypes.CDLL(None)
        shim.tear_arm(NAME.encode(), ctypes.c_long(k), ctypes.c_long(offset))
        for number in do(MetaDB(path, wait_s=5)):
            os.write(writer, f"{number}\n".encode())
        os.write(writer, f"writes {shim.tear_count()}\n".encode())

    return in_child(work)


def damage(path: Path, before: set[int], told: set[int], flying: set[int]) -> str:
    """Return what is wrong with a memory after a kill, nothing if it is as it should be.

    Everything recorded `before` and `told` is there once; of what was `flying`, all or nothing.
    Afterwards it can be recorded to, and a fold leaves one file and nothing beside it.
    """

    def look(writer: int) -> None:
        db, wrong = MetaDB(path, wait_s=5), []
        if not db.exists() and before | told:
            wrong.append("the file is gone")
        try:
            db.ensure()
        except MetaDBOutdated:
            db.migrate()
        for turn in ("after the kill", "after recording again", "after folding"):
            names = db.problems().column("name")
            found = set(map(int, names))
            if len(found) != len(names):
                wrong.append(f"problems twice {turn}")
            if lost := (before | told) - found:
                wrong.append(f"lost {sorted(lost)} {turn}")
            if more := found - before - told - flying:
                wrong.append(f"nobody recorded {sorted(more)} {turn}")
            wrong += [f"{finding} {turn}" for finding in db.check()]
            if turn == "after the kill":
                record(db, AFTERWARDS)
                told.add(AFTERWARDS)
            elif not db.fold():
                wrong.append("cannot be folded")
        if left := [each for each in os.listdir(path.parent) if each != NAME]:
            wrong += [f"{left} left behind"] if not all(map(is_draft, left)) else []
        os.write(writer, "; ".join(wrong).encode())

    said, _ = in_child(look)
    return said


def trials(folder: Path, scenario: str, offsets: tuple[int, ...], step: int = 1) -> "Tally":
    """Tear every step-th write of a scenario at each offset."""
    prepare, do = SCENARIOS[scenario]
    template, place = folder / "template", folder / "trial"
    shutil.rmtree(template, ignore_errors=True)
    template.mkdir()
    in_child(lambda writer: prepare(MetaDB(template / NAME)))
    before = numbers_in(template / NAME)
    said, _ = torn(copy_folder(template, place), do, 10**9, 0)
    n_writes = int(said.split()[-1])
    tally = Tally(n_writes)
    for k in range(1, n_writes + 1, step):
        for offset in offsets:
            path = copy_folder(template, place)
            said, code = torn(path, do, k, offset)
            told = {int(line) for line in said.split() if line.isdigit()}
            wrong = damage(path, before, told, {10, 11} - told)
            if code != -9 and "writes" not in said:
                wrong += f" {said}"
            tally.add(
                code == -9, len(told), wrong and f"write {k} of {n_writes} at {offset}: {wrong}"
            )
    return tally


def tell_numbers(writer: int, path: Path) -> None:
    """Say which problems a memory has."""
    db = MetaDB(path)
    if db.exists():
        with connect.reading(db.path, 5) as con:
            names = con.execute("select name from problem").fetchall()
        os.write(writer, " ".join(name for (name,) in names).encode())


@dataclass
class Tally:
    """What became of trials."""

    n_writes: int = 0
    n_killed: int = 0
    n_told: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, killed: bool, n_told: int, wrong: str) -> None:
        """Count a trial: whether it was killed, and what it had reported as recorded before."""
        self.n_killed += killed
        self.n_told += n_told
        self.wrong += [wrong] if wrong else []


def is_draft(name: str) -> bool:
    """Tell whether a file is the draft of a new memory, which the next to create one removes."""
    return name.startswith(f".{NAME}.") and ".new" in name


def report(what: str, work: Callable[[], Tally]) -> bool:
    """Print a row of the table; tell whether there was no damage."""
    begun = time.perf_counter()
    tally = work()
    seconds = round(time.perf_counter() - begun)
    cells = (what, tally.n_writes or "", tally.n_killed, tally.n_told, len(tally.wrong), seconds)
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
    for wrong in tally.wrong[:10]:
        print(f"    {wrong}", file=sys.stderr, flush=True)
    return not tally.wrong


HEAD = "| what | its writes | kills | reported | damaged | s |\n|---|--:|--:|--:|--:|--:|"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=1, help="tear each of so many writes only")
    parser.add_argument("--offsets", type=int, nargs="*", default=OFFSETS)
    parser.add_argument("--scenario", nargs="*", default=list(SCENARIOS))
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if not hasattr(ctypes.CDLL(None), "tear_arm"):
            shim = build(Path(name))
            if shim is None:
                sys.exit("no C compiler: writes cannot be torn")
            again = [sys.executable, __file__, *sys.argv[1:]]
            sys.exit(subprocess.run(again, env=os.environ | {"LD_PRELOAD": str(shim)}).returncode)
        print(HEAD, flush=True)
        sound = [
            report(what, partial(trials, Path(name), what, tuple(asked.offsets), asked.every))
            for what in asked.scenario
        ]
    sys.exit(0 if all(sound) else 1)


if __name__ == "__main__":
    main()
