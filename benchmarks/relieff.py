"""How fast ReliefF is and how little memory it takes, against its peers, and how its cost grows.

    python benchmarks/relieff.py

Ratios in one run, on one thread each; every figure of the first table comes from a process of its
own, and its memory is the peak above what the process held before the fit. It takes some five
minutes, all but a few seconds of them skrebate's.

skrebate has the same formula for numbers and two classes, and for more classes if these are of
equal size: else it weighs all classes the same, where Kononenko has their shares. On 0/1 data many
rows are equally distant, and of these skrebate takes any, metafs the earlier ones: there the ranks
are only similar. ITMO_FS takes the nearest rows before it brings features to one range, so its
ranks are similar at best.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import resource
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
from scipy.stats import spearmanr
from skrebate import ReliefF as Skrebate
from timing import best_of, exponent

from metafs_margin import ReliefF, SampleWeightedReliefF


def table(m, n, kind, classes=2):
    rng = np.random.default_rng(0)
    X, y = rng.random((m, n)), np.arange(m) % classes
    X[:, : n // 10] += 0.3 * y[:, None] * rng.random(n // 10)
    return (X > np.median(X, axis=0)).astype(float) if kind == "0/1" else X, y


def ours(X, y, k=10):
    return ReliefF(n_neighbors=k).fit(X, y).scores_


def theirs(X, y, k=10):
    return Skrebate(n_neighbors=k, n_jobs=1).fit(X, y).feature_importances_


def measured(work, times, m, n, kind):
    X, y = table(m, n, kind)
    work(*table(50, 5, kind))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, scores = best_of(times, lambda: work(X, y))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return seconds, (peak - before) / 2**10, scores


def alone(*task):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(measured, *task).result()


def compare(m, n, kind):
    seconds, memory, scores = alone(ours, 3, m, n, kind)
    seconds_peer, memory_peer, scores_peer = alone(theirs, 1, m, n, kind)
    if kind == "0/1":
        agreement = f"rank correlation {spearmanr(scores, scores_peer).statistic:.3f}"
    else:
        np.testing.assert_allclose(scores, scores_peer, atol=1e-12)
        np.testing.assert_array_equal(np.argsort(-scores), np.argsort(-scores_peer))
        agreement = "same ranks"
    faster, smaller = seconds_peer / seconds, memory_peer / max(memory, 1)
    row = f"| {m}x{n}, {kind} | {seconds:.3g} s | {seconds_peer:.3g} s, {faster:.3g}x "
    row += f"| {memory:.3g} MB | {memory_peer:.4g} MB, {smaller:.3g}x | {agreement} |"
    print(row, flush=True)


def check_more_classes():
    """With as many samples in every class the scores are the same too."""
    X, y = table(300, 40, "numbers", classes=3)
    np.testing.assert_allclose(ours(X, y), theirs(X, y), atol=1e-12)


def compare_with_itmo(m, n):
    from ITMO_FS.filters.univariate import reliefF_measure  # warns of what it lacks when imported

    X, y = table(m, n, "numbers")
    seconds, scores = best_of(3, lambda: ours(X, y))
    peer, scores_peer = best_of(1, lambda: reliefF_measure(X, y, 10))
    similar = spearmanr(scores, scores_peer).statistic
    print(f"\nITMO_FS {m}x{n}: {peer:.3g} s, {peer / seconds:.3g}x, rank correlation {similar:.3f}")


def growth(name, sizes, shape, work):
    seconds = [best_of(3, lambda X=X, y=y: work(X, y))[0] for X, y in map(shape, sizes)]
    slope = exponent(sizes, seconds)
    times = ", ".join(f"{s:.3g} s" for s in seconds)
    print(f"| {name} | {', '.join(map(str, sizes))} | {times} | {slope:.2f} |", flush=True)


def main():
    check_more_classes()
    print("| table | metafs | skrebate | memory of metafs | of skrebate | agreement |")
    print("|---|---|---|---|---|---|")
    for m, n in ((1000, 1000), (10_000, 100)):
        for kind in ("numbers", "0/1"):
            compare(m, n, kind)

    compare_with_itmo(500, 100)

    print("\n| growth | sizes | seconds | exponent |\n|---|---|---|---|")
    rows, columns = (1000, 2000, 4000, 8000), (250, 500, 1000, 2000)
    for kind in ("numbers", "0/1"):
        growth(f"m, n = 100, {kind}", rows, lambda m, kind=kind: table(m, 100, kind), ours)
        growth(f"n, m = 1000, {kind}", columns, lambda n, kind=kind: table(1000, n, kind), ours)

    X, y = table(1000, 1000, "numbers")
    plain, _ = best_of(3, lambda: ours(X, y))
    weighted, _ = best_of(3, lambda: SampleWeightedReliefF().fit(X, y))
    print(f"\nsw-relieff 1000x1000: {weighted:.3g} s, {weighted / plain:.3g} times relieff")


if __name__ == "__main__":
    main()
