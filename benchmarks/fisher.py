"""How fast Fisher scores are, against scikit-learn's F test and the formula class by class.

    python benchmarks/fisher.py

Ratios in one run, on one thread. The score is the F statistic times (C - 1) / (N - C).
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))


import numpy as np
from scipy.sparse import csr_array, random_array
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


def main():
    rng = np.random.default_rng(0)
    print("| table | metafs | f_classif | formula class by class |\n|---|---|---|---|")
    X = rng.normal(size=(10_000, 1000))
    compare("10000x1000 dense, 2 classes", X, rng.integers(0, 2, 10_000), X)
    compare("10000x1000 dense, 20 classes", X, rng.integers(0, 20, 10_000), X)
    sparse = csr_array(random_array((10_000, 1000), density=0.01, rng=rng))
    compare("10000x1000 CSR, 1 %, 2 classes", sparse, rng.integers(0, 2, 10_000), sparse.toarray())


if __name__ == "__main__":
    main()
