"""How fast infinite feature selection is, against PyIFS and the inverse of the textbook.

    python benchmarks/inffs.py

Ratios in one run, on one thread. PyIFS does not compute procedure 1: it mixes the *signed* rank
correlation, not one minus its size, with the spread, which it shifts to begin at zero. For
the comparison our parts are put together in the same way, and the scores must be equal to 1e-6;
it works on the same full matrix, although signed correlations would allow to do without. The
textbook is procedure 1, and so are our other figures.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import math
import resource
import subprocess
import sys

import numpy as np
import PyIFS
import scipy.stats
from timing import best_of, exponent

from metafs_graph import Affinity, inffs_scores
from metafs_graph.correlations import Correlations
from metafs_graph.paths import path_energies, times_larger
from metafs_graph.ranks import ranks_of

ALPHA = 0.2


class SignedCorrelations(Correlations):
    def _strength(self, tile):
        return tile


def table(m, n, seed=0):
    """Features of different spread, half of them made of the same five."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(m, 5)) @ rng.normal(size=(5, n))
    return rng.normal(size=(m, n)) * rng.uniform(0.1, 2, n) + shared * rng.integers(0, 2, n)


def pyifs(X):
    module = sys.modules["PyIFS.InfFS"]
    module.math, module.stats = math, scipy.stats  # it uses both and imports neither
    return PyIFS.InfFS().infFS(X, None, 1 - ALPHA, False, False)[1].real


def as_pyifs(X):
    ranks = ranks_of(X)
    low, high = ranks.spread.min(), ranks.spread.max()
    larger = times_larger((ranks.spread - low) / (high - low))
    correlations = SignedCorrelations(ranks.unit)

    def times(v):
        return ALPHA * larger(v) + (1 - ALPHA) * (correlations @ v)

    return path_energies(times, np.ones(X.shape[1])).energies - 1


def textbook(X):
    sigma = X.std(axis=0) / X.std(axis=0).max()
    c = 1 - abs(scipy.stats.spearmanr(X).statistic)
    A = ALPHA * np.maximum.outer(sigma, sigma) + (1 - ALPHA) * c
    identity = np.eye(len(A))
    r = 0.9 / abs(np.linalg.eigvalsh(A)).max()
    return (np.linalg.inv(identity - r * A) - identity).sum(axis=1)


def ours(X):
    return inffs_scores(Affinity(X), ALPHA)[0]


def compare(m, n, times):
    X = table(m, n)
    alike, scores_alike = best_of(times, lambda: as_pyifs(X))
    peer, expected = best_of(1, lambda: pyifs(X))
    np.testing.assert_allclose(scores_alike, expected, rtol=1e-6)
    own, scores = best_of(times, lambda: ours(X))
    book, expected = best_of(2, lambda: textbook(X))
    np.testing.assert_allclose(scores, expected, rtol=1e-8)
    print(
        f"| {m}x{n} | {alike * 1e3:.3g} ms | {peer:.3g} s, {peer / alike:.3g}x "
        f"| {own * 1e3:.3g} ms | {book:.3g} s, {book / own:.3g}x |",
        flush=True,
    )


def seconds(m, n):
    X = table(m, n)
    return best_of(3, lambda: ours(X))[0]


def growth():
    m_sizes, n_sizes = (2_000, 4_000, 8_000, 16_000), (1_000, 2_000, 4_000, 8_000)
    in_m = exponent(m_sizes, [seconds(m, 500) for m in m_sizes])
    in_n = exponent(n_sizes, [seconds(60, n) for n in n_sizes])
    print(f"\nTime grows with m^{in_m:.2f} (m to 16,000, n = 500) ", end="")
    print(f"and with n^{in_n:.2f} (n to 8,000, m = 60).")


def wide(m, n):
    """Run in a process of its own, for its peak memory."""
    X = table(m, n)
    taken = best_of(1, lambda: ours(X))[0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"| {m}x{n} | {taken:.3g} s | {peak:.2f} GB |", flush=True)


def main():
    if sys.argv[1:]:
        wide(*map(int, sys.argv[1:]))
        return
    print("| table | metafs as PyIFS | PyIFS | metafs | textbook inverse |\n|---|---|---|---|---|")
    compare(100, 2000, 7)
    compare(10_000, 1000, 3)
    print("\n| table | metafs | peak memory of the process |\n|---|---|---|", flush=True)
    for n in (20_000, 30_000):
        subprocess.run([sys.executable, __file__, "60", str(n)], check=True)
    growth()


if __name__ == "__main__":
    main()
