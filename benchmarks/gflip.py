"""How fast G-flip is, against computing every distance again by BLAS for each set.

    python benchmarks/gflip.py

Ratios in one run, on one thread; both searches consider the same features in the same order, and
must end in the same set after the same number of evaluations. Growth is fitted to the time of
one evaluation, which is less than all distances anew as soon as few samples are in doubt.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))


import numpy as np
from timing import best_of, exponent

from metafs_margin import GFlip


def gflip_by_blas(X, y, seed):
    """Algorithm 1 with all distances from one matrix product for each set."""
    rng = np.random.default_rng(np.random.RandomState(seed).randint(2**31 - 1))
    same = y[:, None] == y
    no_hit = np.where(same & ~np.eye(len(y), dtype=bool), 0.0, np.inf)
    no_miss = np.where(same, np.inf, 0.0)

    def e(F):
        A = X[:, F]
        norms = np.einsum("ij,ij->i", A, A)
        D2 = A @ A.T
        D2 *= -2
        D2 += norms
        D2 += norms[:, None]
        hit = (D2 + no_hit).min(axis=1)
        miss = (D2 + no_miss).min(axis=1)
        return 0.5 * (np.sqrt(miss.clip(0)) - np.sqrt(hit.clip(0))).sum()

    F, e_F, n_evaluations, changed = np.zeros(0, dtype=int), 0.0, 0, True
    while changed:
        changed = False
        for feature in rng.permutation(X.shape[1]):
            flipped = np.setxor1d(F, [feature])
            e_flipped = e(flipped) if len(flipped) else 0.0
            n_evaluations += 1
            if e_flipped - e_F > 1e-9 * max(abs(e_flipped), abs(e_F)):
                F, e_F, changed = flipped, e_flipped, True
    return F, e_F, n_evaluations


def planted(m, n, seed=0):
    """Three informative features, seven mixtures of them, and noise for the rest."""
    rng = np.random.default_rng(seed)
    informative = rng.choice([-1.5, 1.5], (m, 3)) + rng.normal(size=(m, 3))
    y = (informative.prod(axis=1) > 0).astype(int)
    mixtures = informative @ rng.normal(size=(3, 7)) / np.sqrt(3)
    X = np.hstack([informative, mixtures, rng.normal(size=(m, n - 10))])
    return X / X.std(axis=0), y


def compare(m, n):
    X, y = planted(m, n)
    ours, fitted = best_of(1, lambda: GFlip(random_state=0).fit(X, y))
    theirs, (F, e_F, n_evaluations) = best_of(1, lambda: gflip_by_blas(X, y, 0))
    np.testing.assert_array_equal(np.flatnonzero(fitted.support_), F)
    np.testing.assert_allclose(fitted.fitness_, e_F, rtol=1e-6)
    assert fitted.n_evaluations_ == n_evaluations
    print(
        f"| {m}x{n} | {fitted.n_passes_} | {n_evaluations} | {len(F)} | {ours:.3g} s "
        f"| {theirs:.3g} s | {theirs / ours:.3g}x |",
        flush=True,
    )


def growth(name, sizes, shape):
    """Print the exponent of the time of one evaluation in one of the two sizes."""
    each = []
    for size in sizes:
        X, y = planted(*shape(size))
        seconds, fitted = best_of(1, lambda X=X, y=y: GFlip(random_state=0).fit(X, y))
        each.append(seconds / fitted.n_evaluations_)
    slope = exponent(sizes, each)
    times = ", ".join(f"{t * 1e3:.3g} ms at {size}" for t, size in zip(each, sizes, strict=True))
    print(f"| {name} | {slope:.2f} | {times} |", flush=True)


def main():
    print("| table | passes | evaluations | selected | metafs | BLAS each time | ratio |")
    print("|---|---|---|---|---|---|---|")
    for m, n in ((500, 200), (1000, 200), (2000, 200)):
        compare(m, n)
    print("\n| in | exponent | one evaluation |\n|---|---|---|")
    growth("samples, 100 features", [500, 1000, 2000, 4000], lambda m: (m, 100))
    growth("features, 1000 samples", [50, 100, 200, 400], lambda n: (1000, n))


if __name__ == "__main__":
    main()
