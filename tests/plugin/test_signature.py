"""Signatures and the Jensen-Shannon divergence, against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metafs.plugin.signature import MAX_KEYS, Signature, hash_key, jensen_shannon, signature_of

MASSES = st.dictionaries(st.integers(1, 12), st.integers(1, 20), min_size=1, max_size=8)


def signature(masses):
    return signature_of(np.array(list(masses), dtype=np.uint64), np.array(list(masses.values())))


def reference_divergence(a, b):
    """JSD = KLD(P, M)/2 + KLD(Q, M)/2 with M = (P + Q)/2, term by term."""
    P = dict(zip(a.keys.tolist(), a.p, strict=True))
    Q = dict(zip(b.keys.tolist(), b.p, strict=True))
    total = 0.0
    for X, Y in ((P, Q), (Q, P)):
        for key, x in X.items():
            total += 0.5 * x * np.log2(x / ((x + Y.get(key, 0.0)) / 2))
    return total


@given(MASSES, MASSES)
def test_it_agrees_with_the_definition(one, two):
    a, b = signature(one), signature(two)
    assert jensen_shannon(a, b) == pytest.approx(reference_divergence(a, b), abs=1e-9)


@given(MASSES, MASSES, MASSES)
def test_its_root_is_a_metric_within_0_and_1(one, two, three):
    a, b, c = signature(one), signature(two), signature(three)
    ab, bc, ac = (np.sqrt(jensen_shannon(*pair)) for pair in ((a, b), (b, c), (a, c)))
    assert 0.0 <= ab <= 1.0
    assert ab == np.sqrt(jensen_shannon(b, a))
    assert jensen_shannon(a, a) == 0.0
    assert ac <= ab + bc + 2e-6


def test_disjoint_problems_are_at_distance_1():
    assert jensen_shannon(signature({1: 1}), signature({2: 1})) == 1.0


def test_many_keys_are_cut_to_the_heaviest_and_a_rest():
    keys = np.arange(1, 2001, dtype=np.uint64)
    mass = np.ones(2000)
    mass[:100] = 50.0
    cut = signature_of(keys, mass)
    assert len(cut.keys) == MAX_KEYS
    assert set(range(1, 101)) <= set(cut.keys.tolist())
    assert cut.p.sum() == pytest.approx(1.0)
    (rest,) = cut.p[cut.keys > 2000]
    assert rest == pytest.approx((1900 - (MAX_KEYS - 101)) / mass.sum())


@given(st.integers(0, 2**31))
def test_a_cut_never_makes_problems_nearer(seed):
    rng = np.random.default_rng(seed)
    keys = np.arange(1, 901, dtype=np.uint64)
    masses = [rng.integers(0, 4, 900) + (rng.random(900) < 0.1) * 20 for _ in range(2)]
    a, b = (signature_of(keys, mass) for mass in masses)
    full = [Signature(keys[m > 0], m[m > 0] / m.sum()) for m in masses]
    assert jensen_shannon(a, b) >= jensen_shannon(*full) - 1e-9
    assert jensen_shannon(a, a) == 0.0


@given(st.permutations(range(700)))
def test_the_cut_does_not_depend_on_the_order_of_keys(order):
    keys = np.arange(1, 701, dtype=np.uint64)
    one, two = signature_of(keys, np.ones(700)), signature_of(keys[list(order)], np.ones(700))
    np.testing.assert_array_equal(one.keys, two.keys)


@pytest.mark.parametrize(
    ("keys", "p"), [([], []), ([1, 1], [0.5, 0.5]), ([1, 2], [0.5, 0.4]), ([1, 2], [1.0, 0.0])]
)
def test_what_is_no_distribution_is_refused(keys, p):
    with pytest.raises(ValueError, match="signature"):
        Signature(np.array(keys, dtype=np.uint64), np.array(p))


def test_keys_tell_parts_apart():
    assert hash_key("ab", "c") != hash_key("a", "bc")
