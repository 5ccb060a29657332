import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import norm

from metafs.plugin.prior import Source
from metafs_filters.class_association import class_associations, class_balanced, expected_by_class


def table(seed, n=30, n_features=8, n_classes=3):
    rng = np.random.default_rng(seed)
    return rng.poisson(1.0, (n, n_features)).astype(float), rng.integers(0, n_classes, n)


def sources_of(rows, weights):
    return [Source("p", 0.5, weight, row) for weight, row in zip(weights, rows, strict=True)]


def test_associations_have_unit_variance_under_permuted_targets():
    X, y = table(0)
    rng = np.random.default_rng(1)
    drawn = np.array([class_associations(X, rng.permutation(y)) for _ in range(3000)])
    np.testing.assert_allclose(drawn.mean(axis=0), 0, atol=0.08)
    np.testing.assert_allclose(drawn.std(axis=0), 1, atol=0.05)


def test_a_feature_is_associated_with_the_class_in_which_it_is_largest():
    X, y = table(2)
    of_class = np.array([X[y == c].mean(axis=0) for c in range(3)])
    assert (
        np.sign(class_associations(X, y)) == np.sign(np.round(of_class - X.mean(axis=0), 9))
    ).all()
    two = class_associations(X, y > 0)
    np.testing.assert_allclose(two[0], -two[1])


def test_neither_unit_nor_offset_nor_storage_matters():
    X, y = table(3)
    plain = class_associations(X, y)
    np.testing.assert_allclose(class_associations(1e3 * X + 1e6, y), plain, atol=1e-6)
    np.testing.assert_allclose(class_associations(1e306 * X, y), plain, atol=1e-6)
    np.testing.assert_array_equal(class_associations(csr_array(X), y), plain)
    np.testing.assert_allclose(
        class_associations(X, np.array(["c", "a", "b"])[y])[[2, 0, 1]], plain
    )


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_missing_and_constant_values_have_no_association(kind):
    X, y = table(4)
    X[::4, 0] = np.nan
    X[:, 1], X[:, 2] = 7.0, np.nan
    found = class_associations(kind(X), y)
    filled = X.copy()
    filled[::4, 0] = np.nanmean(X[:, 0])
    filled[:, 2] = 0.0
    np.testing.assert_allclose(found, class_associations(filled, y), atol=1e-8)
    assert (found[:, 1:3] == 0).all()


def test_a_single_class_gives_no_association():
    assert (class_associations(table(5)[0], np.zeros(30)) == 0).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(1, 25))
def test_every_feature_is_taken_and_each_class_takes_its_best_first(seed, n_classes, n):
    rng = np.random.default_rng(seed)
    association = rng.integers(-3, 4, (n_classes, n)).astype(float)
    association -= association.mean(axis=0)
    order = rng.permutation(n)
    taken = class_balanced(order, association)
    assert sorted(taken) == list(range(n))
    place = np.argsort(order)
    for c in range(n_classes):
        own = [j for j in taken if (association[c, j] > np.delete(association[:, j], c)).all()]
        assert (np.diff(place[own]) > 0).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_while_two_classes_have_features_neither_is_ahead_by_more_than_one(seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(0.5, 1.0, 60)
    taken = class_balanced(np.arange(60), np.array([z, -z]))
    fewer = min((z > 0).sum(), (z < 0).sum())
    total = np.cumsum(z[taken[:fewer]])
    assert np.abs(total).max() <= np.abs(z).max()


def test_features_without_association_keep_their_order():
    order = np.array([3, 1, 0, 2])
    np.testing.assert_array_equal(class_balanced(order, np.zeros((2, 4))), order)


def test_neighbours_are_weighted_by_their_class_association():
    rng = np.random.default_rng(6)
    rows, weights = rng.random((5, 40)) ** 2, rng.random(5)
    z, expected = rng.normal(size=40), rng.random(40)
    found = expected_by_class(expected, sources_of(rows, weights), np.array([z, -z]))
    effects, common = np.sqrt(rows), np.sqrt(expected)
    for j in range(40):
        class_weights = []
        for effect, weight in zip(effects, weights, strict=True):
            apart = effect - (effect @ common) / (common @ common) * common
            class_weights.append(
                weight * norm.cdf(np.sign(z[j]) * (apart @ z) / np.sqrt(apart @ apart))
            )
        change = np.average(effects[:, j], weights=class_weights) / np.average(
            effects[:, j], weights=weights
        )
        np.testing.assert_allclose(found[j], expected[j] * change**2)


def test_neighbours_with_equal_association_change_nothing():
    rng = np.random.default_rng(7)
    expected, rows = rng.random(20), np.tile(rng.random(20), (3, 1))
    z = 100 * rng.normal(size=20)
    same = expected_by_class(expected, sources_of(rows, [0.5, 0.2, 0.1]), np.array([z, -z]))
    np.testing.assert_allclose(same, expected)
    np.testing.assert_array_equal(expected_by_class(expected, [], np.array([z, -z])), expected)


def test_expectations_of_features_no_neighbour_had_stay():
    rows = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    z = np.array([2.0, -2.0, 1.0])
    found = expected_by_class(np.full(3, 0.4), sources_of(rows, [0.5, 0.5]), np.array([z, -z]))
    assert found[2] == 0.4
    assert (found[:2] > 1.0).all()
