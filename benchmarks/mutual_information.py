"""How fast sets of features are evaluated, against `np.unique` on every set; and the memory.

    python benchmarks/mutual_information.py

Each ratio compares two ways of doing the same work in the same run, on one thread. Where the
peer would take minutes it is timed on a sample of the sets and scaled up, and the table says so.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import resource
import subprocess
import sys
from time import perf_counter

import numpy as np
from scipy.sparse import csr_array, random_array
from sklearn.datasets import load_digits
from timing import best_of

from metafs.stats.confidence import Confidence
from metafs.stats.discretise import discretise, discretise_target
from metafs.stats.information import entropy
from metafs_climb import Climb, MIConfidence


class UniqueEvaluator:
    """The peer: the same measure, each set counted by `np.unique` on its columns."""

    def __init__(self, X, y):
        self.codes = np.asfortranarray(discretise(X).matrix.toarray())
        self.y = discretise_target(y)
        self.n_classes = int(self.y.max()) + 1
        self.of_y = entropy(np.bincount(self.y))

    def of_set(self, features):
        if not len(features):
            return 0.0
        chosen = self.codes[:, features]
        groups = np.unique(chosen, axis=0, return_inverse=True)[1].ravel()
        both = np.bincount(groups * self.n_classes + self.y)
        mi = max(0.0, self.of_y + entropy(np.bincount(groups)) - entropy(both))
        return float(Confidence().of(mi, len(features), len(self.y)))

    def of_sets(self, base, edits):
        return np.array([self.of_set(np.setxor1d(base, edit)) for edit in edits])


class UniqueMeasure:
    # The scores of single features are no part of the search: both climbs get them alike.
    __call__ = staticmethod(MIConfidence())

    def bind(self, X, y, *, categories=None):
        return UniqueEvaluator(X, y)

    def of_set(self, X, y, features):
        return self.bind(X, y).of_set(features)


def problem(n_samples, n_features, density, seed=0):
    """Random words, and a target that fifteen of them vote on."""
    rng = np.random.default_rng(seed)
    X = random_array((n_samples, n_features), density=density, rng=rng, format="csr")
    X.data[:] = 1.0
    votes = X[:, rng.permutation(n_features)[:15]] @ rng.choice([-1.0, 1.0], 15)
    return X, (votes + rng.normal(0, 0.3, n_samples) > 0.1).astype(int)


def single_additions(n_samples, n_features, sample):
    X, y = problem(n_samples, n_features, 0.01)
    base = np.arange(5)
    edits = np.arange(5, n_features)[:, None]
    evaluator, peer = MIConfidence().bind(X, y), UniqueEvaluator(X, y)
    fast, found = best_of(20, lambda: evaluator.of_sets(base, edits))
    slow, expected = best_of(3, lambda: peer.of_sets(base, edits[:sample]))
    assert np.abs(found[:sample] - expected).max() < 1e-12
    slow *= len(edits) / sample
    what = f"all {len(edits)} single additions to 5 features, {n_samples}x{n_features}, 1 %"
    note = "" if sample == len(edits) else f" (from {sample} sets)"
    print(
        f"| {what} | {slow:.3g} s{note} | {fast * 1e3:.3g} ms | {slow / fast:,.0f}x |", flush=True
    )


def whole_climb(name, X, y):
    settings = {"max_evaluations": 10_000, "random_state": 0}
    fast, ours = best_of(3, lambda: Climb(**settings).fit(X, y))
    slow, peers = best_of(1, lambda: Climb(UniqueMeasure(), **settings).fit(X, y))
    assert np.array_equal(ours.get_support(), peers.get_support())
    assert ours.n_evaluations_ == peers.n_evaluations_
    assert abs(ours.fitness_ - peers.fitness_) < 1e-12
    what = f"climb on {name}: {ours.n_evaluations_} evaluations of at most 10000"
    same = f"same {ours.get_support().sum()} features and fitness"
    row = f"| {what}, {same} | {slow:.3g} s | {fast * 1e3:.3g} ms | {slow / fast:,.0f}x |"
    print(row, flush=True)


def memory_of_a_large_climb():
    """Fit a 20,000 x 20,000 problem and print seconds, size of X and the peak, in MB."""
    X, y = problem(20_000, 20_000, 0.005)
    size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6
    start = perf_counter()
    Climb(random_state=0).fit(csr_array(X), y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"{perf_counter() - start:.3g} {size:.0f} {peak:.0f}")


def main():
    print("| work | np.unique on each set | metafs | ratio |\n|---|---|---|---|")
    single_additions(300, 5000, sample=4995)
    single_additions(20_000, 2000, sample=40)
    whole_climb("300x5000, 1 %", *problem(300, 5000, 0.01))
    whole_climb("2000x1000, 1 %", *problem(2000, 1000, 0.01))
    X, y = load_digits(return_X_y=True)
    pair = np.isin(y, [3, 8])
    whole_climb("digits 3 and 8, dense", X[pair], y[pair])
    command = [sys.executable, __file__, "--memory"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    print("\n| climb of 1000 evaluations | seconds | X itself | peak of the process |")
    print("|---|---|---|---|")
    print(f"| 20000x20000 CSR, 0.5 % | {output[0]} s | {output[1]} MB | {output[2]} MB |")


if __name__ == "__main__":
    memory_of_a_large_climb() if sys.argv[1:] == ["--memory"] else main()
