import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.preprocessing import StandardScaler

import metafs_regressors.gp
from metafs_regressors import GaussianProcess
from metafs_regressors.gp import log_likelihood, most_likely

from .problems import planted


def peer_kernel(theta, n):
    rbf = RBF(np.exp(theta[1 : n + 1]))
    return ConstantKernel(np.exp(theta[0])) * rbf + WhiteKernel(np.exp(theta[-1]))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31), arrays(np.float64, (5,), elements=st.floats(-1, 1)))
def test_the_likelihood_is_scikit_learns(seed, theta):
    X, y = planted(12, n=3, seed=seed)
    peer = GaussianProcessRegressor(peer_kernel(theta, 3), alpha=0.0, optimizer=None).fit(X, y)
    value, slope = peer.log_marginal_likelihood(peer.kernel_.theta, eval_gradient=True)
    found = log_likelihood(theta, X, y)
    np.testing.assert_allclose(found[0], value, rtol=1e-8)
    np.testing.assert_allclose(found[1], slope, rtol=1e-6, atol=1e-8)


def test_predictions_are_scikit_learns():
    X, y = planted(60)
    ours = GaussianProcess(random_state=0).fit(X, y)
    theta = np.log([ours.amplitude_, *ours.lengths_, ours.noise_])
    scaler = StandardScaler().fit(X)
    peer = GaussianProcessRegressor(
        peer_kernel(theta, 4), alpha=0.0, optimizer=None, normalize_y=True
    ).fit(scaler.transform(X), y)
    new, _ = planted(30, seed=1)
    expected, std = peer.predict(scaler.transform(new), return_std=True)
    found = ours.predict(new, return_std=True)
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    np.testing.assert_allclose(found[1], std, rtol=1e-6)


def test_the_most_likely_is_a_maximum():
    X, y = planted(60, n=2)
    q = (y - y.mean()) / y.std()
    amplitude, lengths, noise = most_likely(X, q)
    best = np.log([amplitude, *lengths, noise])
    value, slope = log_likelihood(best, X, q)
    assert np.abs(slope).max() < 0.05
    rng = np.random.default_rng(0)
    assert all(log_likelihood(best + rng.normal(0, 0.2, 4), X, q)[0] < value for _ in range(20))


def test_columns_that_tell_nothing_are_long():
    X, y = planted(150)
    lengths = GaussianProcess(random_state=0).fit(X, y).lengths_
    assert lengths[:2].max() < lengths[2:].min()


def test_many_rows_are_quick_and_in_parts(monkeypatch):
    monkeypatch.setattr(metafs_regressors.gp, "_ROWS", 1000)
    X, y = planted(20_000)
    map = GaussianProcess(max_rows=100, max_tuning_rows=50, random_state=0).fit(X, y)
    assert len(map.rows_) == 100
    assert np.corrcoef(map.predict(X), y)[0, 1] > 0.9
    np.testing.assert_allclose(map.predict(X)[1500:1510], map.predict(X[1500:1510]))
