"""The default of metafs on streams of problems, beside what one would do without a memory.

    cd benchmarks && python choice_streams.py DATA STREAM... [--past 12] [--new 8]
            [--labels 5 20 100] [--alike] [--hindsight 4] [--out choice_streams.jsonl] [--table]

Past problems are solved by `metafs.solve` with its default, one after the other, into a memory of
their own; each new problem then starts from that memory, with a few labels and 200 rows without.
Every arm makes its choices from these rows and is measured on test rows that nobody has seen:
balanced accuracy, AUC (landmine) or R2, in %. A task with fewer labels than asked for gives what it
has. With --alike past problems have as few labels as the new ones.

metafs      the default, with memory
no memory   the same without a memory
remembered  the learner of that name on all columns, with memory
unrelated   the default with the memory of the same problems, whose columns were permuted
L2, L1, k best, forest, boosting   scikit-learn's, tuned by cross-validation of the labels; words as
            tf-idf with the document frequencies of all rows at hand
best, best alone   the best of some twenty pipelines on the test rows, with memory and without:
            the bound that no choice among these reaches, for the first --hindsight problems

Past problems are scored too, on rows that no problem learns from: the default and the same without
memory, for the first third of the stream and the last. Wide streams are cut to the columns that
most rows have. Each score is a line of --out, and is not computed again; --table only prints.
"""

import argparse
import json
import os
import shutil
import time
import warnings
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from remembered import controls
from remembered.streams import STREAMS, with_permuted_names
from scipy.sparse import issparse
from scipy.stats import rankdata
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.metrics import balanced_accuracy_score, r2_score, roc_auc_score

from metafs import Problem, Registry, solve
from metafs.memory import MetaDB
from metafs.memory.memory import Memory
from metafs.pipeline.choice.choosing import Choice
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.models.model import fitted_model
from metafs.pipeline.preparing import prepare
from metafs.pipeline.settings import Settings

OURS = {
    "metafs": {},
    "no memory": {"transfer": "none"},
    "remembered": {"learner": "remembered", "size": "all"},
    "unrelated": {},
}
OTHERS = ("L2", "L1", "k best", "forest", "boosting")
HINDSIGHT = {"best": True, "best alone": False}
SIZES = (None, 16, 128)
WIDEST_FOR_BOOSTING = 1000


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
        new=[cut(each, "X", "X_unlabelled", "X_test") for each in stream.new[: asked.new]],
    )


def labelled(y, order, n, classes):
    """Return the first n rows of each class, or the first n rows, as far as there are any."""
    if not classes:
        return order[:n]
    return np.concatenate([order[y[order] == c][:n] for c in np.unique(y)])


def with_few_labels(stream, n):
    """Return the stream with n labelled rows of each class, or n rows, in each past problem."""
    past = []
    for each in stream.past:
        few = labelled(each.y, np.arange(len(each.y)), n, stream.classes)
        past.append(replace(each, X=each.X[few], y=each.y[few]))
    return replace(stream, name=f"{stream.name}, alike", past=past)


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
    """Return the score of classes, of decision values (AUC) or of numbers."""
    if not stream.classes:
        return 100 * r2_score(y, predicted)
    if stream.measure == "AUC":
        return 100 * roc_auc_score(y, predicted)
    return 100 * balanced_accuracy_score(y.astype(str), predicted.astype(str))


def answer(stream, model, X):
    """Return what a fitted model of ours, or of scikit-learn, says of test rows."""
    return model.predict_proba(X)[:, 1] if stream.measure == "AUC" else model.predict(X)


class Results:
    """Scores by stream, labels, problem and arm: lines of a file."""

    def __init__(self, path):
        self.path, self.found = path, {}
        if path.exists():
            for line in path.read_text().splitlines():
                row = json.loads(line)
                self.found[self.key(**row)] = row

    @staticmethod
    def key(stream, seed, labels, problem, arm, **_):
        return stream, seed, labels, problem, arm

    def add(self, **row):
        self.found[self.key(**row)] = row
        with self.path.open("a") as out:
            print(json.dumps(row), file=out)

    def lacks(self, **row):
        return self.key(**row) not in self.found


