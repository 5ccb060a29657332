"""Streams of problems for remembered models: past problems, then new ones over the same columns.

The rows of a collection are divided once. Past problems learn from one part; a second part serves
them to measure transfer, and no remembered model learns from it; the third belongs to new problems:
labelled rows, 200 rows without label, and test rows.
"""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

N_UNLABELLED = 200
N_TEST = 400
N_PAST = 200  # rows a class that a past problem learns from
MOST_LABELS = 200


@dataclass(frozen=True)
class Past:
    """A solved problem: what its model learns from, and rows that no remembered model sees."""

    name: str
    X: Any
    y: Any
    X_unseen: Any
    y_unseen: Any


@dataclass(frozen=True)
class New:
    """A problem to solve: rows to label, rows without label, test rows."""

    name: str
    X: Any
    y: Any
    X_unlabelled: Any
    X_test: Any
    y_test: Any
    order: Any = field(repr=False)

    def labelled(self, n: int, classes: bool) -> Any:
        """Return the first n rows of each class, or the first n rows; None if there are fewer."""
        if not classes:
            return self.order[:n] if len(self.order) >= n else None
        of_class = [self.order[self.y[self.order] == c] for c in np.unique(self.y)]
        if min(map(len, of_class)) < n:
            return None
        return np.concatenate([rows[:n] for rows in of_class])


@dataclass(frozen=True)
class Stream:
    """Past problems in their order, and the new ones."""

    name: str
    past: list[Past]
    new: list[New]
    measure: str = "accuracy"
    words: bool = False
    labels: tuple[int, ...] = (2, 5, 10, 20, 50, 100, 200)

    @property
    def classes(self) -> bool:
        return self.measure != "squared error"


def presence_of_words(path: Path, min_df: int = 5) -> tuple[csr_array, Any]:
    """Return which words occur in which document, and the label of each."""
    texts, labels = [], []
    with gzip.open(path, "rt", encoding="utf8") as lines:
        for document in map(json.loads, lines):
            texts.append(document.get("title", "") + " " + document["text"])
            labels.append(document["label"])
    counter = CountVectorizer(binary=True, min_df=min_df, token_pattern=r"[a-zA-Z]{2,}")
    return csr_array(counter.fit_transform(texts), dtype=np.float64), np.array(labels)


def divided(y: Any, rng: Any, n_past: int = N_PAST, n_unseen: int = 60) -> dict[str, Any]:
    """Return, for each class, rows for past problems, rows for their transfer, rows for new ones.

    A small class gives less than half of its rows to past problems.
    """
    parts = {}
    for c in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == c))
        a = min(n_past, int(0.3 * len(rows)))
        b = min(n_unseen, int(0.12 * len(rows)))
        parts[c] = rows[:a], rows[a : a + b], rows[a + b :]
    return parts


def of_classes(X: Any, y: Any, parts: Any, classes: Any, name: str) -> Past:
    learned = np.concatenate([parts[c][0] for c in classes])
    unseen = np.concatenate([parts[c][1] for c in classes])
    return Past(name, X[learned], y[learned], X[unseen], y[unseen])


