"""Linear models of rows that have weights, or that belong together."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from metafs.stats.linear import fit_linear, fitting, model, project
from metafs.stats.linear.folds import folds_of
from metafs.stats.linear.preparation import scales_of


def fit_with(regularisation, X, y, classes, **rows):
    """Fit with one regularisation, and one slope, which cross-validation chooses otherwise."""
    grid = mock.patch.object(fitting, "regularisations", lambda _: np.array([regularisation]))
    slope = mock.patch.object(model, "slope_of", return_value=1.0)
    with grid, slope:
        return fit_linear(X, y, classes=classes, **rows)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("classes", [False, True])
@given(seed=st.integers(0, 10**6), n=st.integers(6, 25))
@settings(max_examples=15, deadline=None)
def test_whole_weights_equal_repeated_rows(sparse, classes, seed, n):
    rng = np.random.default_rng(seed)
    X, f = rng.normal(size=(n, 4)), rng.normal(size=n)
    y = np.arange(n) % 2 if classes else f
    weight = rng.integers(1, 5, n)
    X_test = rng.normal(size=(7, 4))
    table = csr_array if sparse else np.asarray
    weighted = fit_with(0.1, table(X), y, classes, sample_weight=weight.astype(float))
    # Weights have the mean 1, so that their unit plays no part; repeated rows weigh more.
    times = weight.sum() / n
    rows = np.repeat(np.arange(n), weight)
    repeated = fit_with(0.1 * times, table(X[rows]), y[rows], classes)
    # Newton steps end when a next one would change decision values by their tolerance squared.
    np.testing.assert_allclose(
        weighted.decision_function(table(X_test)),
        repeated.decision_function(table(X_test)),
        rtol=1e-5,
        atol=1e-6,
    )
    np.testing.assert_allclose(weighted.spread, repeated.spread, atol=1e-12)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_scales_of_weighted_rows_are_those_of_repeated_ones(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(9, 3)) * rng.integers(0, 2, (9, 3))
    weight = rng.integers(1, 5, 9)
    plain = scales_of(np.repeat(X, weight, axis=0))
    for table in (X, csr_array(X)):
        weighted = scales_of(table, weight.astype(float))
        for name in ("document_frequency", "mean", "spread"):
            np.testing.assert_allclose(getattr(weighted, name), getattr(plain, name), atol=1e-12)


def test_the_unit_of_weights_plays_no_part():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    y = (X[:, 0] + rng.normal(size=40) > 0).astype(int)
    weight = rng.uniform(0.5, 2.0, 40)
    one, other = (
        fit_linear(X, y, classes=True, sample_weight=unit * weight) for unit in (1.0, 1e-3)
    )
    np.testing.assert_allclose(one.coef, other.coef, rtol=1e-6)


def test_a_projection_of_weighted_rows_is_that_of_repeated_ones():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 6)), rng.normal(size=30)
    weight = rng.integers(1, 4, 30)
    model = fit_linear(X, y, classes=False)
    weighted = project(model, X, 6, weight.astype(float))
    rows = np.repeat(np.arange(30), weight)
    with mock.patch("metafs.stats.linear.projection.SHRINKAGE", 100.0 * len(rows) / 30):
        repeated = project(model, X[rows], 6)
    np.testing.assert_allclose(weighted.covariance, repeated.covariance, atol=1e-10)


@given(seed=st.integers(0, 10**6), classes=st.booleans())
@settings(max_examples=25, deadline=None)
def test_folds_divide_no_group(seed, classes):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 8, 30)
    codes = groups % 2 if classes else None
    for repeat in folds_of(codes, 30, seed, groups):
        assert sorted(np.concatenate(repeat).tolist()) == list(range(30))
        for rows in repeat:
            assert not set(groups[rows]) & set(np.delete(groups, rows))


def test_no_folds_where_a_class_is_in_one_group():
    assert folds_of(np.array([0, 0, 1, 1]), 4, 0, np.array([0, 1, 2, 2])) == []


def test_groups_keep_a_model_from_believing_what_one_patient_shows_often():
    """20 patients of random classes: rows of a patient in both folds make noise look true."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 15)
    X = rng.normal(size=(20, 30))[groups] + 0.02 * rng.normal(size=(300, 30))
    y = rng.permutation(np.arange(20) % 2)[groups]
    trusting, careful = (fit_linear(X, y, classes=True, groups=told) for told in (None, groups))
    assert trusting.held_out is not None and careful.held_out is not None

    def accuracy(model):
        return np.mean((model.held_out[:, 0] > 0) == (y == 1))

    assert accuracy(trusting) > 0.95
    assert accuracy(careful) < 0.75
    assert careful.slope < trusting.slope / 5  # probabilities near one half
