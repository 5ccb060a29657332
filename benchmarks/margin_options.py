"""Relief's threshold and sample margins: what they keep, and how much larger the margins are.

    python benchmarks/margin_options.py [--seeds 20]

Relief: xor of the first 3 of 10 features and 1,000 points, as in `xor.py`, and 40 more features of
noise. Kept are the features above the threshold by Chebyshev's inequality, where at most a share
alpha of irrelevant features may be.

Margins: each row of three small tables by the nearest neighbour among all others, on standardised
columns. *Ratio* is sample to hypothesis margin where the rule is right; the second is a lower bound
of the first. *Below* counts rows that are wrong or whose margin is below gamma, which is what the
bound of the margin paper needs: with sample margins it is smaller.
"""

import argparse
import os
from time import process_time

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.preprocessing import scale

from metafs.bounds import margin_error
from metafs_margin.margin import Margin
from metafs_margin.relief import Relief

TABLES = {"iris": load_iris, "wine": load_wine, "breast cancer, 200 rows": load_breast_cancer}
GAMMA = 0.5


def xor(seed, n=1000, n_features=50):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, n_features))
    return X, (X[:, :3] > 0).sum(axis=1) % 2


def planted(seed, n=1000, n_features=50):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, n_features))
    y = rng.integers(0, 2, n)
    X[:, :3] = 0.5 * X[:, :3] + 0.5 * y[:, None]
    return X, y


def print_relief(seeds):
    print("| target | alpha | relevant of 3 | irrelevant of 47 | allowed |\n|---|--:|--:|--:|--:|")
    for name, make in {"xor": xor, "three shifted columns": planted}.items():
        for alpha in (0.01, 0.05, 0.5):
            kept = [Relief(threshold="auto", alpha=alpha).fit(*make(seed)) for seed in range(seeds)]
            support = np.array([each.scores_ > each.threshold_ for each in kept])
            print(
                f"| {name} | {alpha} | {support[:, :3].sum(axis=1).mean():.2f} "
                f"| {support[:, 3:].sum(axis=1).mean():.2f} | {47 * alpha:.1f} |"
            )


def print_margins():
    print(
        "\n| table | right | ratio: median | largest | below 0.5, hypothesis | sample | ms a row |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|")
    for name, load in TABLES.items():
        X, y = load(return_X_y=True)
        rows = np.random.default_rng(0).permutation(len(y))[:200]
        X, y = scale(X[rows]), y[rows]
        w = np.ones(X.shape[1])
        below = Margin().of_samples(X, y, w)
        start = process_time()
        margins = Margin().of_samples(X, y, w, kind="sample")
        seconds = process_time() - start
        right = below > 0
        ratio = margins[right] / below[right]
        print(
            f"| {name} | {right.mean():.0%} | {np.median(ratio):.2f} | {ratio.max():.1f} "
            f"| {margin_error(below, GAMMA):.0%} | {margin_error(margins, GAMMA):.0%} "
            f"| {1000 * seconds / len(y):.1f} |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    print_relief(parser.parse_args().seeds)
    print_margins()


if __name__ == "__main__":
    main()
