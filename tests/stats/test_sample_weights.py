import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from metafs.stats.sample_weights import (
    margin_vectors,
    sample_weights,
    summed_differences,
    unit_range,
)


def slow_margins(X, y, categorical=()):
    """x' of Yu, Han and Berens, a pair of samples at a time."""
    margins = np.zeros(X.shape)
    for i, x in enumerate(X):
        for p, z in enumerate(X):
            for j in range(X.shape[1]):
                if p != i and not np.isnan(x[j]) and not np.isnan(z[j]):
                    apart = float(x[j] != z[j]) if j in categorical else abs(x[j] - z[j])
                    margins[i, j] += -apart if y[p] == y[i] else apart
    return margins


def slow_weights(X, y, categorical=()):
    scaled = X.copy()
    for j in range(X.shape[1]):
        known = X[~np.isnan(X[:, j]), j]
        if len(known):
            span = known.max() - known.min()
            scaled[:, j] = (X[:, j] - known.min()) / (span if span > 0 else 1.0)
    margins = slow_margins(scaled, y, categorical)
    inverse = []
    for i, x in enumerate(margins):
        others = [np.sqrt(((x - z) ** 2).sum()) for p, z in enumerate(margins) if p != i]
        if not others or max(others) < 1e-9:
            return np.ones(len(X))
        inverse.append(1 / np.mean(others))
    return np.array(inverse) / np.mean(inverse)


def tables(values):
    return st.tuples(st.integers(1, 15), st.integers(1, 4)).flatmap(
        lambda shape: st.tuples(
            arrays(np.float64, shape, elements=values),
            arrays(np.int64, shape[:1], elements=st.integers(0, 2)),
        )
    )


few = st.sampled_from([0.0, 1.0, 3.0, 0.1, -2.5, np.nan])
any_number = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: round(x, 3))


@settings(max_examples=150, deadline=None)
@given(tables(few), st.booleans())
def test_margins_are_the_definition(table, first_is_a_category):
    X, y = table
    categorical = [0] if first_is_a_category else []
    np.testing.assert_allclose(
        margin_vectors(X, y, categorical), slow_margins(X, y, categorical), atol=1e-12
    )


@settings(max_examples=150, deadline=None)
@given(st.one_of(tables(few), tables(any_number)), st.booleans())
def test_weights_are_the_definition(table, first_is_a_category):
    X, y = table
    categorical = [0] if first_is_a_category else []
    weights = sample_weights(X, y, categorical_features=categorical)
    assert weights.mean() == pytest.approx(1.0) and (weights > 0).all()
    np.testing.assert_allclose(weights, slow_weights(X, y, categorical), rtol=1e-5)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**31))
def test_neither_units_nor_the_order_of_columns_matter_and_rows_keep_their_weights(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 6)), rng.integers(0, 3, 30)
    weights = sample_weights(X, y)
    assert np.ptp(weights) > 0.01
    np.testing.assert_allclose(sample_weights(X * [1, 1e9, 1, 1e-9, 1, 1], y), weights)
    np.testing.assert_allclose(sample_weights(X[:, rng.permutation(6)], y), weights)
    order = rng.permutation(30)
    np.testing.assert_allclose(sample_weights(X[order], y[order]), weights[order])


def test_a_sample_among_those_of_the_other_class_weighs_least():
    X = np.random.default_rng(0).normal(size=(40, 5))
    y = np.arange(40) % 2
    X[y == 1] += 4
    y[7] = 0
    assert sample_weights(X, y).argmin() == 7


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.ones((4, 2)), np.array([0, 1, 1, 0])),
        (np.array([[0.1], [0.7]]), np.array([0, 1])),
        (np.array([[0.3, 9.1], [0.1, 2.7]]), np.array([0, 0])),
        (np.array([[3.0]]), np.array([0])),
        (np.full((3, 2), np.nan), np.array([0, 1, 0])),
    ],
    ids=["constant", "two samples", "one class", "one sample", "nothing known"],
)
def test_indistinguishable_samples_have_equal_weights(X, y):
    np.testing.assert_allclose(sample_weights(X, y), 1.0)


def test_distances_are_not_all_held_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    whole = sample_weights(X, y)
    monkeypatch.setattr("metafs.stats.sample_weights._MEGABYTES", 0.02)
    np.testing.assert_allclose(sample_weights(X, y), whole)


def test_the_range_of_finite_values_need_not_be_finite():
    X = np.array([[-1.7e308, 1e-310], [1.7e308, 3e-310], [0.0, 2e-310]])
    np.testing.assert_allclose(unit_range(X), [[0.0, 0.0], [1.0, 1.0], [0.5, 0.5]])
    assert np.isfinite(sample_weights(X, np.array([0, 1, 1]))).all()


def test_sums_of_differences_leave_the_table_as_it_is():
    X = np.array([[2.0, np.nan], [1.0, 4.0]])
    before = X.copy()
    np.testing.assert_array_equal(summed_differences(X), [[1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(X, before)
