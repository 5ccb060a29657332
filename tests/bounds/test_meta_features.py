"""Bounds of selection by meta-features: the papers' numbers, and small cases counted out."""

from itertools import permutations, product
from math import comb, e, inf, log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metafs.bounds import (
    complexity,
    direct_selection_dimension,
    joint_dimension,
    linear_mapping_dimension,
    log2_direct_selections,
    log2_selections_by_mapping,
    log_choices_by_decisions,
    log_choices_by_message,
    log_choices_by_values,
    log_direct_choices,
    log_mufasa_choices,
    mufasa_bound,
    selection_dimension,
    smooth_mapping_dimension,
)
from metafs.errors import UsageError

# Section 6.2: 50 steps; 1 to 8 inputs of which 0 to all are positive, 8 shifts. The paper does not
# say how many values scatter has, nor |MF| itself: with four of them ln(J|MF|) is its 11.
J = 50
N_VALUES = sum(n_inputs + 1 for n_inputs in range(1, 9)) * 8 * 4


def test_section_7_1_meta_features_leave_about_eleven_against_375000_of_direct_selection():
    assert log_choices_by_values(J, N_VALUES) == pytest.approx(11, abs=0.5)
    assert log_mufasa_choices(J, N_VALUES) == log_choices_by_values(J, N_VALUES)
    # The paper's figure for n of about 1000 features is its J n ln(2n), that is N = (2n)^J.
    n = 1000
    direct = log_direct_choices(n, J * log(2 * n))
    assert direct == pytest.approx(375_000, rel=0.02)
    # Of the N = n 2^J that it names, n ln N is a ninth of that, still thousands of times 11.
    assert log_direct_choices(n, log(n) + J * log(2)) == pytest.approx(41_565, abs=1)


def test_a_search_is_bounded_by_its_values_or_by_its_decisions():
    assert log_choices_by_decisions(1) == 0
    assert log_choices_by_decisions(8) == pytest.approx(log(2**7))
    assert log_mufasa_choices(3, 10**9) == pytest.approx(3 * log(2))
    assert log_mufasa_choices(3) == pytest.approx(3 * log(2))
    assert log_mufasa_choices(40, 10) == pytest.approx(log(400))


@given(st.integers(1, 8))
def test_lemma_2_counts_the_sets_in_which_a_search_can_end(n_steps):
    """Play algorithm 3 with stored random numbers and every possible outcome of its decisions."""
    ends = set()
    for decisions in product([False, True], repeat=n_steps - 1):
        best = kept_at = (0,)  # the first set is always kept
        for step, better in enumerate(decisions, start=1):
            drawn = (*kept_at, step)  # where the step leads depends on what was kept before
            if better:
                best = kept_at = drawn
        ends.add(best)
    assert log(len(ends)) <= log_choices_by_decisions(n_steps) + 1e-12


@given(
    error=st.floats(0, 0.2),
    n_samples=st.integers(10**4, 10**9),
    gamma=st.floats(0.05, 1),
    dimension=st.floats(1, 1000),
    n_steps=st.integers(1, 200),
    n_values=st.one_of(st.just(inf), st.integers(1, 10**6)),
    delta=st.floats(1e-6, 0.5),
)
def test_theorem_4_is_its_formula(error, n_samples, gamma, dimension, n_steps, n_values, delta):
    g = min(n_steps * log(2), log(n_steps * n_values) if n_values < inf else inf)
    first = dimension * log(34 * e * n_samples / dimension) * log2(578 * n_samples)
    by_hand = error + sqrt(2 / n_samples * (first + log(8 / (gamma * delta)) + g))
    found = mufasa_bound(
        error,
        n_samples=n_samples,
        gamma=gamma,
        dimension=dimension,
        n_steps=n_steps,
        n_values=n_values,
        delta=delta,
    )
    assert found == pytest.approx(min(1, by_hand), rel=1e-9)
    assert found >= min(1, error + complexity(n_samples, gamma, dimension, delta))


@pytest.mark.parametrize("n_steps", [1, 2, 5, 9])
def test_the_chances_of_all_messages_add_up_to_1(n_steps):
    lengths = [log_choices_by_message(each) for each in product([True, False], repeat=n_steps - 1)]
    assert sum(e**-length for length in lengths) == pytest.approx(1)


def test_a_message_is_as_likely_as_exchangeable_sets_make_it():
    """Of all orders of four qualities, the share in which just these are the best so far."""
    orders = list(permutations(range(4)))
    for accepted in product([True, False], repeat=3):
        such = [all((q[j] > max(q[:j])) == accepted[j - 1] for j in range(1, 4)) for q in orders]
        share = sum(such) / len(orders)
        assert log_choices_by_message(accepted) == pytest.approx(-log(share))


def test_the_bound_that_depends_on_the_data():
    settings = {"n_samples": 10**6, "gamma": 0.5, "dimension": 100, "n_steps": 50}
    few = [True] + [False] * 48
    added = complexity(10**6, 0.5, 100, log_n_choices=log_choices_by_message(few))
    found = mufasa_bound(0.1, accepted=few, **settings)
    assert found == pytest.approx(0.1 + added)
    assert (
        found < mufasa_bound(0.1, **settings) < mufasa_bound(0.1, accepted=[True] * 49, **settings)
    )


