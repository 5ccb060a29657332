"""Does `--seconds` hold for a whole problem, and when is there a first answer?

    cd benchmarks && python time_limits.py DATA [--tables small text tall wide] [--seconds 2 5 20]
                                           [--out time_limits.jsonl]

Each table is solved by `metafs.solve` in a process of its own, beginning with a memory of three
related problems where there are any (pairs of newsgroups). *Problem* is all that `--seconds` is
about: the clock runs from when the problem is begun to its record in the memory, reading included.
*First* is when the default pipeline was scored for the first time: from then on Ctrl-C keeps it.
*Processor* is what all processes of the run computed, loading of libraries (some two seconds)
included: where that is far less than the problem took, the machine was busy with other work.
*Memory* is describing, recalling, expecting and recording, as a share of the problem.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from large_tables import tall, wide
from remembered.streams import newsgroups

TABLES = ("small", "digits", "text", "tall", "wide")


def written(name, data, folder, n_rows):
    """Write a table, and those of related problems, and return their paths, the one asked last."""
    from sklearn.datasets import load_breast_cancer, load_digits

    if name in ("small", "digits"):
        found = (load_breast_cancer if name == "small" else load_digits)()
        tables = [(found.data, found.target)]
    elif name == "text":
        past = newsgroups(data, 1, 1).past[:4]
        tables = [(each.X.toarray(), each.y) for each in past]
    else:
        frame, _ = tall(n_rows, False, False) if name == "tall" else wide("classes")
        tables = [(frame.drop(columns="y").to_numpy(), frame["y"])]
    paths = []
    for number, (X, y) in enumerate(tables):
        paths.append(folder / f"{name}-{number}.npz")
        names = np.array([f"c{j:05d}" for j in range(X.shape[1])])
        np.savez(paths[-1], X=X, y=np.array([f"class {label}" for label in y]), feature_names=names)
    return paths


CHILD = """
import json, sys, time
import metafs
path, db, seconds = sys.argv[1:]
seconds = None if seconds == "none" else float(seconds)
first, started = [], [0.0]
def listen(event):
    if event.phase == "reading" and not started[0]:
        started[0] = time.perf_counter()
    if event.best is not None and not first:
        first.append(time.perf_counter() - started[0])
cpu = time.process_time()
(found,) = metafs.solve(path, db=db, seconds=seconds, listener=listen)
wall = time.perf_counter() - started[0]
if found.status != "solved":
    raise SystemExit(found.error)
print(json.dumps({
    "problem": wall, "first": first[0] if first else None, "phases": dict(found.seconds),
    "score": found.score, "n_evaluations": found.n_evaluations, "pipeline": found.pipeline,
    "stopped": found.stopped, "n_features": len(found.features),
}))
"""


def measured(path, db, seconds):
    """Solve a table in a process of its own; return what it says, and its share of a processor."""
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), str(db), str(seconds or "none")],
        stdout=subprocess.PIPE,
        text=True,
    )
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{path.name}: failed")
    found = json.loads(text)
    found["cpu"] = usage.ru_utime + usage.ru_stime
    found["gb"] = usage.ru_maxrss / 2**20
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--seconds", nargs="+", type=float, default=[2.0, 5.0, 20.0, 0.0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the tall table")
    parser.add_argument("--out", type=Path, default=Path("time_limits.jsonl"))
    parser.add_argument("--folder", type=Path, help="where tables are kept")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    titles = ("table", "limit, s", "problem, s", "first, s", "processor, s", "memory")
    print(f"| {' | '.join((*titles, 'evaluations', 'pipeline', 'score'))} |")
    print("|---|--:|--:|--:|--:|--:|--:|---|--:|")
    for name in asked.tables:
        paths = sorted(folder.glob(f"{name}-?.npz")) or written(
            name, asked.data, folder, asked.rows
        )
        for seconds in asked.seconds:
            with tempfile.TemporaryDirectory() as memory:
                db = Path(memory) / "memory.duckdb"
                for each in paths[:-1]:
                    measured(each, db, None)
                found = measured(paths[-1], db, seconds)
            with asked.out.open("a") as out:
                print(json.dumps({"table": name, "limit": seconds, **found}), file=out)
            phases = found["phases"]
            ours = sum(phases.get(each, 0) for each in ("describe", "recall", "expect", "record"))
            which = found["pipeline"] or {"learner": "no skill", "size": 0, "selector": ""}
            pipeline = f"{which['learner']} {which['size'] or ''} {which['selector']}"
            first = "" if found["first"] is None else f"{found['first']:.1f}"
            score = "" if found["score"] is None else f"{found['score']:.3f}"
            print(
                f"| {name} | {seconds or ''} | {found['problem']:.1f} | {first} | "
                f"{found['cpu']:.1f} | {100 * ours / found['problem']:.0f} % | "
                f"{found['n_evaluations']} | {pipeline} | {score} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
