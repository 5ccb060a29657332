"""How fast a step of Simba is, against one with all differences by broadcasting.

    python benchmarks/simba.py

Ratios in one run, on one thread. The weights after all steps must be the same. Restarts walk
side by side and share the reading of the table, so the time of a step depends on their number;
growth is fitted to the time of one step of five.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))


import numpy as np
from timing import best_of, exponent

from metafs_margin.nearest import Groups
from metafs_margin.simba import WeightedSearch, ascend
from metafs_margin.utility import Utility


def by_broadcasting(X, y, w, path):
    """Algorithm 2, step by step, as it is written down in numpy."""
    for i in path:
        d2 = (X - X[i]) ** 2 @ w**2
        d2[i] = np.inf
        hit = np.where(y == y[i], d2, np.inf).argmin()
        miss = np.where(y == y[i], np.inf, d2).argmin()
        to_hit, to_miss = (X[i] - X[hit]) ** 2, (X[i] - X[miss]) ** 2
        w = w + 0.5 * (to_miss / np.sqrt(d2[miss]) - to_hit / np.sqrt(d2[hit])) * w
    return w


def problem(m, n, n_walks, n_steps, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    return X, y, np.ones((n_walks, n)), rng.integers(0, m, (n_walks, n_steps))


def ours(X, y, w, paths):
    groups = Groups(y)
    search = WeightedSearch(X[groups.rows], groups)
    return best_of(3, lambda: ascend(search, w, groups.places[paths], Utility()))


def compare(m, n, n_walks, n_steps):
    X, y, w, paths = problem(m, n, n_walks, n_steps)
    seconds, found = ours(X, y, w, paths)
    theirs, expected = best_of(3, lambda: by_broadcasting(X, y, w[0], paths[0]))
    np.testing.assert_allclose(found[0], expected, rtol=1e-9)
    step, their_step = seconds / (n_steps * n_walks), theirs / n_steps
    print(
        f"| {m}x{n} | {n_walks} | {step * 1e3:.3g} ms | {their_step * 1e3:.3g} ms "
        f"| {their_step / step:.3g}x |",
        flush=True,
    )


def growth(name, sizes, shape):
    """Print the exponent of the time of one step in one of the two sizes."""
    each = []
    for size in sizes:
        seconds, _ = ours(*problem(*shape(size), 5, 6))
        each.append(seconds / 30)
    slope = exponent(sizes, each)
    times = ", ".join(f"{t * 1e3:.3g} ms at {size}" for t, size in zip(each, sizes, strict=True))
    print(f"| {name} | {slope:.2f} | {times} |", flush=True)


def main():
    print("| table | walks | a step | by broadcasting | ratio |\n|---|---|---|---|---|")
    for n_walks in (1, 5, 10):
        compare(10_000, 1000, n_walks, 10)
    compare(1000, 1000, 5, 50)
    compare(1000, 10, 5, 500)
    print("\n| in | exponent | one step |\n|---|---|---|")
    growth("samples, 1000 features", [2500, 5000, 10_000, 20_000], lambda m: (m, 1000))
    growth("features, 10000 samples", [250, 500, 1000, 2000], lambda n: (10_000, n))


if __name__ == "__main__":
    main()