def remembered_stream(stream, db, registry, results, place, arms):
    """Solve the past problems into a memory; score them on rows that no problem learns from."""
    problems = [problem_of(stream, each.name, each.X, each.y) for each in stream.past]
    for arm in arms:
        settings = OURS[arm] | {"db": db if arm != "no memory" else None}
        found = solve(problems, registry=registry, **settings)
        for position, (past, each) in enumerate(zip(stream.past, found, strict=True)):
            where = place | {"labels": f"past {position}", "problem": past.name, "arm": arm}
            if each.status == "solved" and len(past.y_unseen) and results.lacks(**where):
                value = score(stream, past.y_unseen, answer(stream, each.model, past.X_unseen))
                results.add(**where, score=value, seconds=sum(each.seconds.values()))


def by_metafs(stream, chosen, db, registry, settings):
    """Yield score, pipeline and seconds of each new problem, all from the same memory."""
    problems = [
        problem_of(stream, f"new {new.name}", new.X[rows], new.y[rows], new.X_unlabelled)
        for new, rows in chosen
    ]
    if stream.measure == "AUC":
        settings = settings | {"scoring": "roc_auc"}
    copy = None if db is None else db.with_name(f"copy-{os.getpid()}.duckdb")
    if copy is not None:
        shutil.copy(db, copy)
        MetaDB(copy).migrate()
    found = list(solve(problems, db=copy, registry=registry, batch=len(problems), **settings))
    if copy is not None:
        copy.unlink()
    for (new, _), each in zip(chosen, found, strict=True):
        if each.status != "solved":
            raise SystemExit(f"{each.problem}: {each.error}")
        yield {
            "score": score(stream, new.y_test, answer(stream, each.model, new.X_test)),
            "seconds": sum(each.seconds.values()),
            "memory seconds": sum(
                each.seconds.get(phase, 0.0) for phase in ("describe", "recall", "expect", "record")
            ),
            "pipeline": each.pipeline,
        }


def by_hindsight(stream, new, rows, db, registry, with_memory):
    """Return the best test score of pipelines of all learners, on all columns and on few."""
    problem = problem_of(stream, f"new {new.name}", new.X[rows], new.y[rows], new.X_unlabelled)
    plan = Settings(transfer="guided" if with_memory else "none").resolve(registry)
    copy = db.with_name(f"copy-{os.getpid()}.duckdb")
    shutil.copy(db, copy)
    MetaDB(copy).migrate()
    memory = Memory(MetaDB(copy), plan.distance, 1)
    task = prepare(problem, plan, memory)
    copy.unlink()
    prior = task.prior if with_memory else None
    scoring = plan.scoring_for(problem)
    evaluation = Evaluation(
        problem, (), plan.contest.selectors, plan.contest.learners, scoring, prior, prior
    )
    best, which = -np.inf, None
    for each in plan.contest.candidates(problem):
        if each.size not in SIZES or each.selector == "importance":
            continue
        choice = Choice(each, evaluation.columns(each, None), None, evaluation)
        found = score(stream, new.y_test, answer(stream, fitted_model(choice), new.X_test))
        if found > best:
            best, which = found, each.as_json()
    return {"score": best, "pipeline": which}


