"""Few labels: does smoothing measured quality by properties of genes select better genes?

    python benchmarks/few_genes.py DATA_FOLDER [--draws 20] [--out rows.jsonl]

The question of `few_labels.py`, asked of gene expression, which section 9 of Krupka, Navot and
Tishby (2008) names. The genes have no names in common, so nothing is known of them elsewhere. Their
meta-features come from samples without their labels: mean, standard deviation, skewness and
kurtosis of a gene, its absolute correlation with each of the first five principal components, and
the share of its variance that these explain. So they depend on the instances, though not on their
labels; the paper's do not depend on instances at all. Intensities are taken as logarithms.

Half of the labelled samples come from each class, and 50 genes are selected. Of the other samples
one half is not labelled and serves the meta-features, together with the labelled ones; the other
half is the test, in balanced accuracy, and takes no part in anything before. With --transductive
all other samples are the test, and serve the meta-features too. Measure and learner are the two
with the best accuracy by measured quality on pairs of classes of SRBCT and GLIOMA (--settle),
which are not reported.
"""

import argparse
import os
from functools import lru_cache
from itertools import combinations
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from few_labels import ARMS, print_table, registry, scores_of_features, settled
from protocol import load, rows_of
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score

N_GENES = 50
N_COMPONENTS = 5
LEAST_CLASS = 12
REPORTED = ("colon log", "leukemia log", "DLBCL log", "Prostate_GE", "lymphoma")
SETTLING = ("SRBCT", "GLIOMA")


@lru_cache(maxsize=2)
def problem(folder, name):
    """Return X, and y in {0, 1}; "SRBCT 1 3" is a pair of classes of SRBCT."""
    data, *pair = name.split(" ") if name.startswith(SETTLING) else [name]
    X, y = load(folder, data)
    if pair:
        rows = np.isin(y, [int(c) for c in pair])
        X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
    return X, y


def described(X):
    """Return the meta-features of genes, from samples without labels."""
    spread = X.std(axis=0)
    scaled = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    scores = np.linalg.svd(scaled, full_matrices=False)[0][:, :N_COMPONENTS]
    loadings = np.abs(scaled.T @ scores) / np.sqrt(len(X))
    shapes = [(scaled**power).mean(axis=0) for power in (3, 4)]
    return np.column_stack([X.mean(axis=0), spread, *shapes, loadings, (loadings**2).sum(axis=1)])


def accuracies(folder, problem_name, draw, n_labelled, transductive, measure, regressor, learner):
    X, y = problem(folder, problem_name)
    rng = np.random.default_rng([draw, n_labelled])
    orders = [rng.permutation(np.flatnonzero(y == c)) for c in (0, 1)]
    half = n_labelled // 2
    train = np.concatenate([order[:half] for order in orders])
    test = np.concatenate(
        [
            order[half:] if transductive else order[half : (half + len(order)) // 2]
            for order in orders
        ]
    )
    U = described(X if transductive else np.delete(X, test, axis=0))
    at_random = rng.permutation(X.shape[1])
    arguments = U, registry().measures[measure], settled(regressor), "common", rng
    found = {}
    for arm, score in scores_of_features(X[train], y[train], *arguments).items():
        best = np.lexsort((at_random, -score))[:N_GENES]
        fitted = clone(registry().learners[learner]).fit(X[train][:, best], y[train])
        found[arm] = balanced_accuracy_score(y[test], fitted.predict(X[test][:, best]))
    return found


def names_of(folder, settling):
    if not settling:
        return list(REPORTED)
    sizes = {data: np.bincount(load(folder, data)[1]) for data in SETTLING}
    large = {data: np.flatnonzero(sizes[data] >= LEAST_CLASS) for data in SETTLING}
    return [f"{data} {a} {b}" for data in SETTLING for a, b in combinations(large[data], 2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where the .npz files are")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--labels", type=int, nargs="+", default=[10, 20, 30])
    parser.add_argument("--measure", default="fisher")
    parser.add_argument("--regressor", default="ridge")
    parser.add_argument("--learner", default="naive-bayes")
    parser.add_argument("--transductive", action="store_true", help="meta-features see the test")
    parser.add_argument("--settle", action="store_true", help="on data that are not reported")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keep finished rows here, and go on from them")
    options = parser.parse_args()
    settings = {name: getattr(options, name) for name in ("measure", "regressor", "learner")}
    tasks = [
        {"problem_name": name, "draw": draw, "n_labelled": n, "transductive": options.transductive}
        | settings
        for name in names_of(options.folder, options.settle)
        for draw in range(options.draws)
        for n in options.labels
    ]
    rows = list(rows_of(accuracies, options.folder, tasks, options.out, options.jobs))
    arms = [arm for arm in ARMS if arm in rows[0]]
    print(f"{options.draws} draws, {', '.join(settings.values())}\n\nall")
    for row in rows:
        row["problem"] = row["problem_name"]
    print_table(rows, options.labels, arms)
    if not options.settle:
        for name in REPORTED:
            print(f"\n{name}")
            print_table([row for row in rows if row["problem"] == name], options.labels, arms)


if __name__ == "__main__":
    main()
