"""Noise and random targets: what the default of metafs keeps, without a memory.

    python benchmarks/kept_noise.py [--rows 300 1000 5000] [--draws 20] [--target signal|random]
        [--out FILE]

Twenty-three normal columns. With `signal` the class is the sign of the sum of the first three, the
third subtracted, and of as much noise; `random` classes depend on nothing, so that nothing should
be kept. A draw that FILE holds is not made again.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np

from metafs import Problem
from metafs.pipeline.choice.choosing import choose
from metafs.pipeline.choice.contest import contest_of
from metafs.pipeline.choice.portfolio import shipped
from metafs.plugin.registry import Registry
from metafs.stats.scorers import default_scoring

N_COLUMNS, N_TRUE = 23, 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[300, 1000, 5000])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--target", choices=["signal", "random"], default="signal")
    parser.add_argument("--out", type=Path, default=Path("kept_noise.jsonl"))
    asked = parser.parse_args()
    registry = Registry()
    found = [json.loads(line) for line in asked.out.open()] if asked.out.exists() else []
    for n_rows in asked.rows:
        which = {"target": asked.target, "rows": n_rows}
        own = [each for each in found if which.items() <= each.items()]
        for draw in range(asked.draws):
            if draw not in {each["draw"] for each in own}:
                own.append(which | {"draw": draw} | kept(registry, asked.target, n_rows, draw))
                with asked.out.open("a") as out:
                    print(json.dumps(own[-1]), file=out)
        own = [each for each in own if each["draw"] < asked.draws]
        print(
            f"{asked.target}, {n_rows} rows, {len(own)} draws: "
            f"nothing kept in {sum(each['true'] + each['noise'] == 0 for each in own)}; "
            f"columns on average {np.mean([each['true'] for each in own]):.2f} true, "
            f"{np.mean([each['noise'] for each in own]):.2f} noise; "
            f"{np.mean([each['seconds'] for each in own]):.1f} s",
            flush=True,
        )


def kept(registry, target, n_rows, draw):
    """Return how many true columns and how many others are kept, and seconds of the processor."""
    rng = np.random.default_rng(1000 + draw)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    if target == "signal":
        y = (X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(size=n_rows) > 0).astype(int)
    else:
        y = rng.integers(0, 2, n_rows)
    problem = Problem.of(X, y, leave_out="nothing")
    contest = contest_of(registry, selector=None, learner=None)
    started = time.process_time()
    choice = choose(
        problem,
        contest.candidates(problem),
        selectors=contest.selectors,
        learners=contest.learners,
        scoring=default_scoring(problem),
        past=shipped(problem),
    )
    n_true = 0 if target == "random" else int((choice.columns < N_TRUE).sum())
    return {
        "true": n_true,
        "noise": len(choice.columns) - n_true,
        "pipeline": str(choice.candidate),
        "seconds": time.process_time() - started,
    }


if __name__ == "__main__":
    main()
