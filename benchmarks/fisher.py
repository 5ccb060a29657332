"""How fast Fisher scores are: against scikit-learn's F test, the formula and skfeature.

    python benchmarks/fisher.py

Ratios in one run, on one thread. The score is the F statistic times (C - 1) / (N - C). skfeature
gives the order of the features only, and works on a matrix of all pairs of samples, twice: it is
measured once, on the first table.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))


import numpy as np
from scipy.sparse import csr_array, random_array
from skfeature.function.similarity_based.fisher_score import fisher_score
from sklearn.feature_selection import f_classif
from timing import best_of

from metafs_filters.fisher import fisher_scores


def by_class(X, y):
    """The formula as it stands in the books."""
    between, within = np.zeros((2, X.shape[1]))
    for c in np.unique(y):
        X_c = X[y == c]
        between += len(X_c) * (X_c.mean(axis=0) - X.mean(axis=0)) ** 2
        within += len(X_c) * X_c.var(axis=0)
    return between / within


def compare(name, X, y, dense):
    classes = len(np.unique(y))
    ours, scores = best_of(5, lambda: fisher_scores(X, y))
    f_test, f = best_of(5, lambda: f_classif(X, y)[0])
    formula, expected = best_of(3, lambda: by_class(dense, y))
    np.testing.assert_allclose(scores, expected, rtol=1e-8)
    np.testing.assert_allclose(scores, f * (classes - 1) / (len(y) - classes), rtol=1e-6)
    row = f"| {name} | {ours * 1e3:.3g} ms | {f_test * 1e3:.3g} ms, {f_test / ours:.2g}x "
    print(row + f"| {formula * 1e3:.3g} ms, {formula / ours:.2g}x |", flush=True)


def compare_with_skfeature(name, X, y):
    ours, scores = best_of(5, lambda: fisher_scores(X, y))
    peer, order = best_of(1, lambda: fisher_score(X, y, mode="index"))
    np.testing.assert_array_equal(np.argsort(-scores), order)
    print(f"\nskfeature, {name}: {peer:.3g} s, {peer / ours:.3g}x, same order of features")


def main():
    rng = np.random.default_rng(0)
    print("| table | metafs | f_classif | formula class by class |\n|---|---|---|---|")
    X = rng.normal(size=(10_000, 1000))
    y = rng.integers(0, 2, 10_000)
    compare("10000x1000 dense, 2 classes", X, y, X)
    compare("10000x1000 dense, 20 classes", X, rng.integers(0, 20, 10_000), X)
    sparse = csr_array(random_array((10_000, 1000), density=0.01, rng=rng))
    compare("10000x1000 CSR, 1 %, 2 classes", sparse, rng.integers(0, 2, 10_000), sparse.toarray())
    compare_with_skfeature("10000x1000 dense, 2 classes", X, y)


if __name__ == "__main__":
    main()
