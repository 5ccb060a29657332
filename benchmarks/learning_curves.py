"""Learning curves: what memory is worth where labels are few.

    python benchmarks/learning_curves.py 20newsgroups.jsonl.gz [--draws 3] [--out rows.jsonl]

A problem is a pair of newsgroups. Memory holds 120 of the 190 pairs, drawn at random, each solved
with 150 documents a group by `metafs.solve` (selector infogain, 50 words, transfer none) and kept
in a real MetaDB. The other 70 pairs are new: a few documents are labelled, none of them known to
memory, words are selected, naive Bayes (Bernoulli) learns from the labelled documents with these
words, and is tested on documents of the two groups that are neither in memory nor among the first
200 of the draw. Smaller numbers of labels are part of larger ones. Words are selected by

- measured: infogain in the labelled documents, no memory,
- class-balanced: the same, but class-balanced: the selector ``shrunk`` without memory,
- memory: what transfer `guided` expects of them; labels only serve to find neighbours,
- shrunk: the selector ``shrunk``, measured quality combined with memory, class-balanced.

Neighbours are found by the loop's own steps from the labelled documents alone. Columns come in
random order, so equal ranks are broken at random. What `shrunk` and its constants are was settled
on the 120 pairs in memory, each with its own run left out (--settle prints their table).
"""

import argparse
import os
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from few_labels import compared
from protocol import rows_of
from scipy.sparse import csr_array
from sklearn.naive_bayes import BernoulliNB
from text_stream import read_texts, word_presence

from metafs import Problem, Registry, solve
from metafs.data.typing import Array
from metafs.memory.memory import Memory
from metafs.pipeline.plan import Plan
from metafs.pipeline.preparing import prepare
from metafs.pipeline.settings import Settings
from metafs.pipeline.steps import search
from metafs_metadb import MetaDB

N_KNOWN = 120
N_DOCUMENTS = 150
MIN_DOCUMENTS = 3
N_REMEMBERED_WORDS = 50
LARGEST = 200
SIZES = (5, 10, 15, 20, 35, 50, 100, 200)
ARMS = ("measured", "class-balanced", "memory", "shrunk")
COLD = ("measured", "class-balanced")
GOALS = {5: 15, 20: 35}
"""Shrunk with so many labels a class should equal what is cold with so many."""
ALLOWED_LOSS = 0.5


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents as rows of word presences, each group in a random order of its own."""

    X: csr_array
    words: Array
    groups: list[str]
    rows: dict[str, Array]
    """For each group its rows; the first 150 are memory's."""
    pairs: list[tuple[str, str]]
    """In random order; the first 120 are memory's."""


@lru_cache(maxsize=1)
def corpus(path: str) -> Corpus:
    texts = read_texts(path)
    groups = sorted(texts)
    rng = np.random.default_rng(0)
    X, words = word_presence([text for group in groups for text in texts[group]])
    starts = np.cumsum([0, *(len(texts[group]) for group in groups)])
    rows = {
        group: start + rng.permutation(len(texts[group]))
        for group, start in zip(groups, starts[:-1], strict=True)
    }
    pairs = list(combinations(groups, 2))
    drawn = [pairs[i] for i in rng.permutation(len(pairs))]
    return Corpus(X, words, groups, rows, drawn)


