"""Figure 2 of the Inf-FS paper: how well it does over the mix of spread and difference.

    python benchmarks/alpha.py DATA_FOLDER [--data colon ...] [--splits 5] [--out rows.jsonl]

G. Roffo, S. Melzi, M. Cristani, "Infinite Feature Selection", ICCV 2015, section 4.7: four fifths
of the features are kept, alpha goes from 0 to 1, the accuracies of each data set are divided by the
largest, and the mean over data sets is drawn with bars of 2.5 standard deviations. C of the linear
SVM is the one with the best AUC on all features, as the paper keeps "the C value that gave the best
performance"; what is measured is AUC on test rows. The paper's curve rises from its lowest point at
alpha = 0 to its peak at 0.2 and falls to about 0.7 at 1, in a picture, on thirteen data sets.
"""

import argparse
import os
from pathlib import Path

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from protocol import CS, cross_validated_aucs, load, rows_of, split, svm_auc
from sklearn.preprocessing import StandardScaler

from metafs_graph import InfFS

DATA = ("colon", "lymphoma", "leukemia", "DLBCL", "USPS", "madelon")
ALPHAS = tuple(np.linspace(0, 1, 11).round(1).tolist())
SHARES = (0.8, 0.2)


def work(folder, data, number):
    """Return the test AUC for each share of the features and each alpha, on one split."""
    X, y = load(folder, data)
    train, test = split(y, number, 2 / 3)
    scaler = StandardScaler().fit(X[train])
    Z, Z_test = scaler.transform(X[train]), scaler.transform(X[test])
    C = CS[int(np.argmax(cross_validated_aucs(Z, y[train], number)))]
    found = {}
    for alpha in ALPHAS:
        ranks = InfFS(alpha=alpha).fit(X[train]).ranking_
        for share in SHARES:
            kept = ranks <= share * X.shape[1]
            auc = svm_auc(Z[:, kept], y[train], Z_test[:, kept], y[test], C)
            found.setdefault(str(share), []).append(auc)
    return {"auc": found}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--out", type=Path, help="keep finished rows here, and go on from them")
    options = parser.parse_args()
    tasks = [
        {"data": data, "number": number}
        for data in options.data
        for number in range(options.splits)
    ]
    rows = list(rows_of(work, options.folder, tasks, options.out, 1))
    print(f"| kept | | {' | '.join(map(str, ALPHAS))} |\n|---|---|{'--:|' * len(ALPHAS)}")
    for share in map(str, SHARES):
        curves = []
        for data in options.data:
            mean = np.mean([row["auc"][share] for row in rows if row["data"] == data], axis=0)
            curves.append(mean / mean.max())
            print(f"| {float(share):.0%} | {data} | {' | '.join(f'{v:.3f}' for v in curves[-1])} |")
        mean, spread = np.mean(curves, axis=0), 2.5 * np.std(curves, axis=0)
        cells = (f"{m:.3f} ± {s:.3f}" for m, s in zip(mean, spread, strict=True))
        print(f"| {float(share):.0%} | mean | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
