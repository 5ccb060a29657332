"""How fast FSV is, against the linear programmes as the paper writes them, given to HiGHS whole.

    python benchmarks/fsv.py

Ratios in one run, on one thread, with the objective asserted equal; then how the cost grows with
samples m and features n.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, csr_array, eye_array
from timing import best_of, exponent

from metafs_svm.fsv import successive_planes

SPARSITY, ALPHA = 0.05, 5.0


def as_published(X, y):
    """Successive linearisation over (w, gamma, y, z, v)."""
    A, B = X[y > 0], X[y < 0]
    (m, n), k = A.shape, len(B)
    one = np.ones
    constraints = block_array(
        [
            [csr_array(-A), csr_array(one((m, 1))), -eye_array(m), None, None],
            [csr_array(B), csr_array(-one((k, 1))), None, -eye_array(k), None],
            [eye_array(n), None, None, None, -eye_array(n)],
            [-eye_array(n), None, None, None, -eye_array(n)],
        ],
        format="csc",
    )
    limits = np.concatenate([-one(m + k), np.zeros(2 * n)])
    bounds = [(None, None)] * (n + 1) + [(0, None)] * (m + k) + [(None, None)] * n
    errors = (1 - SPARSITY) * np.concatenate([one(m) / m, one(k) / k])
    v, objective, before = np.zeros(n), 2 * (1 - SPARSITY), np.inf
    while objective < before - 1e-7:
        costs = SPARSITY * ALPHA * np.exp(-ALPHA * v)
        programme = np.concatenate([np.zeros(n + 1), errors, costs])
        found = linprog(programme, constraints, limits, bounds=bounds, method="highs").x
        v = np.abs(found[:n])
        features = np.sum(1 - np.exp(-ALPHA * v))
        before, objective = objective, errors @ found[n + 1 : -n] + SPARSITY * features
    return objective


def ours(X, y):
    *_, (_, objective) = successive_planes(X, y, SPARSITY, ALPHA)
    return objective


def planted(m, n, seed=0):
    """Ten features are relevant, but do not determine the class."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = np.where(X[:, :10].sum(axis=1) + rng.normal(size=m) > 0, 1, -1)
    return X, y


def main():
    print("| table | metafs | as published | ratio |\n|---|--:|--:|--:|")
    for m, n in ((70, 500), (70, 1000), (500, 100), (1000, 100)):
        X, y = planted(m, n)
        fast, objective = best_of(3, lambda X=X, y=y: ours(X, y))
        slow, expected = best_of(1, lambda X=X, y=y: as_published(X, y))
        np.testing.assert_allclose(objective, expected, atol=1e-6)
        print(f"| {m}x{n} | {fast:.3g} s | {slow:.3g} s | {slow / fast:.2g} |", flush=True)

    sizes = (500, 1000, 2000, 4000)
    by_m = [best_of(2, lambda m=m: ours(*planted(m, 100)))[0] for m in sizes]
    by_n = [best_of(2, lambda n=n: ours(*planted(100, n)))[0] for n in sizes]
    print("\n| grows | " + " | ".join(map(str, sizes)) + " | exponent |\n|---|" + "--:|" * 5)
    for name, seconds in (("m, with n = 100", by_m), ("n, with m = 100", by_n)):
        cells = " | ".join(f"{each:.3g} s" for each in seconds)
        print(f"| {name} | {cells} | {exponent(sizes, seconds):.2f} |")


if __name__ == "__main__":
    main()
