"""The page of `metafs report`: how large it is, and how long reading and drawing take.

    python benchmarks/report_pages.py FILE.duckdb ... [--synthetic 1000]

`--synthetic N` makes a memory of N problems of twelve kinds first: 300 features each, of which 5 to
39 are kept, five neighbours, and 35 trials. Seconds are of the processor.
"""

import argparse
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import numpy as np

from metafs.memory import (
    MetaDB,
    NeighbourRow,
    ProblemRow,
    RunRow,
    SelectionRows,
    TrialRow,
)
from metafs.report import report
from metafs.report.contents import contents
from metafs.report.layout import places
from metafs.report.page import page

N_FEATURES, N_KINDS, SIZES, FOLDS = 300, 12, (1, 2, 4, 8, 16, 32, 64), 5


def synthetic(path, n_problems):
    """Record problems; those of one kind have nearly the same weights."""
    db, rng = MetaDB(path), np.random.default_rng(0)
    kinds = rng.normal(size=(N_KINDS, N_FEATURES))
    names = [f"feature {j}" for j in range(N_FEATURES)]
    for number in range(n_problems):
        weight = kinds[number % N_KINDS] + 0.5 * rng.normal(size=N_FEATURES)
        rank = np.empty(N_FEATURES, int)
        rank[np.argsort(-np.abs(weight))] = np.arange(1, N_FEATURES + 1)
        n_selected = int(rng.integers(5, 40))
        score = float(rng.uniform(0.6, 0.9))
        like = rng.permutation(np.arange(number % N_KINDS, number, N_KINDS))[:4].tolist()
        near = [*like, int(rng.integers(number))] if number else []
        db.record(
            ProblemRow(
                "synthetic",
                f"synthetic {number} of kind {number % N_KINDS}",
                f"{number}.csv",
                f"print {number}",
                200,
                N_FEATURES,
                "y",
            ),
            RunRow(
                "auto",
                "guided",
                datetime(2026, 1, 1),
                "0",
                learner="logistic",
                score=score,
                all_features=score + 0.02 * float(rng.normal()),
                no_skill=0.5,
                scoring="balanced_accuracy",
                n_selected=n_selected,
                n_evaluations=50,
                duration_s={"select": 0.5},
                prior_used="guided" if number else None,
                pipeline={"selector": "infogain", "size": n_selected, "learner": "logistic"},
                without_memory=score - 0.01 * float(rng.normal()) if number % 10 == 9 else None,
            ),
            selections=SelectionRows(
                names,
                rank=rank,
                q=np.abs(weight),
                quality=np.abs(weight) / 5,
                selected=rank <= n_selected,
                weight=weight,
                from_memory=weight / 2,
            ),
            neighbours=[
                NeighbourRow(other + 1, place, 0.3 + 0.1 * place)
                for place, other in enumerate(near, start=1)
            ],
            trials=[
                TrialRow("infogain", size, "logistic", fold, 0.5 + (score - 0.5) * size / 64, 0.1)
                for size in SIZES
                for fold in range(FOLDS)
            ],
        )
        if sys.stderr.isatty():
            print(f"\r{number + 1} of {n_problems}", end="", file=sys.stderr)
    db.fold()


def measure(path):
    """A line of the table: problems, kilobytes, and seconds of each step."""
    clock = [time.process_time()]
    found = report(MetaDB(path))
    clock.append(time.process_time())
    at = places(found.problems)
    clock.append(time.process_time())
    text = page(found, contents(found, at, path.name), "What metafs remembers")
    clock.append(time.process_time())
    read, laid_out, drawn = np.diff(clock)
    kilobytes = len(text.encode()) / 1000
    print(
        f"{path.name:24}  {len(found.problems):8}  {kilobytes:5.0f}"
        f"  {read:7.2f}  {laid_out:9.2f}  {drawn:6.2f}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="*", type=Path)
    parser.add_argument("--synthetic", type=int, metavar="N", help="Problems to make up.")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = list(asked.file)
        if asked.synthetic:
            files.append(Path(folder) / f"synthetic-{asked.synthetic}.duckdb")
            synthetic(files[-1], asked.synthetic)
        print("file                      problems     kB  read s    layout s  page s")
        for path in files:
            measure(path)


if __name__ == "__main__":
    main()
