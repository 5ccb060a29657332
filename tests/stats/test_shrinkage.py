import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import hypergeom, norm

from metafs.errors import UsageError
from metafs.stats.shrinkage import chance_quality, expected_quality, shrink
from metafs_filters import Fisher, InfoGain


def posterior_quality(q, c, e):
    """The posterior mean of c delta^2, integrated: delta ~ N(0, e / c), z ~ N(delta, 1)."""
    z, spread = np.sqrt(q / c), np.sqrt(e / c)

    def likelihood(delta):
        return norm.pdf(z, delta, 1) * norm.pdf(delta, 0, spread)

    limits = {"limit": 200, "points": [0.0, z], "epsabs": 1e-12}
    span = 12 * max(spread, 1.0)
    total = quad(likelihood, -span, span, **limits)[0]
    return c * quad(lambda d: d**2 * likelihood(d), -span, span, **limits)[0] / total


def likeliest(q, c, x):
    """The a and b under which q / (c + a + b x) is most likely a squared standard normal."""

    def cost(coefficients):
        variance = c + coefficients[0] + coefficients[1] * x
        return np.sum(np.log(variance) + q / variance)

    bounds = [(0, None), (0, None)]
    return minimize(cost, [0.5, 0.5], bounds=bounds, method="L-BFGS-B", tol=1e-14).x


def drawn_from_the_model(seed, n=400, a=0.3, b=4.0):
    """Return true quality, measured quality and evidence, with noise 1."""
    rng = np.random.default_rng(seed)
    x = rng.random(n) ** 4
    delta = rng.normal(0, np.sqrt(a + b * x))
    return delta**2, (delta + rng.normal(size=n)) ** 2, x


qualities = arrays(np.float64, st.integers(8, 30), elements=st.floats(0, 20, width=16))


