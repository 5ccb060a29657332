"""Table 2 of the Inf-FS paper: seconds on 10,000 samples of 20 classes with 1,000 features.

    python benchmarks/selector_times.py [--samples 10000] [--features 1000] [--methods ...]
                                        [--seconds 300]

G. Roffo, S. Melzi, M. Cristani, "Infinite Feature Selection", ICCV 2015, section 4.3: features are
uniform from 0 to 1,000, the target says nothing. The paper ran MATLAB on an i7-4770 at 3.4 GHz.
Here each method runs in a process of its own with one thread; seconds are those of the processor.
A method that takes longer than --seconds is stopped.
"""

import argparse
import os
import subprocess
import sys
from time import process_time

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from sklearn.base import clone

from metafs import Registry

PAPER = {
    "fisher": 0.12,
    "inffs": 4.05,
    "infogain": 8.61,
    "relieff": 656.9,
    "fsv": 1414.6,
    "sw-relieff": None,
    "svm-rfe": None,
    "sw-svm-rfe": None,
    "ensemble-svm-rfe": None,
}
N_CLASSES = 20


def seconds_of(method, n_samples, n_features):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 1000, size=(n_samples, n_features))
    y = rng.integers(0, N_CLASSES, n_samples)
    selector = clone(Registry().selectors[method])
    start = process_time()
    selector.fit(X, y)
    return process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--features", type=int, default=1_000)
    parser.add_argument("--methods", nargs="+", choices=PAPER, default=list(PAPER))
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        print(seconds_of(options.alone, options.samples, options.features))
        return
    print("| method | seconds | paper |\n|---|--:|--:|", flush=True)
    for method in options.methods:
        size = ["--samples", str(options.samples), "--features", str(options.features)]
        command = [sys.executable, __file__, "--alone", method, *size]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=True, timeout=options.seconds
            )
            taken = f"{float(done.stdout):.2f}"
        except subprocess.TimeoutExpired:
            taken = f"more than {options.seconds:g} by the clock"
        print(f"| {method} | {taken} | {PAPER[method] or 'not given'} |", flush=True)


if __name__ == "__main__":
    main()
