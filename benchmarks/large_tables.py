"""Large and wide tables by the real command: seconds by phase, memory, columns found, scores.

    python benchmarks/large_tables.py [--tables tall,wide] [--rows 1000000] [--no-control]

Each table is written as parquet and solved by `metafs solve --selector auto` in a process of its
own, whose processor seconds and peak memory (of its largest process) are those of its `wait4`. The
controls are cross-validated on the rows that chose the pipeline, with all columns: boosting, and
logistic or ridge regression whose regularisation was tuned inside the folds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from metafs import Problem
from metafs.pipeline.choice.rows import sampled

CODE = "import sys; from metafs.cli import main; sys.argv[0] = 'metafs'; main()"
TRUE_TALL, TRUE_WIDE = (0, 3, 7, 20, 21), (100, 2000, 25_000)


def tall(n_rows: int, numbers: bool, mixed: bool) -> tuple[pd.DataFrame, set[str]]:
    """Return 50 columns of which five tell the target, two of them together only."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 50))
    X[:, 10] = 0.8 * X[:, 0] + 0.6 * X[:, 10]
    X[:, 11] = 0.9 * X[:, 3] + 0.4 * X[:, 11]
    signal = 1.2 * X[:, 0] - X[:, 3] + 0.8 * X[:, 7] + 1.5 * X[:, 20] * (X[:, 21] > 0)
    true = {f"c{column:02}" for column in TRUE_TALL}
    frame = pd.DataFrame(X, columns=[f"c{column:02}" for column in range(50)])
    if mixed:
        frame = frame.mask(rng.random(X.shape) < 0.05)
        kind = rng.integers(0, 6, n_rows)
        frame["kind"] = np.array([*"abcdef"])[kind]
        signal = signal + np.array([-2, -1, 0, 0, 1, 2])[kind]
        true.add("kind")
    noise = rng.logistic(size=n_rows) / 1.5
    target = signal + noise
    frame["y"] = target if numbers else np.where(target > 0, "yes", "no")
    return frame, true


def wide(kind: str) -> tuple[pd.DataFrame, set[str]]:
    """Return 200 rows of 30,000 columns of which three tell the target, or none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30_000))
    a, b, c = TRUE_WIDE
    signal = X[:, a] + X[:, b] - X[:, c] + 0.5 * rng.normal(size=200)
    if kind == "noise":
        signal = rng.normal(size=200)
    frame = pd.DataFrame(X, columns=[f"g{column:05}" for column in range(30_000)])
    frame["y"] = signal if kind == "numbers" else np.where(signal > 0, "sick", "well")
    return frame, set() if kind == "noise" else {f"g{column:05}" for column in TRUE_WIDE}


def mnist(folder: Path) -> tuple[pd.DataFrame, set[str]]:
    """Return the 60,000 training digits."""
    held = np.load(folder / "MNIST.npz")
    train = held["split"] == 0
    frame = pd.DataFrame(held["X"][train], columns=[f"p{pixel:03}" for pixel in range(784)])
    frame["y"] = held["y"][train].astype(str)
    return frame, set()


def control(frame: pd.DataFrame) -> dict[str, float]:
    """Return the mean scores of the controls on the rows that choose."""
    problem = sampled(Problem.of(frame, "y"))
    X = np.nan_to_num(problem.X)
    if problem.is_classification:
        linear = LogisticRegressionCV(Cs=5, cv=3, max_iter=300)
        models, scoring = [HistGradientBoostingClassifier(), linear], "balanced_accuracy"
    else:
        models = [HistGradientBoostingRegressor(), RidgeCV(np.geomspace(1e-2, 1e5, 8))]
        scoring = "r2"
    scores = [
        cross_val_score(make_pipeline(StandardScaler(), each), X, problem.y, scoring=scoring).mean()
        for each in models
    ]
    return dict(zip(("boosting", "linear"), scores, strict=True))


def solved(path: Path) -> tuple[dict[str, object], float, float, float]:
    """Return the solution of a table, wall and processor seconds, and gigabytes."""
    started = perf_counter()
    asked = ["solve", str(path), "--target", "y", "--selector", "auto", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, *asked, "--db", str(path.with_suffix(".duckdb"))],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    text = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    seconds = perf_counter() - started
    return json.loads(text), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default="tall,tall-numbers,tall-mixed,wide,wide-numbers,noise")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="for mnist")
    parser.add_argument("--no-control", action="store_true")
    asked = parser.parse_args()
    made = {
        "tall": lambda: tall(asked.rows, False, False),
        "tall-numbers": lambda: tall(asked.rows, True, False),
        "tall-mixed": lambda: tall(asked.rows, False, True),
        "wide": lambda: wide("classes"),
        "wide-numbers": lambda: wide("numbers"),
        "noise": lambda: wide("noise"),
        "mnist": lambda: mnist(asked.data),
    }
    for name in asked.tables.split(","):
        frame, true = made[name]()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.parquet"
            frame.to_parquet(path)
            found, wall, cpu, memory = solved(path)
        kept = set(found["features"])
        print(f"\n{name}: {len(frame):,} x {frame.shape[1] - 1:,}, {found['pipeline']}")
        print(f"  {wall:.0f} s, {cpu:.0f} s of processors, {memory:.2f} GB in its largest process")
        print("  " + ", ".join(f"{phase} {s:.1f} s" for phase, s in found["seconds"].items()))
        print(f"  kept {len(kept)}, true {len(kept & true)} of {len(true)}")
        print(f"  score {found['score']:.3f}, baseline {found['baseline']}")
        if not asked.no_control:
            print("  control " + ", ".join(f"{k} {v:.3f}" for k, v in control(frame).items()))


if __name__ == "__main__":
    main()