def new_of_classes(X: Any, y: Any, parts: Any, classes: Any, name: str, rng: Any) -> New:
    pools, unlabelled, tests = [], [], []
    for c in classes:
        rows = rng.permutation(parts[c][2])
        n_free = N_UNLABELLED // len(classes)
        n_test = min(N_TEST // len(classes), len(rows) // 3)
        tests.append(rows[:n_test])
        n_free = min(n_free, len(rows) // 4)
        unlabelled.append(rows[n_test : n_test + n_free])
        pools.append(rows[n_test + n_free :][: MOST_LABELS + 50])
    pool, free, test = map(np.concatenate, (pools, unlabelled, tests))
    order = rng.permutation(len(pool))
    return New(name, X[pool], y[pool], X[free], X[test], y[test], order)


def by_classes(
    name: str, X: Any, y: Any, past: Any, new: Any, seed: int, *, words: bool = False, **sizes: int
) -> Stream:
    """Return the stream of problems that are given as tuples of classes."""
    rng = np.random.default_rng(seed)
    parts = divided(y, rng, **sizes)
    return Stream(
        name,
        [of_classes(X, y, parts, each, " ".join(map(str, each))) for each in past],
        [new_of_classes(X, y, parts, each, " ".join(map(str, each)), rng) for each in new],
        words=words,
    )


def some_pairs(classes: Any, n_past: int, n_new: int, seed: int) -> tuple[list[Any], list[Any]]:
    pairs = list(combinations(classes, 2))
    order = np.random.default_rng([seed, 1]).permutation(len(pairs))
    drawn = [pairs[i] for i in order]
    return drawn[:n_past], drawn[n_past : n_past + n_new]


def newsgroups(data: Path, n_new: int, seed: int, n_past: int = 120) -> Stream:
    X, y = presence_of_words(data / "20newsgroups.jsonl.gz")
    past, new = some_pairs(np.unique(y), n_past, n_new, seed)
    return by_classes("20 Newsgroups", X, y, past, new, seed, words=True)


def new_newsgroups(data: Path, n_new: int, seed: int) -> Stream:
    """Memory of all pairs of 14 groups; new pairs of the six other groups."""
    X, y = presence_of_words(data / "20newsgroups.jsonl.gz")
    groups = np.random.default_rng([seed, 2]).permutation(np.unique(y))
    past, _ = some_pairs(groups[:14], 91, 0, seed)
    _, new = some_pairs(groups[14:], 0, n_new, seed)
    return by_classes("20 Newsgroups, new groups", X, y, past, new, seed, words=True)


def ohsumed(data: Path, n_new: int, seed: int) -> Stream:
    X, y = presence_of_words(data / "ohsumed23.jsonl.gz")
    names, counts = np.unique(y, return_counts=True)
    n_past = 60
    past, new = some_pairs(names[counts >= 150], n_past, n_new, seed)
    return by_classes("OHSUMED", X, y, past, new, seed, words=True)


def webkb(data: Path, n_new: int, seed: int) -> Stream:
    """Pairs of four classes: each new pair with the other five in memory would be one problem,
    so memory has three pairs that form a path, and the three others are new."""
    X, y = presence_of_words(data / "webkb4.jsonl.gz")
    past, new = some_pairs(np.unique(y), 3, n_new, seed)
    return by_classes("WebKB", X, y, past, new, seed, words=True)


def digits(path: Path, name: str, n_new: int, seed: int, k: int) -> Stream:
    """Return problems of k digits; 25 pairs, or 20 sets of four, are remembered."""
    table = np.load(path)
    X, y = table["X"].astype(np.float64), table["y"]
    sets = list(combinations(np.unique(y), k))
    order = np.random.default_rng([seed, 3]).permutation(len(sets))
    drawn = [sets[i] for i in order]
    n_past = 25 if k == 2 else 20
    past, new = drawn[:n_past], drawn[n_past : n_past + n_new]
    title = f"{name}, {'pairs' if k == 2 else 'four digits'}"
    return by_classes(title, X, y, past, new, seed)


def of_tasks(data: Path, file: str, name: str, measure: str, n_new: int, seed: int) -> Stream:
    """Return the tasks of a file as problems; two thirds of them are past."""
    table = np.load(data / file)
    X, y, task = table["X"].astype(np.float64), table["y"], table["task"]
    X = X[:, np.ptp(X, axis=0) > 0]
    rng = np.random.default_rng([seed, 4])
    tasks = rng.permutation(np.unique(task))
    n_past = 2 * len(tasks) // 3
    past, new = [], []
    for t in tasks[:n_past]:
        rows = rng.permutation(np.flatnonzero(task == t))
        cut = int(0.6 * len(rows))
        a, b = rows[:cut], rows[cut:]
        past.append(Past(f"{name} {t}", X[a], y[a], X[b], y[b]))
    for t in tasks[n_past:][:n_new]:
        rows = rng.permutation(np.flatnonzero(task == t))
        if measure == "squared error":
            third = len(rows) // 3
            test, free, pool = (
                rows[:third],
                rows[third : third + third // 2],
                rows[third + third // 2 :],
            )
        else:
            test, free, pool = rows[: len(rows) // 2], rows[:0], rows[len(rows) // 2 :]
        order = np.arange(len(pool))
        new.append(New(f"{name} {t}", X[pool], y[pool], X[free], X[test], y[test], order))
    labels = (5, 10, 20, 50, 100) if measure == "squared error" else (2, 5, 10, 20)
    return Stream(name, past, new, measure=measure, labels=labels)


def bibtex(data: Path, n_new: int, seed: int) -> Stream:
    """One problem a tag; rows are divided before anything else."""
    z = np.load(data / "bibtex.npz")
    X = csr_array(
        (z["data"].astype(np.float64), z["indices"], z["indptr"]), shape=tuple(z["shape"])
    )
    Y = z["Y"]
    rng = np.random.default_rng([seed, 5])
    rows = rng.permutation(X.shape[0])
    cut, unseen = int(0.35 * len(rows)), int(0.5 * len(rows))
    parts = rows[:cut], rows[cut:unseen], rows[unseen:]
    positives = np.array([Y[part].sum(axis=0) for part in parts])
    tags = rng.permutation(np.flatnonzero((positives[0] >= 25) & (positives[2] >= 60)))
    past, new = [], []

    def balanced(part: Any, tag: int, most: int) -> Any:
        one = rng.permutation(part[Y[part, tag] == 1])[:most]
        none = rng.permutation(part[Y[part, tag] == 0])[: len(one)]
        return np.concatenate([one, none])

    n_past = len(tags) - min(n_new, len(tags) // 3)
    for tag in tags[:n_past]:
        a, b = balanced(parts[0], tag, N_PAST), balanced(parts[1], tag, 60)
        past.append(Past(f"tag {tag}", X[a], Y[a, tag], X[b], Y[b, tag]))
    for tag in tags[n_past:]:
        mine = balanced(parts[2], tag, 10**6)
        y = Y[mine, tag]
        chosen = {c: rng.permutation(mine[y == c]) for c in (0, 1)}
        new.append(
            new_of_classes(
                X,
                Y[:, tag],
                {c: ((), (), part) for c, part in chosen.items()},
                (0, 1),
                f"tag {tag}",
                rng,
            )
        )
    return Stream("bibtex", past, new, words=True)


def with_permuted_names(stream: Stream, seed: int, *, all_of_them: bool) -> Stream:
    """Return the stream with the columns of each past problem in an order of its own.

    Otherwise the past problems agree with each other, and only the new ones have other names.
    """
    rng = np.random.default_rng([seed, 6])
    common = rng.permutation(stream.past[0].X.shape[1])
    past = []
    for each in stream.past:
        order = rng.permutation(len(common)) if all_of_them else common
        past.append(
            Past(each.name, each.X[:, order], each.y, each.X_unseen[:, order], each.y_unseen)
        )
    kind = "permuted names" if all_of_them else "other names"
    return Stream(
        f"{stream.name}, {kind}", past, stream.new, stream.measure, stream.words, stream.labels
    )


STREAMS: dict[str, Callable[[Path, int, int], Stream]] = {
    "newsgroups": newsgroups,
    "new-groups": new_newsgroups,
    "permuted": lambda data, n, seed: with_permuted_names(
        newsgroups(data, n, seed, n_past=60), seed, all_of_them=True
    ),
    "renamed": lambda data, n, seed: with_permuted_names(
        newsgroups(data, n, seed, n_past=60), seed, all_of_them=False
    ),
    "ohsumed": ohsumed,
    "webkb": webkb,
    "mnist": lambda data, n, seed: digits(data / "MNIST.npz", "MNIST", n, seed, 2),
    "mnist4": lambda data, n, seed: digits(data / "MNIST.npz", "MNIST", n, seed, 4),
    "usps": lambda data, n, seed: digits(data / "USPS.npz", "USPS", n, seed, 2),
    "usps4": lambda data, n, seed: digits(data / "USPS.npz", "USPS", n, seed, 4),
    "landmine": lambda data, n, seed: of_tasks(data, "landmine.npz", "landmine", "AUC", n, seed),
    "school": lambda data, n, seed: of_tasks(
        data, "school.npz", "school", "squared error", n, seed
    ),
    "parkinson": lambda data, n, seed: of_tasks(
        data, "parkinsons_telemonitoring.npz", "Parkinson", "squared error", n, seed
    ),
    "bibtex": bibtex,
}
