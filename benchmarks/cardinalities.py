"""AUC of a linear SVM at 10 to 200 selected features: tables 3 and 4 of the Inf-FS paper.

    python benchmarks/cardinalities.py DATA_FOLDER [--data colon ...] [--out results.jsonl]

G. Roffo, S. Melzi, M. Cristani, "Infinite Feature Selection", ICCV 2015, section 4.4. Each figure
is the mean over stratified random splits, with the paper's in brackets; `protocol` says what
is chosen where. The paper names neither the number of splits nor the share of training data;
here are 20 splits and two thirds. Nor does it say whether the intensities of the microarrays are
taken as they are or, as is usual, as logarithms, which changes the standard deviations that Inf-FS
goes by: here are both, but for lymphoma, whose file has every gene stretched to [0, 1]. The
standard error is the largest of the row's, over splits.

Read the paper's figures with care. Those of SVM-RFE, its two variants and SW ReliefF in table 3 are
quoted from other work (section 4.3), and the caption says accuracy where the text says AUC. In
table 4 lymphoma and DLBCL have three of five figures in common. Its MutInf is another estimate of
mutual information than our infogain, and its USPS has other features than ours.

Rows kept with --out know nothing of the code that made them: begin a new file when it changes.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

from time import perf_counter

import numpy as np
from protocol import LOG, METHODS, chosen_auc, load, parsed_options, results, split, with_published

CARDINALITIES = (10, 50, 100, 150, 200)
DATA = (
    "colon",
    "colon log",
    "lymphoma",
    "leukemia",
    "leukemia log",
    "DLBCL",
    "DLBCL log",
    "USPS",
    "madelon",
)
TABLE_3 = {
    "SVM-RFE": (76.4, 77.5, 79.2, 79.4, 80.1),
    "Ens. SVM-RFE": (80.3, 79.4, 78.6, 78.6, 79.4),
    "SW SVM-RFE": (79.5, 81.2, 78.4, 76.2, 76.2),
    "ReliefF": (78.8, 80.1, 78.5, 77.5, 76.1),
    "SW ReliefF": (78.3, 79.6, 78.1, 76.4, 75.4),
    "Fisher": (84.2, 86.2, 87.1, 86.0, 86.9),
    "MutInf": (80.1, 83.0, 82.9, 83.3, 83.4),
    "FSV": (81.3, 83.2, 84.0, 83.9, 84.7),
    "Ours": (86.4, 89.0, 89.4, 89.3, 89.0),
}
TABLE_4 = {
    "colon": {name: round(float(np.mean(aucs)), 1) for name, aucs in TABLE_3.items()},
    "USPS": {"FSV": 91.2, "Fisher": 88.6, "MutInf": 92.1, "ReliefF": 92.0, "Ours": 94.1},
    "lymphoma": {"FSV": 92.6, "Fisher": 97.7, "MutInf": 88.7, "ReliefF": 97.5, "Ours": 97.9},
    "leukemia": {"FSV": 98.2, "Fisher": 99.7, "MutInf": 91.9, "ReliefF": 95.0, "Ours": 100.0},
    "DLBCL": {"FSV": 92.5, "Fisher": 97.7, "MutInf": 88.7, "ReliefF": 97.5, "Ours": 98.0},
    "madelon": {"FSV": 66.7, "Fisher": 71.3, "MutInf": 59.9, "ReliefF": 66.6, "Ours": 74.6},
}
"""In per cent. Colon is the mean of table 3; the paper's table 4 leaves it out."""


def work(folder, data, method, number, train_share):
    """Return the AUC of a method at each number of features, on one split."""
    X, y = load(folder, data)
    train, test = split(y, number, train_share)
    start = perf_counter()
    rankings = METHODS[method].rankings(X[train], y[train], seed=number)
    seconds = perf_counter() - start
    chosen = [
        chosen_auc(rankings, n_features, (X[train], y[train]), (X[test], y[test]), seed=number)
        for n_features in CARDINALITIES
    ]
    aucs, settings = zip(*chosen, strict=True)
    return {"auc": aucs, "setting": settings, "seconds": seconds}


def print_by_cardinality(data, methods, aucs, table):
    print(f"\n{data}: AUC in %, ours (paper)\n")
    print(f"| method | {' | '.join(map(str, CARDINALITIES))} | standard error |")
    print(f"|---|{'--:|' * (len(CARDINALITIES) + 1)}")
    for method in methods:
        found = 100 * aucs[data, method]
        cells = with_published(
            [f"{mean:.1f}" for mean in found.mean(axis=0)], table.get(paper_name(method))
        )
        error = found.std(axis=0).max() / np.sqrt(max(1, len(found) - 1))
        print(f"| {method} | {cells} | {error:.1f} |")


def print_means(names, methods, aucs):
    print("\nMean over the numbers of features: AUC in %, ours (paper)\n")
    print(f"| method | {' | '.join(names)} |\n|---|{'--:|' * len(names)}")
    for method in methods:
        paper = [TABLE_4[data.removesuffix(LOG)].get(paper_name(method)) for data in names]
        cells = with_published([f"{100 * aucs[data, method].mean():.1f}" for data in names], paper)
        print(f"| {method} | {cells} |")


def paper_name(method):
    return METHODS[method].paper


def main():
    options = parsed_options(__doc__, DATA, METHODS)
    aucs = results(work, options)["auc"]
    for data in options.data:
        print_by_cardinality(data, options.methods, aucs, TABLE_3 if "colon" in data else {})
    print_means(options.data, options.methods, aucs)


if __name__ == "__main__":
    main()
