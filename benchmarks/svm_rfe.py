"""How fast SVM-RFE is, against scikit-learn's RFE with LinearSVC, one feature at a time.

    python benchmarks/svm_rfe.py

Ratios in one run, on one thread, the better of two rounds for each side. The peer solves the dual
while there are fewer samples than features and the primal afterwards (``dual="auto"``), the faster
of the two on all features of both tables. It may iterate until it converges, with the loosest
tolerance of those tried whose ranking agrees. Then how the time grows, with exponents fitted to
the logarithms over the sizes given, and what a prior saves.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from scipy.sparse import csr_array, random_array
from scipy.stats import spearmanr
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC
from timing import best_of, exponent

from metafs_svm import SVMRFE

TOLERANCES = (1e-4, 1e-6)
SAME = 0.999


def planted(m, n, seed=0):
    """Standard normal features, one in twenty of which decides the class, but for noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    w = rng.normal(size=n) * (rng.random(n) < 0.05)
    signal = X @ w
    return X, (signal + signal.std() * rng.normal(size=m) > 0).astype(int)


def peer_ranking(X, y, tol):
    svc = LinearSVC(dual="auto", tol=tol, max_iter=1_000_000, random_state=0)
    return RFE(svc, n_features_to_select=1, step=1).fit(X, y).ranking_


def compare(m, n):
    X, y = planted(m, n)
    ours, fitted = best_of(2, lambda: SVMRFE().fit(X, y))
    for tol in TOLERANCES:
        peer, ranking = best_of(2, lambda tol=tol: peer_ranking(X, y, tol))
        agreement = spearmanr(fitted.ranking_, ranking).statistic
        row = f"| {m}x{n} | {tol:.0e} | {ours:.3g} s | {peer:.3g} s | {peer / ours:.3g}x "
        print(row + f"| {agreement:.5f} |", flush=True)
        if agreement >= SAME:
            return
    raise AssertionError(f"{m}x{n}: no ranking of the peer agrees")


def growth(name, of, sizes, shape):
    seconds = []
    for size in sizes:
        X, y = planted(*shape(size))
        seconds.append(best_of(2, lambda X=X, y=y: SVMRFE().fit(X, y))[0])
    times = ", ".join(f"{s:.3g}" for s in seconds)
    fitted = exponent(sizes, seconds)
    print(f"| {name} | {of} | {', '.join(map(str, sizes))} | {times} | {fitted:.2f} |", flush=True)


def sparse_text(m=500, n=20_000):
    rng = np.random.default_rng(0)
    X = csr_array(random_array((m, n), density=0.005, rng=rng))
    return X, rng.integers(0, 2, m)


def with_prior(m, n):
    """How many machines it takes when the ten best features are expected, or ten others."""
    X, y = planted(m, n)
    cold = SVMRFE(10).fit(X, y)
    right = cold.get_support().astype(float)
    wrong = (cold.ranking_ > n - 10).astype(float)
    priors = (
        ("nothing, one at a time", 1, None),
        ("nothing, half at a time", 0.5, None),
        ("the ten best", 1, right),
        ("the ten worst", 1, wrong),
    )
    for name, step, prior in priors:
        rfe = SVMRFE(10, step=step)
        seconds, warm = best_of(2, lambda rfe=rfe, prior=prior: rfe.fit(X, y, prior=prior))
        shared = int((warm.get_support() & cold.get_support()).sum())
        row = f"| {m}x{n} | {name} | {warm.n_evaluations_} | {seconds:.3g} s | {shared} of 10 |"
        print(row, flush=True)


def main():
    print("| table | tol of the peer | metafs | RFE(LinearSVC) | ratio | rank correlation |")
    print("|---|---|---|---|---|---|")
    compare(62, 2000)
    compare(2000, 500)
    print("\n| shape | growth in | sizes | seconds | exponent |\n|---|---|---|---|---|")
    growth("wide, m = 60", "n", (1000, 2000, 4000, 8000), lambda n: (60, n))
    growth("wide, n = 2000", "m", (50, 100, 200, 400), lambda m: (m, 2000))
    growth("tall, m = 2000", "n", (100, 200, 400, 800), lambda n: (2000, n))
    growth("tall, n = 200", "m", (500, 1000, 2000, 4000), lambda m: (m, 200))
    print("\n| table | expected | SVMs trained | time | of the ten best without a prior |")
    print("|---|---|---|---|---|")
    with_prior(62, 2000)
    with_prior(2000, 500)
    X, y = sparse_text()
    seconds, _ = best_of(1, lambda: SVMRFE(step=0.1).fit(X, y))
    print(f"\nCSR 500x20000, 0.5 % filled, a tenth at a time: {seconds:.3g} s")


if __name__ == "__main__":
    main()