@pytest.mark.parametrize("noise_inflation", [1.0, 2.0])
def test_the_quality_is_the_posterior_mean(noise_inflation):
    _, q, x = drawn_from_the_model(0, n=40)
    found = shrink(q, 1.0, x, noise_inflation=noise_inflation)
    slow = [
        posterior_quality(q_j, noise_inflation**2, e_j)
        for q_j, e_j in zip(q, found.expected, strict=True)
    ]
    least = np.maximum(np.sqrt(q) - noise_inflation, 0.0) ** 2
    np.testing.assert_allclose(found.quality, np.maximum(slow, least), rtol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_expectation_is_the_likeliest_line(seed):
    _, q, x = drawn_from_the_model(seed, n=3000)
    c = np.random.default_rng(seed).uniform(0.5, 2.0, len(q))
    q = q * c
    a, b = likeliest(q, c, x)
    a, b, x = a + b * x.min(), b * np.ptp(x), (x - x.min()) / np.ptp(x)
    design = np.column_stack([np.ones(len(x)), x])
    information = (design / (c + a + b * x)[:, None] ** 2).T @ design / 2
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    floored = np.maximum([a, b], errors)
    np.testing.assert_allclose(expected_quality(q, c, x), design @ floored, rtol=2e-3)


def test_coefficients_are_at_least_their_standard_errors():
    q, x = np.ones(100), np.r_[np.ones(5), np.zeros(95)]
    expected = expected_quality(q, np.ones(100), x)
    slope = np.sqrt(2 * (1 / 5 + 1 / 95))
    np.testing.assert_allclose(expected[0] - expected[-1], slope)
    assert np.argsort(-shrink(q, 1.0, x).quality, kind="stable")[:5].tolist() == [0, 1, 2, 3, 4]


def test_shrunk_is_nearer_to_the_truth_than_either_source():
    true, q, x = drawn_from_the_model(5, n=2000)
    found = shrink(q, 1.0, x, noise_inflation=1.0)
    errors = [np.mean((each - true) ** 2) for each in (found.quality, q, q - 1, found.expected)]
    assert errors[0] < 0.75 * min(errors[1:])


def test_memory_counts_less_the_more_labels_there_are():
    true, _, x = drawn_from_the_model(6, n=500)
    gaps, weights = [], []
    for c in (1.0, 0.1, 0.001):
        scatter = np.random.default_rng(7).normal(size=len(true))
        q = (np.sqrt(true) + np.sqrt(c) * scatter) ** 2
        found = shrink(q, c, x)
        gaps.append(np.abs(found.quality - q).mean())
        weights.append(found.weight.mean())
    assert gaps[0] > 2 * gaps[1] > 10 * gaps[2]
    assert weights[0] < weights[1] < weights[2]


def test_an_overwhelming_effect_survives_a_memory_that_expects_nothing():
    rng = np.random.default_rng(8)
    x = np.r_[0.0, rng.random(300)]
    q = np.r_[60.0, (1 + 3 * x[1:]) * rng.chisquare(1, 300)]
    found = shrink(q, 1.0, x, noise_inflation=2.0)
    assert found.quality[0] >= (np.sqrt(60) - 2) ** 2
    assert found.quality.argmax() == 0


@settings(max_examples=100, deadline=None)
@given(qualities, st.floats(0, 5))
def test_constant_evidence_leaves_the_order_as_measured(q, x):
    found = shrink(q, 1.0, np.full(len(q), x))
    order = np.argsort(q, kind="stable")
    assert (np.diff(found.quality[order]) >= -1e-12).all()
    apart = np.diff(q[order]) > 1e-3
    assert (np.diff(found.quality[order])[apart] > 0).all()


@settings(max_examples=100, deadline=None)
@given(qualities, st.randoms(use_true_random=False))
def test_units_and_order_of_features_do_not_matter(q, random):
    assume(q.max() > 0.1)
    x = np.array([random.choice([0.0, 1e-9, random.randrange(1000) / 1000]) for _ in q])
    plain = shrink(q, 0.5, x)
    np.testing.assert_allclose(shrink(8 * q, 4.0, x).quality, 8 * plain.quality, rtol=1e-4)
    np.testing.assert_allclose(shrink(q, 0.5, 8 * x + 2).quality, plain.quality, rtol=1e-4)
    order = np.array(random.sample(range(len(q)), len(q)))
    np.testing.assert_allclose(
        shrink(q[order], 0.5, x[order]).quality, plain.quality[order], rtol=1e-4
    )
    assert ((plain.weight >= 0) & (plain.weight <= 1)).all()
    assert (np.sqrt(plain.quality) >= np.sqrt(q) - 2.5 * np.sqrt(0.5) - 1e-9).all()


def test_without_noise_there_is_nothing_to_shrink():
    q = np.array([0.0, 3.0, 1.0])
    np.testing.assert_array_equal(shrink(q, 0.0, [1.0, 0.0, 0.5]).quality, q)
    some = shrink(q, [0.0, 1.0, 1.0], [1.0, 0.0, 0.5])
    assert some.quality[0] == 0.0
    assert some.quality[1] != 3.0


def test_a_clean_split_by_fisher_does_not_drown_the_rest():
    rng = np.random.default_rng(9)
    x = rng.random(200)
    q = (1 + 3 * x) * rng.chisquare(1, 200)
    plain, with_split = shrink(q, 1.0, x), shrink(np.r_[1e15, q], 1.0, np.r_[0.5, x])
    assert with_split.quality[0] == pytest.approx(1e15, rel=1e-3)
    assert with_split.expected[1:].mean() < 10 * plain.expected.mean()


def test_chance_quality_is_that_of_the_hypergeometric_distribution():
    rng = np.random.default_rng(10)
    X = (rng.random((20, 3000)) < rng.uniform(0.05, 0.5, 3000)).astype(float)
    X = X[:, (X.sum(axis=0) > 0) & (X.sum(axis=0) < 20)]
    y = np.arange(20) % 2
    exact = []
    for d in X.sum(axis=0).astype(int):
        a = np.arange(max(0, d - 10), min(10, d) + 1)
        tables = np.zeros((20, len(a)))
        for column, in_first in enumerate(a):
            tables[:in_first, column] = 1
            tables[10 : 10 + d - in_first, column] = 1
        exact.append(hypergeom.pmf(a, 20, 10, d) @ InfoGain()(tables, np.arange(20) // 10))
        if len(exact) == 60:
            break
    drawn = chance_quality(X, y, InfoGain(), n_draws=10)
    assert np.abs(drawn[:60] - exact).mean() < 0.1 * np.mean(exact)


def test_features_with_more_values_have_more_noise():
    rng = np.random.default_rng(11)
    X = np.hstack([rng.integers(0, 2, (60, 40)), rng.integers(0, 4, (60, 40))]).astype(float)
    noise = chance_quality(X, rng.integers(0, 2, 60), InfoGain())
    assert noise[40:].mean() > 2 * noise[:40].mean()


def test_chance_quality_handles_clean_splits_and_features_without_any_quality():
    X = np.hstack([np.random.default_rng(12).integers(0, 2, (6, 300)), np.ones((6, 1))])
    y = np.arange(6) % 2
    assert 0 < chance_quality(X, y, Fisher()).max() < 1e4
    np.testing.assert_array_equal(chance_quality(np.ones((6, 2)), y, InfoGain()), [0.0, 0.0])


@pytest.mark.parametrize(
    ("given_wrong", "message"),
    [
        ({"evidence": [1.0]}, "one number for each feature"),
        ({"evidence": [1.0, -1.0]}, "evidence from 0"),
        ({"measured": [1.0, np.nan]}, "finite qualities"),
        ({"noise_inflation": 0}, "noise_inflation must be more than 0"),
    ],
)
def test_wrong_arguments_are_sentences(given_wrong, message):
    arguments = {"measured": [1.0, 2.0], "noise": 1.0, "evidence": [0.0, 1.0]} | given_wrong
    with pytest.raises(UsageError, match=message):
        shrink(**arguments)
