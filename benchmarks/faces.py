"""1-NN accuracy on faces against the number of pixels: figures 5 and 6 of the margin paper.

    python benchmarks/faces.py DATA_FOLDER [--plot faces.png]

R. Gilad-Bachrach, A. Navot, N. Tishby, "Margin Based Feature Selection - Theory and Algorithms",
ICML 2004, section 5.2: simba, with the best of 10 random orders of the training data, beats relief
and infogain where few pixels are chosen. The paper classifies men and women in 1456 images of 85x60
pixels, 1000 of them for training; warpAR10P has 130 images of the same collection, 60x40 pixels,
of 10 persons to be recognised: 20 splits with 9 images of each person for training and 4 for
testing.

The paper's starting points are random permutations of the training data, which may mean one pass;
here simba passes 20 times (--passes), which was settled after seeing what more passes do. Pixels
are grey values from 0 to 255 as in the file; simba's weights begin with ones while its steps grow
with the scale of the features, so that on pixels divided by 255 (--divide-by) one pass hardly
leaves relief's choice behind. Relief, infogain and 1-NN do not depend on the scale.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import argparse
from pathlib import Path

import numpy as np
from protocol import Method, load, rows_of, split
from sklearn.neighbors import KNeighborsClassifier

N_FEATURES = (5, 10, 20, 50, 100, 200, 500, 1000, 2400)
METHODS = ("simba", "relief", "infogain")
TRAIN_SHARE = 9 / 13


def work(folder, method, number, divisor, passes):
    """Return the accuracy of 1-NN at each number of pixels, on one split."""
    X, y = load(folder, "warpAR10P")
    X = X / divisor
    train, test = split(y, number, TRAIN_SHARE)
    settings = {"n_restarts": 10, "n_steps": passes * len(train)} if method == "simba" else {}
    (ranking,) = Method(method, scale="raw", tried=(settings,)).rankings(
        X[train], y[train], seed=number
    )
    accuracies = []
    for n_features in N_FEATURES:
        columns = ranking[:n_features]
        nearest = KNeighborsClassifier(1).fit(X[np.ix_(train, columns)], y[train])
        accuracies.append(nearest.score(X[np.ix_(test, columns)], y[test]))
    return {"accuracy": accuracies}


def curves(rows, n_splits):
    """Return for each method its accuracies in per cent, splits by numbers of pixels."""
    found = {name: np.empty((n_splits, len(N_FEATURES))) for name in METHODS}
    for row in rows:
        found[row["method"]][row["number"]] = row["accuracy"]
    return {name: 100 * accuracies for name, accuracies in found.items()}


def print_row(name, cells):
    print(f"| {name} | {' | '.join(cells)} |")


def print_curves(accuracies):
    print_row("pixels", map(str, N_FEATURES))
    print(f"|---|{'--:|' * len(N_FEATURES)}")
    for name, found in accuracies.items():
        print_row(f"{name}, accuracy %", [f"{mean:.1f}" for mean in found.mean(axis=0)])
    for other in ("relief", "infogain"):
        gain = accuracies["simba"] - accuracies[other]
        won, lost = (gain > 0).sum(axis=0), (gain < 0).sum(axis=0)
        cells = [f"{w}:{n}" for w, n in zip(won, lost, strict=True)]
        print_row(f"splits simba wins : loses against {other}", cells)


def plot(accuracies, path):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots()
    for name, found in accuracies.items():
        error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
        axes.errorbar(N_FEATURES, found.mean(axis=0), error, label=name, marker=".", capsize=2)
    axes.set(xscale="log", xlabel="pixels chosen", ylabel="accuracy of 1-NN, %")
    axes.legend()
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--passes", type=int, default=20, help="of simba over the training data")
    parser.add_argument("--divide-by", type=float, default=1.0, help="scale of the pixels")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--plot", type=Path, help="save figure 5 to this file")
    options = parser.parse_args()
    tasks = [
        {
            "method": method,
            "number": number,
            "divisor": options.divide_by,
            "passes": options.passes,
        }
        for method in METHODS
        for number in range(options.splits)
    ]
    rows = rows_of(work, options.folder, tasks, None, options.jobs)
    accuracies = curves(rows, options.splits)
    print_curves(accuracies)
    if options.plot:
        plot(accuracies, options.plot)


if __name__ == "__main__":
    main()
