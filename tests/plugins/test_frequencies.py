"""The frequency-domain reduction against its sums, and what it keeps of band-limited weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from metafs.bounds import smooth_mapping_dimension
from metafs.errors import UsageError
from metafs_metafeatures.gp_prior.frequencies import FrequencyReduction, frequencies


@parametrize_with_checks([FrequencyReduction()])
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


def grid(n=6):
    y, x = np.mgrid[:n, :n]
    return np.column_stack([x.ravel(), y.ravel()]).astype(float)


def test_columns_are_the_sums_of_the_formula():
    rng = np.random.default_rng(0)
    X, U = rng.normal(size=(4, 36)), grid()
    low = FrequencyReduction(0.2, period=[10.0, 12.0]).fit(X, meta_features=U)
    found = low.transform(X)
    n = len(low.frequencies_)
    assert found.shape[1] == 2 * n - 1
    for i, f in enumerate(low.frequencies_):
        angles = [2 * np.pi * (f[0] * u[0] + f[1] * u[1]) for u in U]
        np.testing.assert_allclose(found[:, i], X @ np.cos(angles), atol=1e-9)
        if i:
            np.testing.assert_allclose(found[:, n - 1 + i], X @ np.sin(angles), atol=1e-9)
    np.testing.assert_allclose(low.transform(csr_array(X)), found)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 0.3), min_size=1, max_size=3), st.floats(4, 30))
def test_there_are_as_many_columns_as_theorem_2_allows(bandwidths, period):
    k = len(bandwidths)
    X, U = np.ones((2, 20)), np.random.default_rng(0).uniform(0, period / 2, (20, k))
    low = FrequencyReduction(bandwidths, period=period).fit(X, meta_features=U)
    whole = [np.floor(b * period + 1e-9) / period for b in bandwidths]
    expected = smooth_mapping_dimension(whole, [period] * k)
    assert low.basis_.shape == (20, pytest.approx(expected))
    opposite = {tuple(f) for f in (-low.frequencies_).tolist() if any(f)}
    assert not opposite & {tuple(f) for f in low.frequencies_.tolist()}


def test_band_limited_weights_are_kept_exactly():
    rng = np.random.default_rng(1)
    position = np.arange(40.0)[:, None]
    low = FrequencyReduction(0.05, period=80.0).fit(np.ones((1, 40)), meta_features=position)
    coef = rng.normal(size=low.basis_.shape[1])
    X = rng.normal(size=(7, 40))
    np.testing.assert_allclose(X @ low.weights(coef), low.transform(X) @ coef)
    w = np.cos(2 * np.pi * 2 / 80 * position[:, 0]) - 0.5  # is one of them
    back, *_ = np.linalg.lstsq(low.basis_, w, rcond=None)
    np.testing.assert_allclose(low.weights(back), w, atol=1e-9)


def test_smooth_weights_are_learnt_from_fewer_samples():
    rng = np.random.default_rng(2)
    position = np.arange(200.0)
    w = np.sin(position / 25)
    X, X_new = rng.normal(size=(60, 200)), rng.normal(size=(500, 200))
    y, y_new = X @ w > 0, X_new @ w > 0
    low = FrequencyReduction(0.02).fit(X, meta_features=position)
    smooth = LogisticRegression().fit(low.transform(X), y).score(low.transform(X_new), y_new)
    assert smooth > LogisticRegression().fit(X, y).score(X_new, y_new) + 0.05


def test_permuting_features_and_unknown_meta_features():
    rng = np.random.default_rng(3)
    X, U, order = rng.normal(size=(5, 36)), grid(), rng.permutation(36)
    there = FrequencyReduction(0.2).fit_transform(X, meta_features=U)
    again = FrequencyReduction(0.2).fit_transform(X[:, order], meta_features=U[order])
    np.testing.assert_allclose(again, there, atol=1e-9)
    U[3, 0] = np.nan
    assert np.isfinite(FrequencyReduction(0.2).fit_transform(X, meta_features=U)).all()


def test_wrong_bandwidths_are_a_sentence():
    X = np.ones((2, 36))
    for wrong in ({"bandwidth": -1.0}, {"bandwidth": [0.1] * 3}, {"period": 0.0}):
        with pytest.raises(UsageError):
            FrequencyReduction(**wrong).fit(X, meta_features=grid())
    with pytest.raises(UsageError, match="lower them"):
        frequencies([100.0, 100.0], [10.0, 10.0])
