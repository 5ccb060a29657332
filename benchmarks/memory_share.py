"""What part of solving is memory's own work, with 10,000 problems stored and a wrapper to search.

    python benchmarks/memory_share.py FOLDER [--stored 10000] [--near 1000] [--solved 20]

FOLDER holds problems as `streams.py` writes them. Stored are problems over a million other names
(those of `scale.py`), and near ones: halves of the rows of FOLDER's problems, drawn at random, with
the features that a quick filter selects. Solved are FOLDER's problems as they are, as `metafs solve
--param measure=cv-accuracy` solves them, for each learner in its turn.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import scale

from metafs import Problem, Registry, solve
from metafs.data.readers import ReadOptions, sources
from metafs.memory.memory import Memory
from metafs.pipeline.preparing import prepare
from metafs.pipeline.recording import finish
from metafs.pipeline.settings import Settings
from metafs.pipeline.steps import work
from metafs_climb import CVAccuracy
from metafs_metadb import MetaDB

LEARNERS = ("logistic", "naive-bayes", "linear-svm")
MEMORY = ("recall", "expect", "record")
GOAL = 0.01


def half(problem: Problem, number: int) -> Problem:
    """Return a problem with half of the rows, each class by itself."""
    rng = np.random.default_rng(number)
    rows = [rng.permutation(np.flatnonzero(problem.y == c)) for c in np.unique(problem.y)]
    kept = np.sort(np.concatenate([each[: len(each) // 2] for each in rows]))
    return Problem.of(
        problem.X[kept],
        np.array(problem.classes)[problem.y[kept]],
        feature_names=problem.feature_names,
        name=f"{problem.name}, half {number}",
        source=f"half {number}",
        space=problem.space,
    )


def fill(db: MetaDB, problems: list[Problem], n: int, n_near: int) -> None:
    """Store n problems, of which so many are halves of those given."""
    scale.fill(db, n - n_near)
    plan = Settings(selector="infogain", transfer="none").resolve(Registry())
    memory = Memory(db, plan.distance, n_near)
    for number in range(n_near):
        prepared = prepare(half(problems[number % len(problems)], number), plan, memory)
        finish(prepared, work(prepared, learning=False), memory)
        if number % 100 == 99:
            print(f"\r{number + 1} of {n_near} recorded", end="", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--stored", type=int, default=10_000)
    parser.add_argument("--near", type=int, default=1000)
    parser.add_argument("--solved", type=int, default=20)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--learners", nargs="+", default=LEARNERS)
    options = parser.parse_args()
    problems = [each.read() for each in sources([options.folder], ReadOptions())]
    drawn = np.random.default_rng(0).permutation(len(problems))[: options.solved]
    with tempfile.TemporaryDirectory() as folder:
        stored = MetaDB(Path(folder) / "stored.duckdb")
        fill(stored, problems, options.stored, options.near)
        print(f"{options.stored} problems stored, {len(drawn)} solved, means in milliseconds\n")
        print(
            "| learner | describe | recall | expect | record | select | learn | memory's | goal |"
        )
        print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
        for learner in options.learners:
            db = shutil.copy(stored.path, Path(folder) / f"{learner}.duckdb")
            solutions = list(
                solve(
                    [problems[i] for i in drawn],
                    db=db,
                    params={"measure": CVAccuracy(learner=learner)},
                    learner=learner,
                    budget=options.budget,
                )
            )
            if not all(solution.neighbours for solution in solutions):
                raise SystemExit("a problem has no neighbour, so there was nothing to expect")
            seconds = [
                solution.seconds for solution in solutions[1:]
            ]  # the first one opens the indexes
            phases = ("describe", "recall", "expect", "record", "select", "learn")
            ms = {phase: 1e3 * np.mean([each[phase] for each in seconds]) for phase in phases}
            share = sum(ms[phase] for phase in MEMORY) / sum(ms.values())
            columns = " | ".join(f"{ms[phase]:.1f}" for phase in phases)
            print(f"| {learner} | {columns} | {share:.2%} | {GOAL:.0%} |", flush=True)


if __name__ == "__main__":
    main()
