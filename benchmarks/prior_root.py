"""The root of a prior on 24,000 weights: 60 equal blocks on a grid, against a dense one.

    python benchmarks/prior_root.py

The features are the monomials of Krupka and Tishby's table 2, the covariance is their equation 7
with sigma = 6. The peer forms the dense covariance and takes its root by scipy's symmetric
eigendecomposition, V sqrt(L) V^T, of up to 2,400 features; its time for 24,000 is extrapolated
from the largest with the third power, as eigendecompositions grow, since at that size it would
take an hour and 13 GB. Ours is timed whole: blocks and grid found from the meta-features, and the
roots. Times are CPU time of one thread, the best of several. Goal: 50,000 times.
"""

import os
import tracemalloc
from time import process_time

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from scipy.linalg import eigh
from timing import exponent

from metafs_metafeatures import GroupedGaussian, all_monomials
from metafs_metafeatures.gp_prior.root import prior_root

COVARIANCE = GroupedGaussian(6.0, groups=(0, 1, 2))
SIZES = (800, 1_200, 1_600, 2_400)


def best_of(times, work):
    """CPU time, which other work on the machine disturbs less than it does a clock on the wall."""
    seconds = []
    for _ in range(times):
        start = process_time()
        result = work()
        seconds.append(process_time() - start)
    return min(seconds), result


def dense_root(U):
    values, vectors = eigh(COVARIANCE(U, U))
    return (vectors * np.sqrt(values.clip(0))) @ vectors.T


def own_root(U):
    root = prior_root(COVARIANCE, U, len(U))
    for blocks in root.blocks:
        for factor in blocks.factors:
            factor.root  # noqa: B018  # made when first asked for
    return root


def main():
    _, U = all_monomials()
    seconds = []
    for n in SIZES:
        taken, R = best_of(3, lambda n=n: dense_root(U[:n]))
        seconds.append(taken)
        np.testing.assert_allclose(own_root(U[:n]).to_dense(), R, atol=1e-6)
    n = len(U)
    dense = seconds[-1] * (n / SIZES[-1]) ** 3
    own, root = best_of(20, lambda: own_root(U))
    tracemalloc.start()
    own_root(U)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    rows = np.random.default_rng(0).normal(size=(1_000, n))
    mapped, _ = best_of(3, lambda: root.times_root(rows))
    print("| features | dense | ours | ratio |\n|--:|--:|--:|--:|")
    for size, taken in zip(SIZES, seconds, strict=True):
        mine, _ = best_of(5, lambda size=size: own_root(U[:size]))
        print(f"| {size:,} | {taken:.3g} s | {mine * 1e3:.3g} ms | {taken / mine:,.0f} |")
    print(f"| {n:,} | {dense:,.0f} s (extrapolated) | {own * 1e3:.3g} ms | {dense / own:,.0f} |")
    print(f"\nThe dense one grew with n^{exponent(SIZES, seconds):.2f}.")
    print(f"Memory: {3 * 8 * n**2 / 2**30:.1f} GB for covariance, vectors and root; ", end="")
    print(f"ours {memory / 2**20:.1f} MB at most.")
    print(f"Mapping 1,000 rows by our root: {mapped:.2g} s.")


if __name__ == "__main__":
    main()
