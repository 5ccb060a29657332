"""Univariate relevance and memory, weighed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from metafs.stats.relevance import (
    agree,
    has_dominant_feature,
    information_of_each,
    priority,
    relevance_and_entropy,
)

UNIT = st.lists(st.floats(0.0, 1.0, allow_subnormal=False), min_size=4, max_size=4).map(np.array)


@given(UNIT, UNIT, UNIT, st.permutations(range(4)))
def test_priority_is_relevance_relative_to_the_best_plus_half_the_expectation(
    relevance, spread, expected, order
):
    found = priority(relevance, spread, expected)
    most = max(relevance + spread) or 1.0
    rows = zip(relevance, spread, expected, strict=True)
    np.testing.assert_allclose(found, [(o + h) / most + e / 2 for o, h, e in rows], rtol=1e-12)
    again = priority(relevance[order], spread[order], expected[order])
    np.testing.assert_array_equal(again, found[order])


def entropy(*columns):
    p = np.unique(np.column_stack(columns), axis=0, return_counts=True)[1] / len(columns[0])
    return -(p * np.log2(p)).sum()


@pytest.mark.parametrize("matrix", [np.asarray, csr_array])
def test_entropy_is_that_of_the_definition(matrix):
    X = np.random.default_rng(0).integers(0, 4, (60, 5)).astype(float)
    X[:, 4] = 2.0
    expected = [entropy(x) for x in X.T]
    assert expected[0] > 1.5 and expected[4] == 0
    _, found = relevance_and_entropy(matrix(X), np.arange(60) % 2)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_categories_and_missing_values_are_values_like_others():
    X = np.array([[0.0, np.nan], [1.0, 5.0], [2.0, 5.0], [3.0, np.nan]] * 5)
    _, found = relevance_and_entropy(X, np.arange(20) % 2, {0: ("a", "b", "c", "d")})
    np.testing.assert_allclose(found, [2.0, 1.0])


def test_information_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 4)).astype(float), rng.integers(0, 2, 60)
    expected = [entropy(x) + entropy(y) - entropy(x, y) for x in X.T]
    np.testing.assert_allclose(information_of_each(X, y), expected, atol=1e-12)
    np.testing.assert_array_equal(relevance_and_entropy(X, y)[0], information_of_each(X, y))


def test_zero_expectation_or_zero_relevance_is_no_contradiction():
    relevance = np.array([0.1, 0.5, 0.0])
    assert agree(relevance, np.zeros(3)) and agree(np.zeros(3), relevance)
    assert agree(relevance, relevance) and not agree(relevance, 1 - relevance)


@pytest.mark.parametrize(("share", "much"), [(0.44, False), (0.46, True)])
def test_a_dominant_feature_explains_nearly_half_of_the_target(share, much):
    y = np.array([0, 1] * 8)
    assert has_dominant_feature(np.array([share, 0.1]), y) is much
    assert has_dominant_feature(np.array([0.81 * share, 0.1]), np.array([0, 0, 0, 1] * 4)) is much
