"""How the cost of every ranking and searching selector grows with samples and with features.

    python benchmarks/growth.py [NAME ...]

One thread. Each selector runs with its defaults on normal data with two classes that three
features decide, except that `ensemble-svm-rfe` has 5 bags and the SVM-RFE family drops a tenth at
a time: one at a time is one more power of the number of features, see svm_rfe.py. The exponent is
the slope of log time over log size; sizes are small enough for all, so fixed costs make exponents
smaller than they are in the long run.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import sys

import numpy as np
from timing import best_of, exponent

from metafs import Registry
from metafs.pipeline.fitting.selection import configured

SIZES = (500, 1000, 2000)
FIXED = 200
SETTINGS = {"random_state": 0, "step": 0.1, "n_estimators": 5}


def problem(m, n):
    X = np.random.default_rng(0).normal(size=(m, n))
    return X, (X[:, :3].sum(axis=1) > 0).astype(int)


def growth(selector, shapes):
    """Return the exponent, and the seconds at the largest size."""
    problems = [problem(*shape) for shape in shapes]
    seconds = [best_of(2, lambda X=X, y=y: selector.fit(X, y))[0] for X, y in problems]
    return exponent(SIZES, seconds), seconds[-1]


def main():
    selectors = Registry().selectors
    print(f"| selector | in samples (x{FIXED}) | in features ({FIXED}x) | {SIZES[-1]}x{FIXED} "
          f"| {FIXED}x{SIZES[-1]} |\n|---|--:|--:|--:|--:|")  # fmt: skip
    for name in sys.argv[1:] or sorted(set(selectors) - {"climb"}):
        selector = configured(selectors[name], SETTINGS)
        in_m, tall = growth(selector, [(m, FIXED) for m in SIZES])
        in_n, wide = growth(selector, [(FIXED, n) for n in SIZES])
        print(f"| {name} | {in_m:.2f} | {in_n:.2f} | {tall:.3g} s | {wide:.3g} s |", flush=True)


if __name__ == "__main__":
    main()
