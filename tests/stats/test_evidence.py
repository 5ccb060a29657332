"""Own evidence and memory, weighed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from metafs.stats.evidence import agree, information_of_each, one_tells_much, own_evidence, promise

UNIT = st.lists(st.floats(0.0, 1.0, allow_subnormal=False), min_size=4, max_size=4).map(np.array)


@given(UNIT, UNIT, UNIT, st.permutations(range(4)))
def test_promise_is_own_evidence_relative_to_the_best_and_half_the_expectation(
    own, spread, expected, order
):
    found = promise(own, spread, expected)
    most = max(own + spread) or 1.0
    rows = zip(own, spread, expected, strict=True)
    np.testing.assert_allclose(found, [(o + h) / most + e / 2 for o, h, e in rows], rtol=1e-12)
    again = promise(own[order], spread[order], expected[order])
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
    _, found = own_evidence(matrix(X), np.arange(60) % 2)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_category_and_a_gap_are_values_like_others():
    X = np.array([[0.0, np.nan], [1.0, 5.0], [2.0, 5.0], [3.0, np.nan]] * 5)
    _, found = own_evidence(X, np.arange(20) % 2, {0: ("a", "b", "c", "d")})
    np.testing.assert_allclose(found, [2.0, 1.0])


def test_information_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 4)).astype(float), rng.integers(0, 2, 60)
    expected = [entropy(x) + entropy(y) - entropy(x, y) for x in X.T]
    np.testing.assert_allclose(information_of_each(X, y), expected, atol=1e-12)
    np.testing.assert_array_equal(own_evidence(X, y)[0], information_of_each(X, y))


def test_nothing_expected_and_nothing_told_are_no_contradiction():
    own = np.array([0.1, 0.5, 0.0])
    assert agree(own, np.zeros(3)) and agree(np.zeros(3), own)
    assert agree(own, own) and not agree(own, 1 - own)


@pytest.mark.parametrize(("share", "much"), [(0.44, False), (0.46, True)])
def test_much_is_nearly_half_of_the_target(share, much):
    y = np.array([0, 1] * 8)
    assert one_tells_much(np.array([share, 0.1]), y) is much
    assert one_tells_much(np.array([0.81 * share, 0.1]), np.array([0, 0, 0, 1] * 4)) is much
