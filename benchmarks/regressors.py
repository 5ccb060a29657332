"""Regressors from meta-features to quality: the cost and the benefit of weights and likelihoods.

    python benchmarks/regressors.py

Three tables, one thread: the time of one gradient against its peer, with equal results; the
correlation of predicted and true quality for planted data with three relevant meta-features of 20,
at growing noise, and in brackets the root mean square of errors in units of the standard deviation
that the regressor gives (1 is right); the time of fitting, and of predicting as many features.
"""

import os

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from timing import best_of

from metafs import Registry
from metafs.stats.quality_map import correlation
from metafs.stats.regression import knows_how_sure
from metafs_regressors.gp import log_likelihood
from metafs_regressors.weighted_knn import gradient

N_COLUMNS = 20


def planted(n_rows, noise, seed=0):
    """Return meta-features, quality with noise, and quality without."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(n_rows, N_COLUMNS))
    true = np.sin(2 * U[:, 0]) + U[:, 1] * U[:, 2]
    return U, true + noise * rng.normal(size=n_rows), true


def broadcast_gradient(X, y, w, beta, rows, k):
    """The gradient of weighted-knn by sorting all differences, one row at a time."""
    total = np.zeros_like(w)
    for i in rows:
        apart = (X - X[i]) ** 2
        d = (apart * w**2).sum(axis=1)
        d[i] = np.inf
        near = np.argsort(d)[:k]
        p = np.exp(-(d[near] - d[near[0]]) / beta)
        p /= p.sum()
        f = p @ y[near]
        total -= 2 / beta * w * (y[i] - f) * ((p * (y[near] - f)) @ apart[near])
    return total


def print_gradients():
    print("| gradient | peer | ratio |\n|---|---|--:|")
    U, q, _ = planted(300, 1.0)
    theta = np.log(np.r_[1.0, np.full(N_COLUMNS, 4.0), 0.5])
    kernel = ConstantKernel(1.0) * RBF(np.full(N_COLUMNS, 4.0)) + WhiteKernel(0.5)
    peer = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(U, q)
    ours, found = best_of(5, lambda: log_likelihood(theta, U, q))
    theirs, expected = best_of(
        5, lambda: peer.log_marginal_likelihood(peer.kernel_.theta, eval_gradient=True)
    )
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-6, atol=1e-8)
    print(f"| gp, likelihood of 300 x 20 | scikit-learn | {theirs / ours:.1f} |")
    for n_rows in (500, 5000):
        U, q, _ = planted(n_rows, 1.0)
        arguments = U, q, np.ones(N_COLUMNS), 20.0, np.arange(50), 20
        ours, found = best_of(5, lambda arguments=arguments: gradient(*arguments))
        theirs, expected = best_of(3, lambda arguments=arguments: broadcast_gradient(*arguments))
        np.testing.assert_allclose(found, expected, rtol=1e-8)
        print(f"| weighted-knn, 50 of {n_rows} x 20 | broadcasting | {theirs / ours:.1f} |")


def print_predictions(regressors, n_rows=500):
    noises = (0.1, 1.0, 2.0)
    print(f"\n| {n_rows} features, noise | {' | '.join(map(str, noises))} |")
    print("|---|" + "--:|" * len(noises))
    for name, regressor in regressors.items():
        cells = []
        for noise in noises:
            U, q, true = planted(2 * n_rows, noise)
            fitted = clone(regressor).fit(U[:n_rows], q[:n_rows])
            cell = f"{correlation(fitted.predict(U[n_rows:]), true[n_rows:]):.3f}"
            if knows_how_sure(regressor):
                prediction, std = fitted.predict(U[n_rows:], return_std=True)
                ratio = np.sqrt(np.mean(((q[n_rows:] - prediction) / std) ** 2))
                cell += f" ({ratio:.2f})"
            cells.append(cell)
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def print_times(regressors):
    sizes = (500, 5000, 100_000)
    print(f"\n| seconds to fit, to predict as many | {' | '.join(map(str, sizes))} |")
    print("|---|" + "--:|" * len(sizes))
    for name, regressor in regressors.items():
        cells = []
        for n_rows in sizes:
            U, q, _ = planted(n_rows, 1.0)
            unfitted = clone(regressor)
            fit, fitted = best_of(1, lambda U=U, q=q, unfitted=unfitted: unfitted.fit(U, q))
            predict, _ = best_of(1, lambda U=U, fitted=fitted: fitted.predict(U[:5000]))
            cells.append(f"{fit:.2g}, {predict * max(1, n_rows / 5000):.2g}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main():
    regressors = Registry().regressors
    print_gradients()
    print_predictions(regressors)
    print_times(regressors)


if __name__ == "__main__":
    main()
