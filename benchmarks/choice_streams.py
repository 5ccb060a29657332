"""The default of metafs on streams of problems, beside what one would do without a memory.

    cd benchmarks && python choice_streams.py DATA STREAM... [--new 8] [--past 20] [--labels 5 20]

Past problems are solved by `metafs.solve` with its default, one after the other, into a memory of
their own; each new problem then starts from that memory, with a few labels and 200 rows without.
Every arm makes its choices from these rows and is measured on test rows that nobody has seen:
balanced accuracy or R2, in %. *metafs* is the default, *no memory* the same without a memory,
*linear* the learner `remembered` on all columns with memory; the others are scikit-learn's, tuned
by cross-validation of the labels. Wide streams are cut to the columns that most rows have.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
import warnings
from dataclasses import replace
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

ARMS = {
    "metafs": {"selector": "auto"},
    "no memory": {"selector": "auto", "transfer": "none"},
    "linear": {"selector": "auto", "learner": "remembered", "size": "all"},
}


def stream_of(name, asked):
    """Return a stream with its first problems, on the columns that most of its rows have."""
    stream = STREAMS[name](asked.data, asked.new, asked.seed)
    past = stream.past[: asked.past]
    filled = sum(np.asarray((each.X != 0).sum(axis=0)).ravel() for each in past)
    columns = np.sort(np.argsort(-filled, kind="stable")[: asked.widest])

    def cut(problem, *tables):
        return replace(problem, **{each: getattr(problem, each)[:, columns] for each in tables})

    return replace(
        stream,
        past=[cut(each, "X", "X_unseen") for each in past],
        new=[cut(each, "X", "X_unlabelled", "X_test") for each in stream.new],
    )


def problem_of(stream, name, X, y, X_unlabelled=None):
    problem = Problem.of(
        X,
        y,
        name=name,
        source=name,
        feature_names=[f"c{j:05d}" for j in range(X.shape[1])],
        task="classes" if stream.classes else "numbers",
        leave_out="nothing",
    )
    if X_unlabelled is None or not X_unlabelled.shape[0]:
        return problem
    return replace(problem, X_unlabelled=X_unlabelled)


def score(stream, y, predicted):
    if stream.classes:
        return 100 * balanced_accuracy_score(y.astype(str), predicted.astype(str))
    return 100 * r2_score(y, predicted)


def remembered_stream(stream, db, registry):
    """Solve the past problems into a memory."""
    problems = [problem_of(stream, each.name, each.X, each.y) for each in stream.past]
    started = time.perf_counter()
    for each in solve(problems, db=db, registry=registry, selector="auto"):
        if each.status != "solved":
            print(each.problem, each.error)
    seconds = (time.perf_counter() - started) / len(problems)
    print(f"{stream.name}: {len(problems)} problems remembered, {seconds:.2f} s each", flush=True)


def by_metafs(stream, chosen, db, registry, settings):
    """Return score and pipeline of each new problem from the same memory, and seconds."""
    problems = [
        problem_of(stream, f"new {new.name}", new.X[rows], new.y[rows], new.X_unlabelled)
        for new, rows in chosen
    ]
    copy = db.with_name("copy.duckdb")
    shutil.copy(db, copy)
    started = time.perf_counter()
    found = list(solve(problems, db=copy, registry=registry, batch=len(problems), **settings))
    seconds = (time.perf_counter() - started) / len(problems)
    copy.unlink()
    scores = [
        score(stream, new.y_test, solution.model.predict(new.X_test))
        for (new, _), solution in zip(chosen, found, strict=True)
    ]
    return scores, [each.pipeline for each in found], seconds


def by_others(stream, new, rows):
    """Return the score of each arm without memory."""
    classes = np.unique(new.y)

    def labels(decisions):
        if not stream.classes:
            return decisions[:, 0]
        first = decisions.shape[1] == 1
        return classes[(decisions[:, 0] > 0).astype(int) if first else decisions.argmax(1)]

    quietly = controls.quietly
    found = {
        "L2": labels(quietly(controls.regularised, stream, new, rows, "l2", True)),
        "L1": labels(quietly(controls.regularised, stream, new, rows, "l1", True)),
        "k best": labels(quietly(controls.k_best, stream, new, rows)),
    }
    forest = RandomForestClassifier if stream.classes else RandomForestRegressor
    found["forest"] = forest(200, random_state=0).fit(new.X[rows], new.y[rows]).predict(new.X_test)
    if new.X.shape[1] <= 1000:
        boosting = (
            HistGradientBoostingClassifier if stream.classes else HistGradientBoostingRegressor
        )
        X, X_test = (e.toarray() if issparse(e) else e for e in (new.X[rows], new.X_test))
        found["boosting"] = boosting(random_state=0).fit(X, new.y[rows]).predict(X_test)
    return {arm: score(stream, new.y_test, each) for arm, each in found.items()}


def compared(stream, n, db, registry):
    """Return rows of scores by arm, the pipelines chosen, and seconds by arm of ours."""
    chosen = [(new, new.labelled(n, stream.classes)) for new in stream.new]
    chosen = [(new, rows) for new, rows in chosen if rows is not None]
    cache = db.with_name(f"others-{n}.json")
    if not cache.exists():
        cache.write_text(json.dumps([by_others(stream, new, rows) for new, rows in chosen]))
    others = json.loads(cache.read_text())
    ours, seconds, pipelines = {}, {}, []
    for arm, settings in ARMS.items():
        ours[arm], found, seconds[arm] = by_metafs(stream, chosen, db, registry, settings)
        pipelines = pipelines or found
    rows = [
        {**{arm: scores[i] for arm, scores in ours.items()}, **other}
        for i, other in enumerate(others)
    ]
    return rows, pipelines, seconds


def print_table(stream, found):
    """Print means, the rank of the default among all arms, and what was chosen."""
    arms = list(next(iter(found.values()))[0][0])

    def line(name, values):
        print(f"| {name} | {' | '.join(values)} |")

    counts = ", ".join(str(len(rows)) for rows, _, _ in found.values())
    print(f"\n**{stream.name}** (problems: {counts})\n")
    line("labels", map(str, found))
    print("|---|" + "--:|" * len(found))
    for arm in arms:
        line(arm, (f"{np.mean([row[arm] for row in rows]):.1f}" for rows, _, _ in found.values()))
    ranks = [
        np.mean([rankdata([-row[arm] for arm in arms])[0] for row in rows])
        for rows, _, _ in found.values()
    ]
    line(f"mean rank of metafs, of {len(arms)}", (f"{rank:.2f}" for rank in ranks))
    for arm in ARMS:
        line(f"seconds, {arm}", (f"{seconds[arm]:.2f}" for _, _, seconds in found.values()))
    for n, (_, pipelines, _) in found.items():
        names = [
            f"{each['learner']} {each['size'] or ''} {each['selector']}" if each else "no skill"
            for each in pipelines
        ]
        print(n, "labels:", "; ".join(sorted(names)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("streams", nargs="+", metavar="STREAM")
    parser.add_argument("--new", type=int, default=8)
    parser.add_argument("--past", type=int, default=20)
    parser.add_argument("--labels", type=int, nargs="+", default=[5, 20])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--widest", type=int, default=2000)
    parser.add_argument("--keep", type=Path, help="folder for memories, used again if they exist")
    asked = parser.parse_args()
    registry, kept = Registry(), asked.keep or Path(tempfile.mkdtemp())
    for name in asked.streams:
        stream, db = stream_of(name, asked), kept / f"{name}-{asked.seed}" / "memory.duckdb"
        if not db.exists():
            db.parent.mkdir(parents=True, exist_ok=True)
            remembered_stream(stream, db, registry)
        print_table(stream, {n: compared(stream, n, db, registry) for n in asked.labels})


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
