"""IRIS and 16 mixtures of its four features: where does inffs rank the originals?

    python benchmarks/iris_mixtures.py

Section 4.1 and figure 1 of G. Roffo, S. Melzi, M. Cristani, "Infinite Feature Selection", ICCV,
2015: the mixtures are convex combinations of the features, or, in the periodic case, of the
sines of the features; 20 repeats with other coefficients. The paper has the originals in the
first four positions in the linear case, and very different orderings in the periodic one.
It names neither alpha nor how the coefficients were drawn, so both are varied: coefficients
from a Dirichlet distribution, 1 being even over all convex combinations and 10 nearer to the
mean, features as they are and standardised.
"""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from metafs.plugin.ranking import ranking
from metafs_graph import Affinity, inffs_scores

REPEATS = 20
ALPHAS = (0.0, 0.1, 0.2, 0.5, 0.8, 1.0)
CASES = {"linear": lambda X: X, "periodic": np.sin}


def ranks_of_originals(X, mixed, concentration, alpha):
    """(repeats, 4): the rank of each original among the 20 features; 1, 2, 3, 4 is the best."""
    found = []
    for repeat in range(REPEATS):
        rng = np.random.default_rng(repeat)
        coefficients = rng.dirichlet(np.full(4, concentration), 16)
        table = np.hstack([X, mixed(X) @ coefficients.T])
        found.append(ranking(inffs_scores(Affinity(table), alpha)[0])[:4])
    return np.array(found)


def main():
    iris = load_iris()
    print("Mean rank of the four originals among 20 (2.5 is the best there is, 10.5 is chance)")
    print("and the share of them in the first four positions.\n")
    print("| features | coefficients | case |", *(f"alpha {a} |" for a in ALPHAS))
    print("|---" * (3 + len(ALPHAS)) + "|")
    for features, X in (("as they are", iris.data), ("standardised", scale(iris.data))):
        for concentration in (1, 3, 10):
            for case, mixed in CASES.items():
                cells = []
                for alpha in ALPHAS:
                    ranks = ranks_of_originals(X, mixed, concentration, alpha)
                    cells.append(f"{ranks.mean():.1f}, {np.mean(ranks <= 4):.0%} |")
                print(f"| {features} | Dirichlet({concentration}) | {case} |", *cells)
    print("\nMean rank of each original at alpha 0.2, features as they are:\n")
    print("| coefficients | case |", *(f"{name} |" for name in iris.feature_names))
    print("|---" * 6 + "|")
    for concentration in (1, 10):
        for case, mixed in CASES.items():
            means = ranks_of_originals(iris.data, mixed, concentration, 0.2).mean(axis=0)
            cells = (f"{mean:.1f} |" for mean in means)
            print(f"| Dirichlet({concentration}) | {case} |", *cells)


if __name__ == "__main__":
    main()
