from itertools import pairwise
from math import e, inf, log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metafs.bounds import (
    complexity,
    fat_shattering_dimension,
    margin_error,
    nearest_neighbour_bound,
)
from metafs.errors import UsageError

NEAR = {"n_samples": 10**7, "radius": 0.5, "gamma": 0.8, "n_selected": 2, "n_features": 500}


def by_hand(error, n_samples, radius, gamma, n_selected, n_features, delta):
    d = (64 * radius / gamma) ** n_selected
    first = d * log(34 * e * n_samples / d) * log2(578 * n_samples)
    second = log(8 / (gamma * delta))
    third = (n_selected + 1) * log(n_features)
    return error + sqrt(2 / n_samples * (first + second + third))


def test_a_bound_that_was_computed_on_paper():
    """With d = 40, ln(34e 10^6 / 40) = 14.653 and log2(578 10^6) = 29.106,

    ln(8 / 0.04) = 5.298 and 2 ln 100 = 9.210, it is
    (40 * 14.653 * 29.106 + 5.298 + 9.210) * 2 / 10^6 = 0.034148, of which the root is 0.18479.
    """
    found = nearest_neighbour_bound(
        0.1, n_samples=10**6, radius=0.5, gamma=0.8, n_selected=1, n_features=100, delta=0.05
    )
    assert found == pytest.approx(0.28479, abs=2e-5)


@given(
    error=st.floats(0, 0.2),
    n_samples=st.integers(10**5, 10**12),
    radius=st.floats(0.1, 2),
    gamma=st.floats(0.1, 1),
    n_selected=st.integers(0, 3),
    n_features=st.integers(3, 10**6),
    delta=st.floats(1e-6, 0.5),
)
def test_the_bound_is_equation_4_where_that_says_anything(
    error, n_samples, radius, gamma, n_selected, n_features, delta
):
    values = (n_samples, radius, gamma, n_selected, n_features, delta)
    names = ("n_samples", "radius", "gamma", "n_selected", "n_features", "delta")
    found = nearest_neighbour_bound(error, **dict(zip(names, values, strict=True)))
    assert error <= found <= 1
    if (64 * radius / gamma) ** n_selected < 34 * n_samples:
        assert found == pytest.approx(min(1, by_hand(error, *values)), rel=1e-9)
    else:
        assert found == 1


@pytest.mark.parametrize(
    ("name", "values", "direction"),
    [
        ("n_samples", [10**7, 10**8, 10**9], -1),
        ("gamma", [0.3, 0.5, 0.7, 1.0], -1),
        ("n_selected", [0, 1, 2], 1),
        ("n_features", [10, 100, 1000, 10**6], 1),
        ("radius", [0.1, 0.2, 0.5], 1),
        ("delta", [0.001, 0.01, 0.1], -1),
    ],
)
def test_the_bound_moves_as_it_should(name, values, direction):
    bounds = [nearest_neighbour_bound(0.01, **NEAR | {name: value}) for value in values]
    assert all(direction * (b - a) > 0 for a, b in pairwise(bounds)), bounds
    assert 0.01 < min(bounds) and max(bounds) < 1


@given(st.integers(1, 10**6), st.floats(0.05, 1))
def test_a_richer_class_never_has_a_lower_bound(n_samples, gamma):
    d = np.geomspace(1, 100 * n_samples, 50)
    added = [complexity(n_samples, gamma, each) for each in d]
    assert all(a <= b for a, b in pairwise(added))


def test_a_bound_that_says_nothing_is_1():
    assert nearest_neighbour_bound(0.0, **NEAR | {"n_samples": 100}) == 1
    assert nearest_neighbour_bound(0.0, **NEAR | {"n_selected": 8}) == 1
    assert nearest_neighbour_bound(1.0, **NEAR) == 1
    assert nearest_neighbour_bound(0.0, **NEAR | {"n_selected": 450}) == 1
    assert fat_shattering_dimension(10.0, 0.1, 450) == inf
    assert complexity(100, 0.5, 3400) == inf
    assert complexity(100, 0.5, 3399) < inf


def test_theorem_2_is_theorem_1_without_a_choice_of_features():
    d = fat_shattering_dimension(0.5, 0.8, 2)
    assert d == pytest.approx(1600)
    chosen = complexity(10**7, 0.8, d, 0.05, log_n_choices=3 * log(500))
    assert nearest_neighbour_bound(0.02, **NEAR) == pytest.approx(0.02 + chosen)
    expected = sqrt(2e-7 * (1600 * log(34 * e * 1e7 / 1600) * log2(5.78e9) + log(200)))
    assert complexity(10**7, 0.8, 1600.0) == pytest.approx(expected)
    assert complexity(10**7, 0.8, 0.0) == pytest.approx(sqrt(2e-7 * log(200)))


def test_the_margin_error_counts_mistakes_and_small_margins():
    margins = np.array([-1.0, 0.0, 0.2, 0.3, 0.9])
    assert margin_error(margins, 0.3) == pytest.approx(3 / 5)
    assert margin_error(margins, 1.0) == 1
    assert margin_error([0.5], 0.5) == 0


@pytest.mark.parametrize("gamma", [0, -1, 1.5, float("nan")])
def test_gamma_is_above_0_and_at_most_1(gamma):
    for use in (
        lambda: margin_error([0.1], gamma),
        lambda: fat_shattering_dimension(1.0, gamma, 1),
        lambda: complexity(10, gamma, 1.0),
        lambda: nearest_neighbour_bound(0.0, **NEAR | {"gamma": gamma}),
    ):
        with pytest.raises(UsageError, match="gamma must be above 0 and at most 1"):
            use()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_samples": 0}, "there must be samples"),
        ({"delta": 0}, "delta must lie between 0 and 1"),
        ({"radius": 0}, "radius must be above 0"),
        ({"n_selected": 501}, "501 of 500 features"),
        ({"n_selected": -1}, "-1 of 500 features"),
        ({"margin_error": 1.2}, "margin_error must lie between 0 and 1"),
    ],
)
def test_wrong_arguments_are_reported_in_a_sentence(wrong, message):
    with pytest.raises(UsageError, match=message):
        nearest_neighbour_bound(**{"margin_error": 0.0, **NEAR, **wrong})
    for margins in ([], [[0.1]], [np.nan]):
        with pytest.raises(UsageError, match="one margin per sample"):
            margin_error(margins, 0.5)


@pytest.mark.parametrize("dimension", [-1.0, float("nan")])
def test_a_dimension_that_is_none_bounds_nothing(dimension):
    with pytest.raises(UsageError, match="dimension must not be negative, nor NaN"):
        complexity(n_samples=1000, gamma=0.5, dimension=dimension)