def by_others(stream, new, rows, arm):
    """Return the score of an arm without memory."""
    classes = np.unique(new.y)
    quietly, by_auc = controls.quietly, stream.measure == "AUC"
    if arm in ("forest", "boosting"):
        if arm == "forest":
            kind = RandomForestClassifier if stream.classes else RandomForestRegressor
            model = kind(200, random_state=0)
        else:
            kind = (
                HistGradientBoostingClassifier if stream.classes else HistGradientBoostingRegressor
            )
            model = kind(random_state=0)
        X, X_test = new.X[rows], new.X_test
        if arm == "boosting":
            X, X_test = (e.toarray() if issparse(e) else e for e in (X, X_test))
        return score(stream, new.y_test, answer(stream, model.fit(X, new.y[rows]), X_test))
    if arm == "k best":
        decisions = quietly(controls.k_best, stream, new, rows)
    else:
        decisions = quietly(controls.regularised, stream, new, rows, arm.lower(), True)
    if not stream.classes or by_auc:
        return score(stream, new.y_test, decisions[:, 0])
    first = decisions.shape[1] == 1
    found = classes[(decisions[:, 0] > 0).astype(int) if first else decisions.argmax(1)]
    return score(stream, new.y_test, found)


def compare(stream, asked, labels, db, unrelated, registry, results, place):
    """Score what is not scored yet."""
    for n in labels:
        chosen = [(new, labelled(new.y, new.order, n, stream.classes)) for new in stream.new]

        def where(new, arm, n=n):
            return place | {"labels": n, "problem": new.name, "arm": arm}

        for arm in asked.arms:
            if arm in OURS:
                lacking = [each for each in chosen if results.lacks(**where(each[0], arm))]
                memory = {"no memory": None, "unrelated": unrelated}.get(arm, db)
                found = by_metafs(stream, lacking, memory, registry, OURS[arm]) if lacking else ()
                for (new, _), each in zip(lacking, found, strict=True):
                    results.add(**where(new, arm), **each)
            for number, (new, rows) in enumerate(chosen):
                if arm in OURS or not results.lacks(**where(new, arm)):
                    continue
                if arm == "boosting" and new.X.shape[1] > WIDEST_FOR_BOOSTING:
                    continue
                if arm in HINDSIGHT:
                    if number < asked.hindsight:
                        found = by_hindsight(stream, new, rows, db, registry, HINDSIGHT[arm])
                        results.add(**where(new, arm), **found)
                    continue
                started = time.perf_counter()
                value = by_others(stream, new, rows, arm)
                seconds = time.perf_counter() - started
                results.add(**where(new, arm), score=value, seconds=seconds)


def solved(stream, asked, labels, folder, registry, results):
    """Fill the memories of a stream, if they are not there, and score the new problems."""
    place = {"stream": stream.name, "seed": asked.seed}
    dbs = []
    for kind, arms in (("memory", ("metafs", "no memory")), ("unrelated", ("unrelated",))):
        if kind == "unrelated" and "unrelated" not in asked.arms:
            dbs.append(None)
            continue
        kept = asked.keep / folder
        kept.mkdir(parents=True, exist_ok=True)
        dbs.append(kept / f"{kind}.duckdb")
        if not (kept / f"{kind}.done").exists():
            past = stream
            if kind == "unrelated":
                past = with_permuted_names(stream, asked.seed, all_of_them=True)
            started = time.perf_counter()
            arms = [each for each in arms if each in ("metafs", "unrelated", *asked.arms)]
            remembered_stream(past, dbs[-1], registry, results, place, arms)
            (kept / f"{kind}.done").touch()
            seconds = time.perf_counter() - started
            print(f"{folder}: {kind} of {len(past.past)}, {seconds:.0f} s", flush=True)
    compare(stream, asked, labels, *dbs, registry, results, place)


