"""Few labels: does smoothing measured quality by properties of words select better words?

    python benchmarks/few_labels.py 20newsgroups.jsonl.gz [--draws 5] [--out rows.jsonl]

Section 9 of Krupka, Navot and Tishby (2008) expects that measured quality, noisy where labelled
samples are few, gains from being smoothed by a regression on meta-features. A problem is a pair of
newsgroups. A few documents are labelled, half of each group; 50 of the words that occur in at least
two of them are selected, naive Bayes learns from the labelled documents with these words, and all
other documents of the pair are the test. Words are ranked by

- measured: their infogain in the labelled documents,
- map: the quality that a map, learnt from the other words' meta-features and measured quality,
  predicts for them,
- smoothed: the measured quality, shrunk towards the map (`metafs.stats.smoothing`); its noise is
  the mean over the words of what permuting the labels does to it,
- shuffled, shuffled map: the same with meta-features that belong to other words, as a control,
- elsewhere: their mean infogain over pairs of other groups, without any label of the pair.

Meta-features of a word come from its letters and from the 18 groups that are not in the pair:
length, share of digits, share of documents that write it with a capital (unknown for words that
occur nowhere else), the share of documents that have it, mean and largest infogain over the 153
pairs of these groups, and its frequency in each of them. Equal ranks are broken at random, in the
same order for all.

Regressor, noise, least frequency and learner (the one that does best with measured quality) were
settled on the 15 pairs of six groups (--settle); the table is about pairs of the other 14.
"""

import argparse
import gzip
import json
import os
import re
from collections import Counter
from functools import lru_cache
from itertools import combinations
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from protocol import rows_of
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.naive_bayes import MultinomialNB

from metafs import Registry
from metafs.stats.quality_map import contributions, held_out_quality
from metafs.stats.smoothing import chance_qualities, shrunk

N_WORDS = 50
LEAST_DOCUMENTS = 2
N_FOLDS = 3
SETTINGS = {"forest": {"n_estimators": 30, "min_samples_leaf": 10}}
N_SETTLING = 6
ARMS = ("measured", "smoothed", "map", "shuffled", "shuffled map", "elsewhere")
TOKEN = re.compile(r"[a-zA-Z0-9]{2,}")


@lru_cache(maxsize=1)
def corpus(path):
    """Return words, groups, the group of each document, and its words; with capitals, by group."""
    columns, rows, numbers, label, capitals = [], [], {}, [], {}
    with gzip.open(path, "rt", encoding="utf8") as lines:
        for row, document in enumerate(map(json.loads, lines)):
            label.append(document["label"])
            tokens = set(TOKEN.findall(document["text"]))
            words = sorted({token.lower() for token in tokens})
            found = [numbers.setdefault(word, len(numbers)) for word in words]
            columns += found
            rows += [row] * len(found)
            written = {numbers[token.lower()] for token in tokens if token[0].isupper()}
            capitals.setdefault(document["label"], Counter()).update(written)
    shape = len(label), len(numbers)
    X = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    groups, y = np.unique(label, return_inverse=True)
    with_word = np.array([X[y == g].sum(axis=0) for g in range(len(groups))])
    with_capital = np.zeros_like(with_word)
    for g, group in enumerate(groups):
        for word, count in capitals[group].items():
            with_capital[g, word] = count
    return np.array(list(numbers)), groups.tolist(), y, X, with_word, with_capital


@lru_cache(maxsize=1)
def registry():
    return Registry()


def settled(name):
    return clone(registry().regressors[name]).set_params(**SETTINGS.get(name, {}))


def entropy(p):
    q = 1 - p
    return -sum(each * np.log2(each, out=np.zeros_like(p), where=each > 0) for each in (p, q))


def infogain_of_pairs(rates):
    """Return the infogain of each word for each pair of groups, taken as equally large."""
    pairs = combinations(range(len(rates)), 2)
    one, two = map(list, zip(*pairs, strict=True))
    inside = (entropy(rates[one]) + entropy(rates[two])) / 2
    return entropy((rates[one] + rates[two]) / 2) - inside