@pytest.mark.parametrize("n_features", [2, 5, 9])
def test_lemma_6_counts_the_selections_of_mappings_on_a_line(n_features):
    """Thresholds have VC-dimension 1, intervals 2: count what they select of N points."""
    thresholds = {tuple(range(i, n_features)) for i in range(n_features + 1)}
    intervals = {
        tuple(range(i, j)) for i in range(n_features + 1) for j in range(i, n_features + 1)
    }
    assert log2(len(thresholds)) <= log2_selections_by_mapping(n_features, 1)
    assert log2(len(intervals)) <= log2_selections_by_mapping(n_features, 2)
    everything = 2**n_features
    assert log2(everything) == log2_selections_by_mapping(n_features, n_features)


@given(st.integers(1, 200), st.data())
def test_ways_to_choose_freely_are_binomial_coefficients(n_features, data):
    n_selected = data.draw(st.integers(0, n_features))
    found = log2_direct_selections(n_features, n_selected)
    assert found == pytest.approx(log2(comb(n_features, n_selected)), abs=1e-8)


def test_lemma_7_and_theorem_8_are_their_formulas():
    assert joint_dimension(11, 0) == pytest.approx(12 * log2(11))
    d_c, d_s, n_features = 101, 5, 10_000
    by_hand = (d_c + d_s * log2(e * n_features / d_s) + 1) * log2(d_c)
    found = selection_dimension(n_features, mapping_dimension=d_s, classifier_dimension=d_c)
    assert found == pytest.approx(by_hand)
    by_hand = (d_c + log2(comb(n_features, 100)) + 1) * log2(d_c)
    found = direct_selection_dimension(n_features, 100, classifier_dimension=d_c)
    assert found == pytest.approx(by_hand)


@given(st.integers(20, 500), st.integers(1, 5))
def test_few_meta_features_cost_less_than_free_choice(n_selected, n_meta_features):
    """The paper's example 2, linear mappings and classifiers, and example 3, binary properties."""
    n_features, d_c = 50 * n_selected, n_selected + 1
    direct = direct_selection_dimension(n_features, n_selected, classifier_dimension=d_c)
    linear = n_meta_features + 1
    by_properties = selection_dimension(
        n_features, mapping_dimension=linear, classifier_dimension=d_c
    )
    assert by_properties < direct
    if 2**n_meta_features < n_selected / 8:
        binary = selection_dimension(
            n_features, mapping_dimension=2**n_meta_features, classifier_dimension=d_c
        )
        assert binary < direct


@pytest.mark.parametrize(("k", "d"), [(1, 3), (2, 3), (3, 3), (2, 5)])
def test_theorem_1_no_more_points_are_shattered_than_there_are_meta_features(k, d):
    """Weights U'c: k points can be told apart in every way, k + 1 cannot."""
    rng = np.random.default_rng(k + d)
    U = rng.normal(size=(k, d))
    bound = linear_mapping_dimension(k, d)
    assert dichotomies(U @ rng.normal(size=(d, bound))) == 2**bound
    assert dichotomies(U @ rng.normal(size=(d, bound + 1))) < 2 ** (bound + 1)


def dichotomies(points):
    """Count the signs that linear functions without an offset give these columns."""
    rng = np.random.default_rng(0)
    signs = np.sign(rng.normal(size=(20_000, len(points))) @ points)
    return len(np.unique(signs, axis=0))


def test_theorem_1_counts_the_smaller_of_meta_features_and_features():
    assert linear_mapping_dimension(5, 24_000) == 5
    assert linear_mapping_dimension(7, 3) == 3


@pytest.mark.parametrize(("bandwidth", "period"), [(1.0, 1.0), (0.25, 4.0), (1.5, 2.0)])
def test_theorem_2_counts_the_frequencies_that_fit(bandwidth, period):
    """The harmonics m / T up to B in both directions are the rank of all such functions."""
    harmonics = [m for m in range(-100, 101) if abs(m / period) <= bandwidth]
    assert len(harmonics) <= smooth_mapping_dimension([bandwidth], [period])
    places = np.linspace(0, period, 60, endpoint=False)
    waves = np.exp(2j * np.pi * np.outer(places, np.array(harmonics) / period))
    assert np.linalg.matrix_rank(waves) == len(harmonics)
    both = smooth_mapping_dimension([bandwidth] * 2, [period] * 2)
    assert both == pytest.approx((2 * bandwidth * period + 1) ** 2)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: log_mufasa_choices(0),
        lambda: log_mufasa_choices(5, 0),
        lambda: log_direct_choices(10, -1.0),
        lambda: log2_selections_by_mapping(10, 0),
        lambda: log2_direct_selections(3, 4),
        lambda: joint_dimension(10, 5),
        lambda: joint_dimension(20, -1),
        lambda: mufasa_bound(2, n_samples=10, gamma=1, dimension=1, n_steps=1),
        lambda: smooth_mapping_dimension([], []),
        lambda: smooth_mapping_dimension([1], [1, 2]),
        lambda: smooth_mapping_dimension([1], [0]),
    ],
)
def test_what_cannot_be_is_a_sentence(wrong):
    with pytest.raises(UsageError, match=r"\.$"):
        wrong()
