"""Tables 5 and 7 of the Inf-FS paper, on the images that are at hand: how many features are kept.

    python benchmarks/image_features.py DATA_FOLDER [--tables 5 7] [--splits 10] [--out rows.jsonl]

G. Roffo, S. Melzi, M. Cristani, "Infinite Feature Selection", ICCV 2015, sections 4.5 and 4.8. The
paper has photographs (Caltech-101 and 256, PASCAL VOC) described by the 4,096 activations of a
network, neither of which can be had here. What can be repeated is what is done with them: a linear
SVM for several classes, the share of the features that is kept chosen by 5-fold cross-validation on
the training images, accuracy on the others, mean over random splits (table 5); and two kinds
of features side by side, of which 85 % are kept (table 7).

Table 5 here: pixels of objects (COIL20), persons (ORL, Yale) and digits (USPS), five training
images of each class, thirty of each digit. Table 7 here: COIL20 described by 1,000 patch prototypes
cut from images kept apart (`mf_pfs.py`), in the place of the network's features, and by its 1,024
pixels, in the place of the 1,024 words; 20 % kept as well, because 85 % leave little to choose. As
in the paper each image has length 1, in each of its kinds. C, and the alpha of Inf-FS, are chosen
together with the share, in table 7 at the share that is given. The SVM is LIBSVM's, a machine for
each pair of classes.
"""

import argparse
import os
from functools import lru_cache
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from mf_pfs import images, split
from protocol import METHODS, rows_of
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import normalize
from sklearn.svm import SVC

from metafs_metafeatures import PatchPrototypes

PER_CLASS = {"COIL20": 5, "ORL": 5, "Yale": 5, "USPS": 30}
SHARES = (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
CS = (1.0, 10.0, 100.0, 1000.0)
ALL = "all features"
ROWS = ("relieff", "fisher", "infogain", "fsv", "inffs raw", "random order", ALL)
PAPER_5 = {
    "relieff": "80.4, 82.7, 90.8, 79.8",
    "fisher": "80.7, 82.9, 90.9, 79.9",
    "infogain": "80.6, 82.8, 90.9, 79.9",
    "fsv": "80.8, 81.6, 89.7, 79.6",
    "inffs raw": "83.5, 84.0, 91.8, 81.5",
}
PAPER_7 = {
    "relieff": "81.6, 83.5",
    "fisher": "81.9, 83.9",
    "infogain": "80.7, 83.8",
    "fsv": "81.1, 83.9",
    "inffs raw": "83.6, 84.1",
}
N_PATCHES = 1_000
KEPT_7 = (0.85, 0.2)
ALONE = {"patches alone": slice(0, N_PATCHES), "pixels alone": slice(N_PATCHES, None)}


@lru_cache(maxsize=1)
def pixels(folder, data):
    with np.load(Path(folder) / f"{data}.npz") as file:
        X, y = file["X"].astype(np.float64), file["y"]
    return normalize(X), np.unique(y, return_inverse=True)[1]


@lru_cache(maxsize=1)
def both_kinds(folder):
    """Return COIL20 by patches and by pixels, side by side, and its classes."""
    apart, rest, y = images(folder, "COIL20")
    generator = PatchPrototypes(apart)
    drawn = generator.draw(N_PATCHES, np.random.default_rng(1))
    patches = generator.measure_all(drawn, generator.prepare(rest))
    return np.hstack([normalize(patches), normalize(rest.reshape(len(rest), -1))]), y


def accuracy(K, y, train, test, C):
    """Return how many test rows a linear SVM gets right, from the products of all rows."""
    machine = SVC(kernel="precomputed", C=C).fit(K[np.ix_(train, train)], y[train])
    return float(np.mean(machine.predict(K[np.ix_(test, train)]) == y[test]))


def chosen(X, y, train, rankings, shares, seed):
    """Return the columns and C with the best accuracy in training; the fewest, if equal."""
    folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(train, y[train]))
    best = (-1.0,)
    for share in shares:
        for ranking in rankings:
            columns = ranking[: round(share * X.shape[1])]
            K = X[np.ix_(train, columns)] @ X[np.ix_(train, columns)].T
            for C in CS:
                found = np.mean([accuracy(K, y[train], a, b, C) for a, b in folds])
                if found > best[0]:
                    best = (found, columns, C)
    return best[1:]


def work(folder, table, data, method, number):
    """Return the accuracy on test images of what is selected, and what that is, on one split."""
    X, y = pixels(folder, data) if table == 5 else both_kinds(folder)
    train, test = split(y, PER_CLASS[data], number)
    rankings = [np.arange(X.shape[1])[ALONE.get(method, slice(None))]]
    if method in METHODS:
        rankings = METHODS[method].rankings(X[train], y[train], seed=number)
    found = []
    for shares in (SHARES,) if table == 5 else tuple((share,) for share in KEPT_7):
        columns, C = chosen(X, y, train, rankings, shares if method in METHODS else (1.0,), number)
        right = accuracy(X[:, columns] @ X[:, columns].T, y, train, test, C)
        kinds = float(np.mean(columns < N_PATCHES)) if table == 7 else None
        found.append({"accuracy": right, "kept": len(columns) / X.shape[1], "patches": kinds})
    return {"found": found}


def per_cent(rows, place, quantity):
    return 100 * np.array([row["found"][place][quantity] for row in rows])


def accuracies(rows, place):
    """Return the mean over splits with its standard error."""
    found = per_cent(rows, place, "accuracy")
    error = found.std(ddof=1) / len(found) ** 0.5 if len(found) > 1 else 0.0
    return f"{found.mean():.1f} ± {error:.1f}"


def report_5(rows):
    print(f"| method | {' | '.join(PER_CLASS)} | paper |\n|---|{'--:|' * len(PER_CLASS)}---|")
    for method in ROWS:
        cells = []
        for data in PER_CLASS:
            mine = [row for row in rows if (row["data"], row["method"]) == (data, method)]
            cells.append(f"{accuracies(mine, 0)} ({per_cent(mine, 0, 'kept').mean():.0f} %)")
        print(f"| {method} | {' | '.join(cells)} | {PAPER_5.get(method, '')} |")


def report_7(rows):
    heads = [f"{share:.0%} kept | patches, pixels" for share in KEPT_7]
    print(f"\n| method | {' | '.join(heads)} | paper |\n|---|{'--:|--:|' * len(KEPT_7)}---|")
    for method in (*ROWS, *ALONE):
        mine = [row for row in rows if row["method"] == method]
        cells = []
        for place in range(len(KEPT_7)):
            patches = per_cent(mine, place, "patches").mean()
            cells += [
                accuracies(mine, place),
                f"{patches:.0f}, {100 - patches:.0f}",
            ]
        print(f"| {method} | {' | '.join(cells)} | {PAPER_7.get(method, '')} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--tables", nargs="+", type=int, choices=(5, 7), default=(5, 7))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--out", type=Path, help="keep finished rows here, and go on from them")
    options = parser.parse_args()
    tasks = [
        {"table": table, "data": data, "method": method, "number": number}
        for table in options.tables
        for data in (PER_CLASS if table == 5 else ("COIL20",))
        for method in (ROWS if table == 5 else (*ROWS, *ALONE))
        for number in range(options.splits)
    ]
    rows = list(rows_of(work, options.folder, tasks, options.out, 1))
    for table, report in ((5, report_5), (7, report_7)):
        if table in options.tables:
            report([row for row in rows if row["table"] == table])


if __name__ == "__main__":
    main()