def described(path, pair, candidates):
    """Return meta-features of words, and their names; nothing is taken from the pair's groups."""
    words, groups, y, _, with_word, with_capital = corpus(path)
    others = [g for g in range(len(groups)) if groups[g] not in pair]
    count, size = with_word[others][:, candidates], np.bincount(y)[others][:, None]
    gains = infogain_of_pairs(count / size)
    spelled = words[candidates]
    length = np.array([len(word) for word in spelled])
    digits = np.array([sum(map(str.isdigit, word)) for word in spelled]) / length
    total = count.sum(axis=0)
    capital = np.full(len(candidates), np.nan)
    np.divide(with_capital[others][:, candidates].sum(axis=0), total, out=capital, where=total > 0)
    profile = np.log((count + 0.5) / (size + 1))
    level = profile.mean(axis=0)
    named = {
        "length": length,
        "digits": digits,
        "capital": capital,
        "frequency": level,
        "mean infogain": gains.mean(axis=0),
        "largest infogain": gains.max(axis=0),
    } | {groups[g]: each - level for g, each in zip(others, profile, strict=True)}
    return np.column_stack(list(named.values())), list(named)


def labelled_documents(path, pair, draw, n_labelled):
    """Return labelled and test rows, half of the former from each group."""
    _, groups, y, *_ = corpus(path)
    rng = np.random.default_rng([draw, *(groups.index(group) for group in pair)])
    orders = [rng.permutation(np.flatnonzero(y == groups.index(group))) for group in pair]
    train = np.concatenate([order[: n_labelled // 2] for order in orders])
    test = np.concatenate([order[n_labelled // 2 :] for order in orders])
    return train, test, rng


def scores_of_features(X, y, U, measure, regressor, noise, rng):
    """Return the score of each feature by each way to rank."""
    measured = measure(X, y)
    variance = chance_qualities(X, y, measure).var(axis=0, ddof=1)
    variance = variance.mean() if noise == "common" else variance
    shuffled = U[rng.permutation(len(U))]
    by_map, by_shuffled = (
        held_out_quality(u, measured, regressor, n_folds=N_FOLDS) for u in (U, shuffled)
    )
    return {
        "measured": measured,
        "smoothed": shrunk(measured, by_map, variance),
        "map": by_map,
        "shuffled": shrunk(measured, by_shuffled, variance),
        "shuffled map": by_shuffled,
    }


def accuracies(path, first, second, draw, n_labelled, regressor, noise):
    """Return the test accuracy of the words that each way selects."""
    *_, y, X, _, _ = corpus(path)
    train, test, rng = labelled_documents(path, (first, second), draw, n_labelled)
    candidates = np.flatnonzero(X[train].sum(axis=0) >= LEAST_DOCUMENTS)
    U, names = described(path, (first, second), candidates)
    X_train, X_test = (X[rows][:, candidates] for rows in (train, test))
    at_random = rng.permutation(len(candidates))
    measure = registry().measures["infogain"]
    scores = scores_of_features(X_train, y[train], U, measure, settled(regressor), noise, rng)
    scores["elsewhere"] = U[:, names.index("mean infogain")]
    found = {}
    for arm, score in scores.items():
        best = np.lexsort((at_random, -score))[:N_WORDS]
        learner = MultinomialNB().fit(X_train[:, best], y[train])
        found[arm] = float(learner.score(X_test[:, best], y[test]))
    return found


def pairs_of(path, settling):
    """Return the pairs to settle parameters on, or all pairs of the other groups."""
    groups = np.random.default_rng(0).permutation(corpus(path)[1]).tolist()
    chosen = groups[:N_SETTLING] if settling else groups[N_SETTLING:]
    return np.random.default_rng(1).permutation(list(combinations(chosen, 2))).tolist()


def compared(rows, arm, baseline="measured"):
    """Return a cell of the table: mean accuracy, and the gain over the baseline in the same draws.

    The standard error is that over problems, or over draws where there is one problem only.
    """
    by_problem = {}
    for row in rows:
        by_problem.setdefault(row["problem"], []).append((row[arm], row[baseline]))
    values = 100 * np.array([np.mean(each, axis=0) for each in by_problem.values()])
    if len(values) == 1:
        values = 100 * np.array(next(iter(by_problem.values())))
    mean, root = values[:, 0].mean(), np.sqrt(len(values))
    if arm == baseline:
        return f"{mean:.1f} ± {values[:, 0].std(ddof=1) / root:.1f}"
    gain = values[:, 0] - values[:, 1]
    won = np.count_nonzero(gain > 0)
    error = gain.std(ddof=1) / root
    return f"{mean:.1f} ({gain.mean():+.2f} ± {error:.2f}, better in {won} of {len(gain)})"


def print_table(rows, sizes, arms=ARMS):
    print(f"| selected by | {' | '.join(f'{n} labels' for n in sizes)} |")
    print("|---|" + "--:|" * len(sizes))
    for arm in arms:
        cells = (compared([row for row in rows if row["n_labelled"] == n], arm) for n in sizes)
        print(f"| {arm} | {' | '.join(cells)} |", flush=True)


def print_group_errors(rows, sizes, arm="smoothed", baseline="measured"):
    """Print the gain with its jackknife error over groups: pairs that share one are related."""
    cells = []
    for n in sizes:
        gains = {}
        for row in rows:
            if row["n_labelled"] == n:
                gains.setdefault(row["problem"], []).append(100 * (row[arm] - row[baseline]))
        gains = {pair: np.mean(gain) for pair, gain in gains.items()}
        groups = sorted({group for pair in gains for group in pair})
        without = [
            np.mean([gain for pair, gain in gains.items() if group not in pair]) for group in groups
        ]
        error = np.sqrt((len(groups) - 1) * np.var(without))
        cells.append(f"{np.mean(list(gains.values())):+.2f} ± {error:.2f} ({n})")
    print(f"\n{arm}, error over {len(groups)} groups instead of pairs: {', '.join(cells)}")


def print_contributions(path, pair, n_labelled, regressor):
    """Print how well meta-features predict the quality of words in one problem."""
    *_, y, X, _, _ = corpus(path)
    train, _, _ = labelled_documents(path, pair, 0, n_labelled)
    candidates = np.flatnonzero(X[train].sum(axis=0) >= LEAST_DOCUMENTS)
    U, names = described(path, pair, candidates)
    measured = registry().measures["infogain"](X[train][:, candidates], y[train])
    drops = contributions(U, measured, settled(regressor), names=names)
    largest = ", ".join(f"{name} {drop:.3f}" for name, drop in list(drops.items())[:5])
    print(
        f"\n{' and '.join(pair)}, {n_labelled} labels, drop of the correlation without: {largest}"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", help="20newsgroups.jsonl.gz")
    parser.add_argument("--pairs", type=int, default=32)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--labels", type=int, nargs="+", default=[10, 20, 40, 80])
    parser.add_argument("--regressor", default="forest")
    parser.add_argument("--noise", choices=["common", "each"], default="common")
    parser.add_argument("--settle", action="store_true", help="on pairs that are not reported")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keep finished rows here, and go on from them")
    options = parser.parse_args()
    pairs = pairs_of(options.path, options.settle)[: options.pairs]
    tasks = [
        {"first": one, "second": two, "draw": draw, "n_labelled": n}
        | {"regressor": options.regressor, "noise": options.noise}
        for draw in range(options.draws)
        for one, two in pairs
        for n in options.labels
    ]
    rows = list(rows_of(accuracies, options.path, tasks, options.out, options.jobs))
    print(
        f"{len(pairs)} pairs, {options.draws} draws, {options.regressor}, {options.noise} noise\n"
    )
    for row in rows:
        row["problem"] = row["first"], row["second"]
    print_table(rows, options.labels)
    print_group_errors(rows, options.labels)
    print_contributions(options.path, tuple(pairs[0]), 40, options.regressor)


if __name__ == "__main__":
    main()
