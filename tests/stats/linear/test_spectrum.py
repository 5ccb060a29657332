"""Ridge regression in the space of rows, against models that are fitted one by one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression, Ridge

from metafs.stats.linear import logistic as logistic_module
from metafs.stats.linear.folds import folds_of
from metafs.stats.linear.logistic import logistic
from metafs.stats.linear.spectrum import spectrum_of, spectrum_of_rows


def rows_and_targets(seed, n=14, p=5, q=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 3
    return X, X[:, :q] + rng.normal(size=(n, q)), rng.uniform(0.5, 2.0, size=n)


def refitted(X, targets, weight, regularisation, folds):
    """Slow and obvious: one model for each fold."""
    out = np.empty_like(targets)
    weight = weight * len(weight) / weight.sum()
    for rows in folds:
        others = np.setdiff1d(np.arange(len(X)), rows)
        model = Ridge(alpha=regularisation).fit(X[others], targets[others], weight[others])
        out[rows] = model.predict(X[rows])
    return out


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), regularisation=st.floats(0.05, 20), weighted=st.booleans())
def test_held_out_values_are_those_of_models_fitted_without_the_fold(
    seed, regularisation, weighted
):
    X, targets, weight = rows_and_targets(seed)
    given_weight = weight if weighted else None
    folds = folds_of(None, len(X), seed)
    expected = refitted(
        X, targets, weight if weighted else np.ones(len(X)), regularisation, folds[0]
    )
    for spectrum in (spectrum_of(X @ X.T, given_weight), spectrum_of_rows(X, given_weight)):
        found = spectrum.held_out(targets, np.array([regularisation]), folds)
        np.testing.assert_allclose(found[0, 0], expected, rtol=1e-4, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), regularisation=st.floats(0.05, 20))
def test_ridge_gives_the_weights_of_scikit_learn(seed, regularisation):
    X, targets, weight = rows_and_targets(seed)
    alpha, fitted = spectrum_of(X @ X.T, weight).ridge(targets, regularisation)
    model = Ridge(alpha=regularisation).fit(X, targets, weight * len(weight) / weight.sum())
    np.testing.assert_allclose((X.T @ alpha).T, model.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(fitted, model.predict(X), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_logistic_gives_the_weights_of_scikit_learn(seed):
    X, targets, _ = rows_and_targets(seed, n=30)
    signs = np.where(targets[:, :1] > np.median(targets[:, 0]), 1.0, -1.0)
    alpha, fitted = logistic(spectrum_of(X @ X.T), signs, 2.0)
    model = LogisticRegression(C=2.0, tol=1e-8, max_iter=10000).fit(X, signs[:, 0])
    np.testing.assert_allclose(X.T @ alpha[:, 0], model.coef_[0], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(fitted[:, 0], model.decision_function(X), rtol=1e-3, atol=1e-3)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), level=st.floats(0.01, 3), weighted=st.booleans())
def test_an_intercept_with_a_prior_is_the_weight_of_one_more_column(seed, level, weighted):
    X, targets, weight = rows_and_targets(seed)
    given_weight = weight if weighted else None
    folds = folds_of(None, len(X), seed)
    counted = np.ones(len(X)) if given_weight is None else weight * len(weight) / weight.sum()
    usual = np.average((X**2).sum(axis=1), weights=counted)
    more = np.column_stack([X, np.full(len(X), np.sqrt(level * usual))])
    model = Ridge(alpha=0.7, fit_intercept=False)
    for spectrum in (
        spectrum_of(X @ X.T, given_weight, intercept=level),
        spectrum_of_rows(X, given_weight, intercept=level),
    ):
        alpha, fitted = spectrum.ridge(targets, 0.7)
        slow = model.fit(more, targets, counted)
        np.testing.assert_allclose(fitted, slow.predict(more), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose((X.T @ alpha).T, slow.coef_[:, :-1], rtol=1e-5, atol=1e-6)
        held_out = spectrum.held_out(targets, np.array([0.7]), folds)[0, 0]
        for rows in folds[0]:
            others = np.setdiff1d(np.arange(len(X)), rows)
            slow = model.fit(more[others], targets[others], counted[others])
            np.testing.assert_allclose(held_out[rows], slow.predict(more[rows]), rtol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_logistic_with_a_prior_of_the_intercept_gives_the_weights_of_scikit_learn(seed):
    X, targets, _ = rows_and_targets(seed, n=30)
    signs = np.where(targets[:, :1] > np.median(targets[:, 0]), 1.0, -1.0)
    more = np.column_stack([X, np.full(len(X), np.sqrt(0.3 * np.mean((X**2).sum(axis=1))))])
    alpha, fitted = logistic(spectrum_of(X @ X.T, intercept=0.3), signs, 2.0)
    model = LogisticRegression(C=2.0, tol=1e-8, max_iter=10000, fit_intercept=False)
    model.fit(more, signs[:, 0])
    np.testing.assert_allclose(X.T @ alpha[:, 0], model.coef_[0, :-1], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(fitted[:, 0], model.decision_function(more), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("regularisation", [0.01, 1.0])
def test_conjugate_gradients_find_what_the_whole_hessian_does(monkeypatch, regularisation):
    X, targets, weight = rows_and_targets(0, n=60, p=80)
    signs = np.where(targets > np.median(targets, axis=0), 1.0, -1.0)
    spectrum = spectrum_of(X @ X.T, weight)
    whole = logistic(spectrum, signs, regularisation)
    monkeypatch.setattr(logistic_module, "_DIRECT", 0)
    by_gradients = logistic(spectrum, signs, regularisation)
    for one, other in zip(whole, by_gradients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
