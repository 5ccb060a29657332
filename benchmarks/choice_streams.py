"""The default of metafs on streams of problems, beside what one would do without a memory.

    cd benchmarks && python choice_streams.py DATA STREAM... [--new 10] [--past 30] [--labels 5 20 100]

Past problems are solved by `metafs.solve` with its default, one after the other, into a memory of
their own; each new problem then starts from that memory, with a few labels and 200 rows without.
Every arm makes its choices from these rows and is measured on test rows that nobody has seen:
balanced accuracy or R2 in %. *metafs* is the default, *no memory* the same without a memory, *linear* the
learner `remembered` on all columns with memory; the others are scikit-learn's, tuned by
cross-validation of the labels.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from collections import defaultdict
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from remembered import controls
from remembered.streams import STREAMS
from scipy.sparse import issparse
from scipy.stats import rankdata
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import balanced_accuracy_score, r2_score

from metafs import Problem, Registry, solve
from metafs.memory import MetaDB

WIDEST = 3000
"""Columns of a stream: the words of most documents."""


def narrowed(stream, widest=WIDEST):
    """Return the columns of a stream that are used: those that vary in most rows."""
    n_columns = stream.new[0].X.shape[1]
    if n_columns <= widest:
        return np.arange(n_columns)
    filled = sum(np.asarray((each.X != 0).sum(axis=0)).ravel() for each in stream.past)
    return np.sort(np.argsort(-filled, kind="stable")[:widest])


def problem_of(name, X, y, X_unlabelled, stream):
    names = [f"c{j}" for j in range(X.shape[1])]
    task = "classes" if stream.classes else "numbers"
    problem = Problem.of(
        X, y, name=name, source=name, feature_names=names, task=task, leave_out="nothing"
    )
    if X_unlabelled is not None and X_unlabelled.shape[0]:
        from dataclasses import replace

        problem = replace(problem, X_unlabelled=X_unlabelled)
    return problem


def score(stream, y, predicted):
    if stream.classes:
        return 100 * balanced_accuracy_score(y.astype(str), predicted.astype(str))
    return 100 * r2_score(y, predicted)


def solved(problems, db, registry, **settings):
    """Return solutions and seconds a problem."""
    started = time.perf_counter()
    found = list(solve(problems, db=db, registry=registry, batch=max(len(problems), 1), **settings))
    for each in found:
        if each.status != "solved":
            print("!", each.problem, each.status, each.error, each.details)
    return found, (time.perf_counter() - started) / max(len(problems), 1)


def controls_of(stream, new, rows):
    """Return the score of each arm without memory."""
    quietly = controls.quietly
    classes = np.unique(new.y)

    def labels(decisions):
        if not stream.classes:
            return decisions[:, 0]
        first = decisions.shape[1] == 1
        return classes[(decisions[:, 0] > 0).astype(int) if first else decisions.argmax(1)]

    found = {
        "L2": labels(quietly(controls.regularised, stream, new, rows, "l2", True)),
        "L1": labels(quietly(controls.regularised, stream, new, rows, "l1", True)),
        "k best": labels(quietly(controls.k_best, stream, new, rows)),
    }
    forest = RandomForestClassifier if stream.classes else RandomForestRegressor
    found["forest"] = forest(200, random_state=0).fit(new.X[rows], new.y[rows]).predict(new.X_test)
    if new.X.shape[1] * len(classes if len(classes) > 2 and stream.classes else [0]) <= 1000:
        boosting = (
            HistGradientBoostingClassifier if stream.classes else HistGradientBoostingRegressor
        )
        dense = [each.toarray() if issparse(each) else each for each in (new.X[rows], new.X_test)]
        found["boosting"] = boosting(random_state=0).fit(dense[0], new.y[rows]).predict(dense[1])
    return {arm: score(stream, new.y_test, each) for arm, each in found.items()}


def remembered_stream(stream, past, registry, folder, **settings):
    """Solve the past problems and return the memory."""
    db = folder / "memory.duckdb"
    problems = [problem_of(each.name, each.X, each.y, None, stream) for each in past]
    started = time.perf_counter()
    for each in solve(problems, db=db, registry=registry, **settings):
        if each.status != "solved":
            print("!", each.problem, each.error, each.details)
    print(
        f"{stream.name}: {len(past)} problems remembered, "
        f"{(time.perf_counter() - started) / len(past):.2f} s each",
        flush=True,
    )
    return db


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("streams", nargs="+")
    parser.add_argument("--new", type=int, default=10)
    parser.add_argument("--past", type=int, default=30)
    parser.add_argument("--labels", type=int, nargs="+", default=[5, 20, 100])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--widest", type=int, default=WIDEST)
    parser.add_argument("--keep", type=Path, help="Folder for memories, reused where they exist.")
    parser.add_argument("--arms", nargs="*", default=["metafs", "no memory", "linear"])
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    registry = Registry()
    own_arms = {
        "metafs": dict(selector="auto"),
        "no memory": dict(selector="auto", transfer="none"),
        "linear": dict(selector="auto", learner="remembered", size="all"),
    }
    for name in asked.streams:
        stream = STREAMS[name](asked.data, asked.new, asked.seed)
        columns = narrowed(stream, asked.widest)
        cut = lambda X: X[:, columns]  # noqa: E731
        from dataclasses import replace

        stream = replace(
            stream,
            past=[
                replace(p, X=cut(p.X), X_unseen=cut(p.X_unseen)) for p in stream.past[: asked.past]
            ],
            new=[
                replace(n, X=cut(n.X), X_unlabelled=cut(n.X_unlabelled), X_test=cut(n.X_test))
                for n in stream.new
            ],
        )
        folder = (
            Path(tempfile.mkdtemp()) if asked.keep is None else asked.keep / f"{name}-{asked.seed}"
        )
        folder.mkdir(parents=True, exist_ok=True)
        db = folder / "memory.duckdb"
        if not db.exists():
            remembered_stream(stream, stream.past, registry, folder, selector="auto")
        table = defaultdict(dict)
        for n in asked.labels:
            chosen = [(new, new.labelled(n, stream.classes)) for new in stream.new]
            chosen = [(new, rows) for new, rows in chosen if rows is not None]
            if not chosen:
                continue
            rows_of = defaultdict(dict)
            for arm in asked.arms:
                copy = folder / "copy.duckdb"
                shutil.copy(db, copy)
                problems = [
                    problem_of(
                        f"new {new.name}", new.X[rows], new.y[rows], new.X_unlabelled, stream
                    )
                    for new, rows in chosen
                ]
                found, seconds = solved(problems, copy, registry, **own_arms[arm])
                copy.unlink()
                for (new, _), solution in zip(chosen, found, strict=True):
                    predicted = solution.model.predict(new.X_test)
                    rows_of[new.name][arm] = score(stream, new.y_test, predicted)
                    if arm == "metafs":
                        rows_of[new.name]["pipeline"] = solution.pipeline
                table[n][f"{arm} s"] = seconds
            known = folder / f"controls-{n}.json"
            if known.exists():
                control = json.loads(known.read_text())
            else:
                control = {new.name: controls_of(stream, new, rows) for new, rows in chosen}
                known.write_text(json.dumps(control))
            for new, _ in chosen:
                rows_of[new.name] |= control[new.name]
            table[n]["rows"] = dict(rows_of)
        print(
            f"\n**{stream.name}** ({', '.join(str(len(table[n]['rows'])) for n in table)} problems)\n"
        )
        arms = [a for a in next(iter(table[min(table)]["rows"].values())) if a != "pipeline"]
        print(f"| labels | {' | '.join(map(str, table))} |\n|---|" + "--:|" * len(table))
        for arm in arms:
            means = [np.mean([r[arm] for r in table[n]["rows"].values()]) for n in table]
            print(f"| {arm} | {' | '.join(f'{v:.1f}' for v in means)} |")
        ranks = []
        for n in table:
            order = [rankdata([-r[a] for a in arms]) for r in table[n]["rows"].values()]
            ranks.append(np.mean(order, axis=0))
        print(f"| rank of metafs of {len(arms)} | {' | '.join(f'{r[0]:.2f}' for r in ranks)} |")
        for arm in asked.arms:
            print(
                f"| seconds, {arm} | {' | '.join(f'{table[n][arm + chr(32) + chr(115)]:.2f}' for n in table)} |",
                flush=True,
            )
        for n in table:
            picks = [
                f"{r['pipeline']['learner']}/{r['pipeline']['selector']}/{r['pipeline']['size']}"
                if r.get("pipeline")
                else "none"
                for r in table[n]["rows"].values()
            ]
            print(n, sorted(picks))


if __name__ == "__main__":
    import warnings

    warnings.filterwarnings("ignore")
    main()
