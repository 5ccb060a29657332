"""Measure every candidate pipeline on real tables: the memory of those who have none yet.

    python benchmarks/portfolio.py FOLDER [--out FILE] [--table NAME ...]

Each table is cut to several numbers of training rows; each candidate is scored on rows that it has
not seen, up to 500 of them, on the mean of two draws. The result is what the package ships; a file
that exists is completed.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from tables import tables
from threadpoolctl import threadpool_limits

from metafs import Problem
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.contest import contest_of
from metafs.pipeline.choice.costs import seconds_to_learn
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.fitting.scoring import score_on
from metafs.plugin.registry import Registry
from metafs.stats.scorers import best_possible, default_scoring, scorer_named

ROWS = (20, 60, 200, 1000)
SIZES = (1, 4, 16, 64, 256)
DRAWS = 2
MOST_SECONDS = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=Path("portfolio.json"))
    parser.add_argument("--table", nargs="*")
    asked = parser.parse_args()
    registry = Registry()
    records = json.loads(asked.out.read_text()) if asked.out.exists() else []
    known = {(each["table"], each["n_rows"]) for each in records}
    for name, X, y in tables(asked.folder):
        for n_rows in ROWS:
            if (asked.table and name not in asked.table) or (name, n_rows) in known:
                continue
            if n_rows > 0.7 * len(y):
                break
            started = time.perf_counter()
            record = measured(name, X, y, n_rows, registry)
            if record is not None:
                records.append(record)
                asked.out.write_text(json.dumps(records))
                best = max(record["success"], key=lambda each: each[3])
                print(name, n_rows, *best, f"{time.perf_counter() - started:.0f} s", flush=True)


def measured(name, X, y, n_rows, registry):
    """Return the mean success of each candidate, between no skill (0) and the best there is (1)."""
    problem = Problem.of(X, y, name=name)
    draws = [one for draw in range(DRAWS) if (one := divided(problem, n_rows, draw)) is not None]
    if not draws:
        return None
    scoring = default_scoring(problem)
    contest = contest_of(registry, selector=None, learner=None)
    evaluation = Evaluation(problem, draws, contest.selectors, contest.learners, scoring)
    guess = DummyClassifier() if problem.is_classification else DummyRegressor()
    floor = [score_on(problem, np.arange(1), guess, scorer_named(scoring), *rows) for rows in draws]
    found = []
    for learner in contest.learners:
        trials = [Candidate(learner)]
        trials += [
            Candidate(learner, ranking, size)
            for ranking in contest.selectors
            for size in SIZES
            if size < problem.n_features
        ]
        for candidate in trials:
            if seconds_to_learn(problem, candidate, contest.learners, n_rows) > MOST_SECONDS:
                continue
            scores = [evaluation.score(candidate, draw) for draw in range(len(draws))]
            best = best_possible(scoring)
            success = np.mean([(s - f) / (best - f) for s, f in zip(scores, floor, strict=True)])
            found.append(
                (candidate.learner, candidate.selector, candidate.size, round(float(success), 4))
            )
    return {
        "table": name,
        "n_rows": n_rows,
        "n_features": problem.n_features,
        "n_classes": len(problem.classes) if problem.classes else 0,
        "success": found,
    }


def divided(problem, n_rows, draw):
    """Return training and test rows; None if a class is missing from the training rows."""
    rng = np.random.default_rng(draw)
    order = rng.permutation(problem.n_samples)
    train, test = order[:n_rows], order[n_rows : n_rows + 500]
    if problem.is_classification:
        counts = np.bincount(problem.y[train], minlength=len(problem.classes))
        test = test[np.isin(problem.y[test], np.flatnonzero(counts))]
        if counts.min() < 2:
            return None
    return np.sort(train), np.sort(test)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    with threadpool_limits(1):
        main()
