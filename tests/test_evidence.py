"""Own evidence and memory, weighed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metafs.evidence import agree, information_of_each, one_tells_much, promise

UNIT = st.lists(st.floats(0.0, 1.0, allow_subnormal=False), min_size=4, max_size=4).map(np.array)


@given(UNIT, UNIT, st.permutations(range(4)))
def test_promise_is_own_evidence_relative_to_the_best_plus_expectation(own, expected, order):
    found = promise(own, expected)
    best = max(own) or 1.0
    np.testing.assert_allclose(
        found, [o / best + e for o, e in zip(own, expected, strict=True)], rtol=1e-12
    )
    np.testing.assert_array_equal(promise(own[order], expected[order]), found[order])


@given(UNIT)
def test_without_memory_the_order_is_that_of_own_evidence(own):
    order = np.argsort(-promise(own, np.zeros(4)), kind="stable")
    np.testing.assert_array_equal(order, np.argsort(-own, kind="stable"))


def test_information_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 4)).astype(float), rng.integers(0, 2, 60)

    def entropy(*columns):
        p = np.unique(np.column_stack(columns), axis=0, return_counts=True)[1] / len(y)
        return -(p * np.log2(p)).sum()

    expected = [entropy(x) + entropy(y) - entropy(x, y) for x in X.T]
    np.testing.assert_allclose(information_of_each(X, y), expected, atol=1e-12)


def test_nothing_expected_and_nothing_told_are_no_contradiction():
    own = np.array([0.1, 0.5, 0.0])
    assert agree(own, np.zeros(3)) and agree(np.zeros(3), own)
    assert agree(own, own) and not agree(own, 1 - own)


@pytest.mark.parametrize(("share", "much"), [(0.44, False), (0.46, True)])
def test_much_is_nearly_half_of_the_target(share, much):
    y = np.array([0, 1] * 8)
    assert one_tells_much(np.array([share, 0.1]), y) is much
    assert one_tells_much(np.array([0.81 * share, 0.1]), np.array([0, 0, 0, 1] * 4)) is much
