"""Memories written side by side by processes of their own, merged twice, against one that saw all.

    python benchmarks/merging.py [N_FILES [PROBLEMS_EACH [N_PROCESSES]]]

A process writes one memory, or several if there are fewer processes than files.

Exits 1 unless every problem is there once, `db check` is clean, merging again adds nothing, and
neighbours and histories of features equal those of one memory that recorded all.
"""

import subprocess
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from recording import N_FEATURES, PIXELS, record_one

from metafs_metadb import MetaDB

AT_A_TIME = 2


def write(path: str, first: int, n: int) -> None:
    """Record some problems: what each process does."""
    for number in range(first, first + n):
        record_one(MetaDB(path), number)


def write_side_by_side(folder: Path, n_files: int, n: int, n_processes: int) -> list[Path]:
    """Have many processes write memories of their own, a few at a time."""
    paths = [folder / f"{number:04d}.duckdb" for number in range(n_files)]
    tasks = [[str(path), str(1 + number * n), str(n)] for number, path in enumerate(paths)]
    left = [
        [sys.executable, __file__, "write", *chain(*tasks[process::n_processes])]
        for process in range(n_processes)
    ]
    while left:
        running = [subprocess.Popen(command) for command in left[:AT_A_TIME]]
        if any(process.wait() for process in running):
            raise SystemExit("a process that writes a memory failed")
        del left[:AT_A_TIME]
    return paths


def recalled(db: MetaDB, n_problems: int) -> Any:
    """Return what a memory recalls of the signatures that it holds, and of all features."""
    index = db.index("jsd-features", "default")
    near = []
    for number in range(1, 1 + n_problems):
        keys = np.random.default_rng(number).integers(0, 2**64, N_FEATURES, np.uint64)
        found = index.nearest(keys, np.full(N_FEATURES, 1 / N_FEATURES), 5)
        near.append([(each.name, each.distance) for each in found])
    history = db.feature_history("default", PIXELS)
    return near, history.n_solved, history.n_problems.tolist(), history.n_selected.tolist()


def merged(db: MetaDB, paths: list[Path]) -> tuple[int, float, float]:
    """Merge; return how many problems were added, and the seconds by the clock and of this CPU."""
    begun, cpu = time.perf_counter(), time.process_time()
    done = list(db.merge(paths))
    if errors := [each.error for each in done if each.error]:
        raise SystemExit(f"could not be merged: {errors[0]}")
    added = sum(each.carried.problems for each in done)
    return added, time.perf_counter() - begun, time.process_time() - cpu


def main(n_files: int = 50, n: int = 2, n_processes: int | None = None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shared = Path(folder) / "shared"
        shared.mkdir()
        paths = write_side_by_side(shared, n_files, n, n_processes or n_files)
        db, one = MetaDB(Path(folder) / "all.duckdb"), MetaDB(Path(folder) / "one.duckdb")
        print("| files | problems | merging | added | seconds | CPU seconds | MB |")
        print("|--:|--:|---|--:|--:|--:|--:|")
        for which, expected in (("first", n_files * n), ("again", 0)):
            added, seconds, cpu = merged(db, paths)
            n_bytes = db.path.stat().st_size / 1e6
            print(
                f"| {n_files} | {n_files * n} | {which} | {added} | {seconds:.1f} "
                f"| {cpu:.1f} | {n_bytes:.1f} |",
                flush=True,
            )
            if added != expected:
                raise SystemExit(f"{added} problems were added instead of {expected}")
        write(str(one.path), 1, n_files * n)
        if findings := db.check():
            raise SystemExit(f"the merged memory is not sound: {findings}")
        if recalled(db, n_files * n) != recalled(one, n_files * n):
            raise SystemExit("the merged memory recalls otherwise than one that saw all")
        print("\nEvery problem once, clean, and recall as of one memory that saw all.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["write"]:
        for path, first, n in zip(*(sys.argv[2 + place :: 3] for place in range(3)), strict=True):
            write(path, int(first), int(n))
    else:
        main(*map(int, sys.argv[1:]))