def known_and_new(path: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the pairs that memory holds, and those that are new to it."""
    pairs = corpus(path).pairs
    return pairs[:N_KNOWN], pairs[N_KNOWN:]


def problem_of(path: str, pair: tuple[str, str], rows: Array, least: int, rng: Any) -> Problem:
    """Return a problem over the words that occur in at least so many of its documents."""
    texts = corpus(path)
    X = texts.X[rows]
    seen = rng.permutation(np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= least))
    y = np.where(np.isin(rows, texts.rows[pair[0]]), *pair)
    return Problem.of(
        X[:, seen],
        y,
        feature_names=texts.words[seen].tolist(),
        name=" vs ".join(pair),
        source=Path(path).name,
    )


@lru_cache(maxsize=1)
def remembered(path: str) -> tuple[Memory, Any]:
    """Return a memory of the known pairs, and the folder that must live as long."""
    folder = tempfile.TemporaryDirectory()
    db = MetaDB(Path(folder.name) / "memory.duckdb")
    rng = np.random.default_rng(2)
    stream = []
    for pair in known_and_new(path)[0]:
        rows = np.concatenate([corpus(path).rows[group][:N_DOCUMENTS] for group in pair])
        stream.append(problem_of(path, pair, rows, MIN_DOCUMENTS, rng))
    settings = {"selector": "infogain", "params": {"n_features_to_select": N_REMEMBERED_WORDS}}
    for solution in solve(
        stream, db=db, transfer="none", learner="naive-bayes", folds=2, **settings
    ):
        if solution.status != "solved":
            raise RuntimeError(f"{solution.problem}: {solution.error}")
    return Memory(db, Registry().distances["jsd-features"], stream_length=1000), folder


@lru_cache(maxsize=4)
def plan_for(selector: str, n_words: int, transfer: str, neighbours: int) -> Plan:
    params = {"n_features_to_select": n_words}
    settings = Settings(selector=selector, params=params, transfer=transfer, neighbours=neighbours)
    return settings.resolve(Registry())


def accuracies(
    path: str, first: str, second: str, draw: int, n_labelled: int, n_words: int, neighbours: int
) -> dict[str, float]:
    """Return the test accuracy of the words that each way selects."""
    texts, pair = corpus(path), (first, second)
    rng = np.random.default_rng([draw, *map(texts.groups.index, pair)])
    orders = [rng.permutation(texts.rows[group][N_DOCUMENTS:]) for group in pair]
    labelled = np.concatenate([order[:n_labelled] for order in orders])
    tested = np.concatenate([order[LARGEST:] for order in orders])
    problem = problem_of(path, pair, labelled, 1, rng)
    place = {word: column for column, word in enumerate(texts.words)}
    X_test = texts.X[tested][:, [place[word] for word in problem.feature_names]]
    y_test = np.isin(tested, texts.rows[second])
    y = np.isin(labelled, texts.rows[second])

    memory, _ = remembered(path)
    plan = plan_for("shrunk", n_words, "guided", neighbours)
    prepared = prepare(problem, plan, memory, exclude_name=problem.name)
    cold, class_balanced = (
        prepare(problem, plan_for(selector, n_words, "none", 1), None)
        for selector in ("infogain", "shrunk")
    )
    prior = prepared.prior
    expected = np.zeros(problem.n_features) if prior is None else prior.expected
    selected = {
        "measured": np.flatnonzero(search(cold).selected),
        "class-balanced": np.flatnonzero(search(class_balanced).selected),
        "memory": np.argsort(-expected, kind="stable")[:n_words],
        "shrunk": np.flatnonzero(search(prepared).selected),
    }
    found: dict[str, float] = {}
    for arm, columns in selected.items():
        learner = BernoulliNB().fit(problem.X[:, columns], y)
        found[arm] = float(learner.score(X_test[:, columns], y_test))
    return found


def print_table(rows: list[dict[str, Any]], sizes: list[int]) -> None:
    print(f"| labels a class | {' | '.join(ARMS)} |")
    print("|--:|" + "--:|" * len(ARMS))
    for n in sizes:
        of_size = [row for row in rows if row["n_labelled"] == n]
        print(f"| {n} | {' | '.join(compared(of_size, arm) for arm in ARMS)} |", flush=True)


def by_problem(rows: list[dict[str, Any]], arm: str, n_labelled: int) -> Array:
    """Return the accuracy of each problem, the mean over its draws, in per cent."""
    found: dict[Any, list[float]] = {}
    for row in rows:
        if row["n_labelled"] == n_labelled:
            found.setdefault(row["problem"], []).append(100 * row[arm])
    return np.array([np.mean(found[problem]) for problem in sorted(found)])


def print_goals(rows: list[dict[str, Any]], sizes: list[int]) -> None:
    """Print the goals with the results, paired by problem."""
    for arm in COLD:
        for few, many in GOALS.items():
            if few in sizes and many in sizes:
                ours, cold = by_problem(rows, "shrunk", few), by_problem(rows, arm, many)
                gap = ours - cold
                error = gap.std(ddof=1) / np.sqrt(len(gap))
                print(
                    f"shrunk with {few} labels: {ours.mean():.1f}, {arm} with {many}: "
                    f"{cold.mean():.1f}; difference {gap.mean():+.2f} ± {error:.2f} "
                    "(goal: not below 0)"
                )
        gains = [
            by_problem(rows, "shrunk", n).mean() - by_problem(rows, arm, n).mean() for n in sizes
        ]
        worst = int(np.argmin(gains))
        print(
            f"least gain over {arm}: {gains[worst]:+.2f} with {sizes[worst]} labels "
            f"(goal: not below -{ALLOWED_LOSS})"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", help="20newsgroups.jsonl.gz")
    parser.add_argument("--pairs", type=int, default=None, help="fewer than all new pairs")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--labels", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--words", type=int, default=50)
    parser.add_argument("--neighbours", type=int, default=20)
    parser.add_argument("--settle", action="store_true", help="on pairs that are not reported")
    parser.add_argument("--out", type=Path, help="keep finished rows here, and go on from them")
    options = parser.parse_args()
    pairs = known_and_new(options.path)[0 if options.settle else 1][: options.pairs]
    tasks = [
        {"first": one, "second": two, "draw": draw, "n_labelled": n}
        | {"n_words": options.words, "neighbours": options.neighbours}
        for draw in range(options.draws)
        for one, two in pairs
        for n in options.labels
    ]
    rows = list(rows_of(accuracies, options.path, tasks, options.out, 1))
    for row in rows:
        row["problem"] = row["first"], row["second"]
    print(
        f"{len(pairs)} pairs, {options.draws} draws, {options.words} words, "
        f"{options.neighbours} neighbours\n"
    )
    print_table(rows, options.labels)
    print()
    print_goals(rows, options.labels)


if __name__ == "__main__":
    main()
