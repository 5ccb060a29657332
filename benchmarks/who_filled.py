"""Does it matter to `shrunk` which selector filled the memory?

    python benchmarks/who_filled.py 20newsgroups.jsonl.gz

A memory is filled with 40 pairs of newsgroups by one selector. In 24 other pairs, of which few
documents are labelled and none is in memory, `shrunk` selects 50 words by what memory tells: the
relevance of each word in near problems, or which words were selected there. Naive Bayes learns from
the labelled documents; all but the first 50 of a group are the test.
"""

import sys
import tempfile
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
from relatedness import N_DOCUMENTS, words_of
from sklearn.metrics import balanced_accuracy_score
from sklearn.naive_bayes import BernoulliNB

from metafs import Problem, Registry, solve
from metafs.memory import MetaDB
from metafs.memory.memory import Memory
from metafs.pipeline.fitting.selection import select
from metafs.pipeline.preparing import prepare
from metafs.pipeline.settings import Settings

FILLED_BY = {
    "climb": {},
    "infogain": {"n_features_to_select": 50},
    "shrunk": {"n_features_to_select": 50},
}
LABELS = (5, 20)


def main(path: str) -> None:
    X, label, groups, words = words_of(path)
    pairs = np.random.default_rng(0).permutation(list(combinations(range(len(groups)), 2))).tolist()
    rows = [np.flatnonzero(label == group) for group in range(len(groups))]

    def problem(pair: list[int], chosen: list[np.ndarray]) -> Problem:
        name = " vs ".join(groups[group] for group in pair)
        y = np.repeat(["0", "1"], [len(each) for each in chosen])
        taken = X[np.concatenate(chosen)]
        return Problem.of(taken, y, feature_names=words, name=name, source=name)

    plan = Settings(selector="shrunk", params={"n_features_to_select": 50}, neighbours=20).resolve(
        Registry()
    )

    def accuracy(memory: Memory | None, pair: list[int], n: int, by: str) -> float:
        draw = np.random.default_rng([n, *pair])
        orders = [draw.permutation(rows[group][N_DOCUMENTS:]) for group in pair]
        few = problem(pair, [order[:n] for order in orders])
        prior = prepare(few, plan, memory, learning=False).prior
        if prior is not None and by == "who was selected":
            prior = replace(prior, relevance=None)
        columns = np.flatnonzero(select(plan.selector, few.X, few.y, prior=prior).selected)
        test = problem(pair, [order[50:] for order in orders])
        model = BernoulliNB().fit(few.X[:, columns], few.y)
        return float(balanced_accuracy_score(test.y, model.predict(test.X[:, columns])))

    print("| filled by | labels | told | accuracy in % |\n|---|--:|---|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for selector in ("nobody", *FILLED_BY):
            memory = None
            if selector != "nobody":
                db = MetaDB(Path(folder) / f"{selector}.duckdb")
                past = [problem(pair, [rows[g][:100] for g in pair]) for pair in pairs[:40]]
                settings = {"selector": selector, "params": FILLED_BY[selector], "folds": 2}
                for solution in solve(past, db=db, neighbours=20, **settings):
                    if solution.error:
                        raise SystemExit(solution.error)
                memory = Memory(db, plan.distance, len(past))
            for n in LABELS:
                for by in ("relevance", "who was selected"):
                    found = np.mean([accuracy(memory, pair, n, by) for pair in pairs[40:64]])
                    print(f"| {selector} | {n} | {by} | {100 * found:.1f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
