import pickle
from dataclasses import replace
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from metafs.errors import UsageError
from metafs_metafeatures import Gaussian, GroupedGaussian, OrientedGaussian
from metafs_metafeatures.generators.monomials import all_monomials, period
from metafs_metafeatures.gp_prior.covariance import AlongColumn


def slow_equation_6(u, v, sigma):
    return exp(-sum((a - b) ** 2 for a, b in zip(u, v, strict=True)) / (2 * sigma**2))


def slow_equation_7(u, v, sigma):
    """Meta-features (t, r, phi, x, y)."""
    return slow_equation_6(u[3:], v[3:], sigma) if list(u[:3]) == list(v[:3]) else 0.0


def slow_product(u, v, sigma, sigma_phi, period, A_t, A_r):
    """Equation 7 times the extension, with orientations in place of equality of phi."""
    if list(u[:2]) != list(v[:2]):
        return 0.0
    turns = [abs(u[2] - v[2] + k * period(u[0])) for k in range(-3, 4)]
    smooth = slow_equation_6(u[3:], v[3:], sigma)
    return A_t(u[0]) * A_r(u[1]) * smooth * exp(-(min(turns) ** 2) / (2 * sigma_phi**2))


def slow_matrix(C, U, V):
    return np.array([[C(u, v) for v in V] for u in U])


def monomial_like(n, seed):
    rng = np.random.default_rng(seed)
    n_inputs = rng.integers(2, 4, n)
    phi = 22.5 * rng.integers(0, np.where(n_inputs == 2, 8, 16))
    return np.column_stack([n_inputs, 2 * rng.integers(1, 3, n), phi, rng.integers(0, 5, (n, 2))])


def by_inputs(t):
    return t / 3


def by_base(r):
    return 1 / r


ORIENTED = OrientedGaussian(2.0, (3, 4), (0, 1), 2, 30.0, period, (by_inputs, by_base))
COVARIANCES = [
    Gaussian(3.0),
    Gaussian(2.0, positions=(3, 4)),
    GroupedGaussian(2.0, groups=(0, 1, 2)),
    ORIENTED,
]


@pytest.mark.parametrize("seed", range(3))
def test_the_covariances_are_those_of_the_paper(seed):
    U, V = monomial_like(30, seed), monomial_like(20, seed + 100)
    np.testing.assert_allclose(
        Gaussian(5.0)(U, V), slow_matrix(lambda u, v: slow_equation_6(u, v, 5.0), U, V)
    )
    np.testing.assert_allclose(
        GroupedGaussian(2.0, groups=(0, 1, 2))(U, V),
        slow_matrix(lambda u, v: slow_equation_7(u, v, 2.0), U, V),
    )
    expected = slow_matrix(
        lambda u, v: slow_product(u, v, 2.0, 30.0, period, by_inputs, by_base), U, V
    )
    assert np.count_nonzero(expected) > 100
    np.testing.assert_allclose(ORIENTED(U, V), expected)


@pytest.mark.parametrize("covariance", COVARIANCES, ids=lambda each: type(each).__name__)
def test_what_always_holds(covariance):
    U = monomial_like(25, 7)
    C = covariance(U, U)
    np.testing.assert_allclose(C, C.T)
    order = np.random.default_rng(0).permutation(len(U))
    np.testing.assert_array_equal(covariance(U[order], U[order]), C[np.ix_(order, order)])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(covariance))(U, U), C)
    np.testing.assert_array_equal(covariance(U[:3], U), C[:3])


@settings(max_examples=25, deadline=None)
@given(
    U=arrays(np.float64, (8, 3), elements=st.integers(-3, 3).map(float)),
    sigma=st.floats(0.1, 10),
)
def test_smooth_covariances_are_positive_semi_definite(U, sigma):
    for covariance in (Gaussian(sigma), GroupedGaussian(sigma, groups=(1,))):
        C = covariance(U, U)
        np.testing.assert_allclose(np.diag(C), 1.0)
        assert np.linalg.eigvalsh(C).min() > -1e-9


def test_orientations_go_the_shorter_way_round():
    C = OrientedGaussian(1.0, groups=(), orientation=0, sigma_phi=10.0)
    U = np.array([[350.0, 0.0], [10.0, 0.0], [180.0, 0.0]])
    np.testing.assert_allclose(C(U, U)[0, 1], np.exp(-2))
    pairs = replace(C, period=half_circle)
    np.testing.assert_allclose(pairs(U, U)[0, 2], np.exp(-0.5))


def test_values_more_than_a_period_apart_are_as_near_as_within_one():
    along = AlongColumn(sigma=10.0, period=180.0)
    apart = along(np.array([0.0, 400.0]), np.array([190.0, 370.0, -550.0]))
    by_hand = np.array([[10.0, 10.0, 10.0], [30.0, 30.0, 50.0]])
    np.testing.assert_allclose(apart, np.exp(-(by_hand**2) / 200))


def test_whole_numbers_are_meta_features_too():
    U = np.array([[2, 90, 1], [2, 0, 1]])
    C = OrientedGaussian(1.0, groups=(0,), orientation=1)
    np.testing.assert_array_equal(C(U, U), C(U.astype(float), U.astype(float)))


def half_circle():
    return 180.0


def test_the_paper_s_features_fall_into_sixty_groups_of_four_hundred():
    _, U = all_monomials()
    _, sizes = np.unique(U[:, :3], axis=0, return_counts=True)
    assert sizes.tolist() == [400] * 60
    C = GroupedGaussian(6.0, groups=(0, 1, 2))(U[:1], U)
    assert np.count_nonzero(C) == 400
    assert C[0, 0] == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0.0), "sigma must be more than 0"),
        (lambda: Gaussian("wide"), "sigma must be more than 0"),
        (lambda: OrientedGaussian(1.0, sigma_phi=-1.0), "sigma_phi must be more than 0"),
        (lambda: OrientedGaussian(1.0, amplitudes=(by_base,)), "1 amplitudes for 0 group"),
        (lambda: Gaussian()(np.eye(2), np.eye(2)), "sigma of the covariance is not set"),
        (lambda: Gaussian(1.0, positions=(2,))(np.eye(2), np.eye(2)), "numbered 0 to 1"),
        (lambda: GroupedGaussian(1.0, groups=(-1,))(np.eye(2), np.eye(2)), "numbered 0 to 1"),
        (
            lambda: replace(ORIENTED, amplitudes=(lambda t: -1.0, by_base)).variance(np.ones(5)),
            "a variance cannot be negative",
        ),
    ],
)
def test_wrong_parameters_are_a_sentence(make, message):
    with pytest.raises(UsageError, match=message):
        make()