def print_table(results):
    """Print means by stream and labels, the rank of the default, and how far behind it is."""
    by_stream = defaultdict(lambda: defaultdict(dict))
    past = defaultdict(lambda: defaultdict(dict))
    for (stream, seed, labels, problem, arm), row in results.found.items():
        if str(labels).startswith("past"):
            past[stream][seed, int(labels.split()[1])][arm] = row["score"]
        else:
            by_stream[stream, labels][seed, problem][arm] = row
    ranked = ("metafs", "no memory", "remembered", *OTHERS)
    arms = [*OURS, *OTHERS]
    titles = ("stream", "labels", "n", *arms, "rank", "behind", "best", "best alone", "s", "memory")
    print("| " + " | ".join(titles) + " |\n|---|--:|" + "--:|" * (len(titles) - 2))
    for (stream, labels), problems in sorted(by_stream.items(), key=str):
        rows = [each for each in problems.values() if set(each) >= {"metafs", "L2"}]
        if not rows:
            continue

        def mean(arm, which=rows, of="score"):
            known = [each[arm][of] for each in which if of in each.get(arm, {})]
            return np.mean(known) if len(known) == len(which) and known else np.nan

        means = {arm: mean(arm) for arm in arms}
        present = [arm for arm in ranked if np.isfinite(means[arm])]
        ranks = [rankdata([-each[a]["score"] for a in present])[0] for each in rows]
        behind = max(means[a] for a in present) - means["metafs"]
        gaps = []
        for arm, mine in (("best", "metafs"), ("best alone", "no memory")):
            known = [each for each in rows if arm in each]
            gaps.append(mean(arm, known) - mean(mine, known) if known else np.nan)
        seconds = mean("metafs", of="seconds")
        share = 100 * mean("metafs", of="memory seconds") / seconds
        cells = [stream, labels, len(rows), *(f"{means[arm]:.1f}" for arm in arms)]
        cells += [f"{np.mean(ranks):.1f} of {len(present)}", f"{behind:.1f}"]
        cells += [*(f"{gap:.1f}" for gap in gaps), f"{seconds:.1f}", f"{share:.0f} %"]
        print("| " + " | ".join(map(str, cells)).replace("nan", "") + " |")
    print("\nPast problems, default less the same without memory:")
    for stream, found in past.items():
        gains = {
            position: scores["metafs"] - scores["no memory"]
            for (_, position), scores in found.items()
            if {"metafs", "no memory"} <= set(scores)
        }
        if len(gains) > 2:
            order, third = sorted(gains), max(1, len(gains) // 3)
            first, last = (np.mean([gains[i] for i in p]) for p in (order[:third], order[-third:]))
            print(f"{stream}: first third {first:+.2f}, last third {last:+.2f}")
    print("\nChosen by the default:")
    for (stream, labels), problems in sorted(by_stream.items(), key=str):
        chosen = [each["metafs"]["pipeline"] for each in problems.values() if "metafs" in each]
        names = Counter(
            f"{p['learner']} {p['size'] or ''} {p['selector']}" if p else "no skill" for p in chosen
        )
        print(f"{stream} {labels}:", ", ".join(f"{n} x {name}" for name, n in names.most_common()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("streams", nargs="*", metavar="STREAM")
    parser.add_argument("--past", type=int, default=12)
    parser.add_argument("--new", type=int, default=8)
    parser.add_argument("--labels", type=int, nargs="+", default=[5, 20, 100])
    parser.add_argument("--alike", action="store_true", help="past problems with as few labels")
    parser.add_argument("--hindsight", type=int, default=4, help="problems with that bound")
    every = [*OURS, *OTHERS, *HINDSIGHT]
    parser.add_argument("--arms", nargs="+", choices=every, default=every)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--widest", type=int, default=2000)
    parser.add_argument("--out", type=Path, default=Path("choice_streams.jsonl"))
    parser.add_argument("--keep", type=Path, default=Path("choice_memories"), help="memories")
    parser.add_argument("--table", action="store_true", help="print what there is, and do nothing")
    asked = parser.parse_args()
    results = Results(asked.out)
    registry = Registry()
    for name in [] if asked.table else asked.streams:
        whole = stream_of(name, asked)
        if not asked.alike:
            solved(
                whole, asked, asked.labels, f"{name}-{asked.seed}-{asked.past}", registry, results
            )
        for n in asked.labels if asked.alike else ():
            folder = f"{name}-{asked.seed}-{asked.past}-{n}"
            solved(with_few_labels(whole, n), asked, [n], folder, registry, results)
        print(f"{name}: done", flush=True)
    print_table(results)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main()
