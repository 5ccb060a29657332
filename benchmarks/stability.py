"""What is left of rankings and AUC when training data shrink: table 6 of the Inf-FS paper.

    python benchmarks/stability.py DATA_FOLDER [--data colon ...] [--out stability.jsonl]

G. Roffo, S. Melzi, M. Cristani, "Infinite Feature Selection", ICCV 2015, section 4.6. The index
is the Jensen-Shannon stability of two rankings' first 100 features: the one from all training data
of a split and the one from a half, a quarter or an eighth of it, the same share of each class
(at least 2 samples of each), smaller parts inside larger ones. AUC is that of a linear SVM on these
100 features, trained on the same part and tested on the split's test data.

The index measures divergence in units of that of many random rankings. Two rankings can never be
that far apart, so for a pair it does not fall to 0: the row of random orders is its floor.
Kuncheva's index of the two sets of 100 features, 0 for chance, stands beside it.

The data differ from the paper's, which ranks 4096 features of PASCAL VOC 2007 images, 5011 of them
in training, keeps 1000 and reports mean average precision: its figures stand in brackets to show
the direction, not to be met. An eighth of the microarrays' training data is 5 or 6 samples.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from protocol import METHODS, Method, beside, chosen_auc, load, parsed_options, results, split

from metafs.stability import jensen_shannon, kuncheva

TOP = 100
PARTS = (1, 2, 4, 8)
DATA = ("colon", "leukemia", "USPS", "madelon")
TABLE_6 = {
    "ReliefF": ((80.4, 80.3, 78.2, 74.4), (0.81, 0.64, 0.44)),
    "Fisher": ((80.7, 80.3, 78.2, 74.6), (0.95, 0.84, 0.69)),
    "MutInf": ((80.6, 80.3, 78.2, 74.5), (0.88, 0.64, 0.34)),
    "FSV": ((80.8, 80.1, 78.1, 74.4), (0.90, 0.87, 0.86)),
    "Ours": ((83.5, 81.9, 79.8, 76.5), (0.99, 0.97, 0.94)),
}
"""Mean average precision in per cent at all, 1/2, 1/4 and 1/8 of the training data; index at the
last three, 1 at all."""
FIXED = ({"alpha": 0.2},)
METHODS = METHODS | {
    "inffs raw, alpha 0.2": Method("inffs", "Ours", "raw", FIXED),
    "inffs unit, alpha 0.2": Method("inffs", "Ours", "unit", FIXED),
}


def part_of(train, y, divisor, number):
    """Return one part in ``divisor`` of the training rows, from each class."""
    rng = np.random.default_rng(number)
    rows = [rng.permutation(train[y[train] == c]) for c in (0, 1)]
    return np.concatenate([r[: max(2, round(len(r) / divisor))] for r in rows])


def work(folder, data, method, number, train_share):
    """Return index and AUC of a method at each part of the training data, on one split."""
    X, y = load(folder, data)
    train, test = split(y, number, train_share)
    aucs, rankings = [], []
    for divisor in PARTS:
        part = part_of(train, y, divisor, number)
        tried = METHODS[method].rankings(X[part], y[part], seed=number)
        auc, best = chosen_auc(tried, TOP, (X[part], y[part]), (X[test], y[test]), seed=number)
        aucs.append(auc)
        rankings.append(np.argsort(tried[best]) + 1)
    pairs = [np.array([rankings[0], ranking]) for ranking in rankings]
    return {
        "auc": aucs,
        "index": [jensen_shannon(pair, k=TOP) for pair in pairs],
        "kuncheva": [kuncheva(pair <= TOP) for pair in pairs],
    }


def print_table(data, methods, found):
    parts = [f"1/{divisor}" for divisor in PARTS]
    heads = [f"{index} {part}" for index in ("index", "Kuncheva") for part in parts[1:]]
    heads += [f"AUC % {part}" for part in parts]
    print(f"\n{data}: ours (paper, on other data)\n\n| method | {' | '.join(heads)} |")
    print(f"|---|{'--:|' * len(heads)}")
    for method in methods:
        precision, index = TABLE_6.get(METHODS[method].paper, (None, None))
        means = {name: values[data, method].mean(axis=0) for name, values in found.items()}
        cells = (
            beside([f"{value:.2f}" for value in means["index"][1:]], index),
            beside([f"{value:.2f}" for value in means["kuncheva"][1:]], None),
            beside([f"{100 * value:.1f}" for value in means["auc"]], precision),
        )
        print(f"| {method} | {' | '.join(cells)} |")


def main():
    options = parsed_options(__doc__, DATA, METHODS)
    found = results(work, options)
    for data in options.data:
        print_table(data, options.methods, found)


if __name__ == "__main__":
    main()
