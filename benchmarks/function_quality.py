"""Does quality over the functions that a search met transfer better than q?

    python benchmarks/function_quality.py 20newsgroups.jsonl.gz [--pairs 40] [--seed 0]
                                          [--budget 1000] [--out rows.jsonl]

Pairs of newsgroups in one order. Each is searched cold by the published climb; its best fitness is
the target. What is remembered of a problem is one of

- *selector*: Q = q(s), the fitness of each selected feature alone, as the paper had it;
- *learner*: the share of the target's entropy that a selected feature tells alone;
- *sets*: Q(s, phi) over the sets of the climb, with a logistic regression on each, by Fisher
  information;
- *programs*: Q(s, phi) over the programs that moses met on the selected features, by changes.

From the five nearest problems so far P_D(s) follows as published. *Precision* is the average
precision with which P_D ranks the features of the set that the cold search found. The search then
begins with the features of P_D at least t, or with as many of the best as the neighbours selected
on average, and *speed-up* is the geometric mean of the evaluations until the target, cold against
warm. Finished problems are kept in the file of --out.
"""

import argparse
import json
import os
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from text_stream import text_pairs

from metafs import Prior, Registry
from metafs.pipeline.fitting.function_qualities import function_qualities
from metafs.pipeline.fitting.scoring import qualities, selector_qualities
from metafs.pipeline.fitting.selection import evaluations_to, select
from metafs.stats.function_quality import FunctionQuality
from metafs.transfer.expectation import expectation
from metafs_climb import Climb
from metafs_moses import MosesClassifier

NEIGHBOURS = 5
THRESHOLDS = (0.02, 0.05, 0.1, 0.2, 0.4)
FORMS = {
    "sets": (LogisticRegression(), FunctionQuality()),
    "sets, p = 8": (LogisticRegression(), FunctionQuality(p=8.0)),
    "sets, p = 8, no prior": (LogisticRegression(), FunctionQuality(p=8.0, simplicity=0.0)),
    "programs": (MosesClassifier(max_evaluations=3000), FunctionQuality()),
    "programs, p = 8": (MosesClassifier(max_evaluations=3000), FunctionQuality(p=8.0)),
}


def remembered(problem, selection):
    """Return every form of quality of one problem, by name."""
    found = {
        "selector": selector_qualities(selection.selected, selection.scores),
        "learner": qualities(problem, selection.selected),
    }
    for name, (learner, quality) in FORMS.items():
        found[name] = function_qualities(problem, selection, learner, quality)
    return found


def expected(problem, near, form):
    """Return P_D of each feature from (distance, names, qualities) of the neighbours."""
    place = {name: j for j, name in enumerate(problem.feature_names)}
    rows = np.zeros((len(near), problem.n_features))
    for row, (_, past) in zip(rows, near, strict=True):
        for name, value in past["qualities"][form].items():
            if name in place:
                row[place[name]] = value
    return expectation(np.array([d for d, _ in near]), rows)


def warm(problem, start, target, budget):
    """Return the evaluations until the target, from a start."""
    prior = Prior(np.zeros(problem.n_features), starts=(start,)) if len(start) else None
    climb = Climb(max_evaluations=budget, random_state=0, target_score=target)
    found = climb.fit(problem.X, problem.y, prior=prior)
    return evaluations_to(target, found.candidates_, found.n_evaluations_)


def one(problem, past, signature, jsd, budget):
    """Solve one problem cold and from every kind of memory; return its row."""
    selection = select(Climb(max_evaluations=budget, random_state=0), problem.X, problem.y)
    cold, _ = evaluations_to(selection.fitness, selection.candidates, selection.n_evaluations)
    row = {"problem": problem.name, "cold": cold, "n": int(selection.selected.sum()), "warm": {}}
    near = sorted(((jsd.distance(signature, s), i) for i, (s, _) in enumerate(past)))[:NEIGHBOURS]
    near = [(d, past[i][1]) for d, i in near]
    for form in ("selector", "learner", *FORMS) if near else ():
        P = expected(problem, near, form)
        size = round(np.mean([len(each["qualities"]["learner"]) for _, each in near]))
        starts = {f"t = {t:g}": np.flatnonzero(P >= t) for t in THRESHOLDS}
        starts["size"] = np.sort(np.argsort(-P, kind="stable")[: min(size, (P > 0).sum())])
        row["warm"][form] = {
            "precision": float(average_precision_score(selection.selected, P)),
            **{
                name: (*warm(problem, start, selection.fitness, budget), len(start))
                for name, start in starts.items()
            },
        }
    kept = remembered(problem, selection)
    row["qualities"] = {
        form: {problem.feature_names[j]: float(Q[j]) for j in np.flatnonzero(Q)}
        for form, Q in kept.items()
    }
    return row


def report(rows):
    rows = [row for row in rows if row["warm"]]
    cold = np.array([row["cold"] for row in rows], dtype=float)
    starts = [f"t = {t:g}" for t in THRESHOLDS] + ["size"]
    print(f"{len(rows)} problems; speed-up (features transferred, share of targets reached)\n")
    print(f"| memory | precision | {' | '.join(starts)} |\n|---|--:|{'--:|' * len(starts)}")
    for form in rows[0]["warm"]:
        precision = np.mean([row["warm"][form]["precision"] for row in rows])
        cells = []
        for start in starts:
            taken, reached, n = np.array([row["warm"][form][start] for row in rows]).T
            speed = np.exp(np.log(cold / taken).mean())
            cells.append(f"{speed:.2f} ({n.mean():.0f}, {reached.mean():.0%})")
        print(f"| {form} | {precision:.3f} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--mi", type=float, default=0.02)
    parser.add_argument("--seconds", type=float, default=np.inf, help="stop after so many of CPU")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    problems = text_pairs(options.path, mi=options.mi, seed=options.seed, pairs=options.pairs)
    problems = [problems[i] for i in np.random.default_rng(options.seed).permutation(len(problems))]
    rows = [json.loads(line) for line in options.out.open()] if _there(options.out) else []
    jsd, past = Registry().distances["jsd-features"], []
    for number, problem in enumerate(problems):
        if sum(os.times()[:2]) > options.seconds:
            break
        signature = jsd.signature(problem)
        if number >= len(rows):
            rows.append(one(problem, past, signature, jsd, options.budget))
            if options.out:
                with options.out.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
        past.append((signature, rows[number]))
    report(rows)


def _there(out):
    return out is not None and out.exists()


if __name__ == "__main__":
    main()
