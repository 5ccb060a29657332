import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from metafs_metafeatures.mf_pfs.elimination import sizes_left
from metafs_metafeatures.mf_pfs.measurers import CallableMeasurer, TableMeasurer
from metafs_metafeatures.mf_pfs.predictive import (
    ALPHAS,
    alphas_of_steps,
    draw,
    eliminate_unmeasured,
    without_failures,
)
from metafs_metafeatures.mf_pfs.selector import MFPFS

from .problems import KNN, described, spread


def slow_mf_pfs(X, y, U, n, alphas, t, featquality, regalg, draws):
    """Algorithm 2 as printed; `draws` are the F_0 of each step. Returns F after each step."""
    F = list(range(X.shape[1]))
    history = []
    for step in range(len(draws)):
        if not len(F) > n:
            break
        F_0 = draws[step]
        assert len(F_0) == min(len(F), round(alphas[step] * n)) and set(F_0) <= set(F)
        Y_MF = featquality(X[:, F_0], y)
        X_MF = U[F_0]
        Q = clone(regalg).fit(X_MF, Y_MF)
        estimated = {j: Q.predict(U[[j]])[0] for j in F}
        n_out = min(max(1, int(t * len(F))), len(F) - n)
        for j in sorted(F, key=lambda j: estimated[j])[:n_out]:
            F.remove(j)
        history.append(list(F))
    assert len(F) == n
    return history, estimated


class Recording(TableMeasurer):
    """A table that remembers in which order it was asked."""

    def __init__(self, X):
        super().__init__(X)
        self.asked = []

    def measure(self, features):
        self.asked.append([int(j) for j in features])
        return super().measure(features)


@settings(max_examples=40, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    st.integers(0, 2**31),
    st.integers(10, 14),
    st.integers(2, 90),
    st.sampled_from([0.3, 0.5, 0.7]),
    st.booleans(),
)
def test_the_elimination_is_the_published_one(seed, n, more, t, reuse):
    rng = np.random.default_rng(seed)
    N = n + more
    X, U, y = rng.normal(size=(12, N)), rng.normal(size=(N, 2)), np.arange(12) % 2
    measurer = Recording(X)
    quality, regressor = spread, LinearRegression() if seed % 2 else KNN
    found = eliminate_unmeasured(
        measurer, y, U, n, rng, t=t, quality=quality, regressor=regressor, reuse=reuse
    )
    sizes = sizes_left(N, n, t)
    alphas = alphas_of_steps(ALPHAS, len(sizes))
    history, estimated = slow_mf_pfs(X, y, U, n, alphas, t, quality, regressor, measurer.asked)
    assert [step.n_left for step in found.steps] == sizes
    for F in history:
        assert sorted(found.order[N - len(F) :]) == F
    np.testing.assert_allclose(
        found.expected[list(estimated)], list(estimated.values()), rtol=1e-9, atol=1e-12
    )
    best = found.expected[found.order[-n:]]
    assert np.all(np.diff(best) >= -1e-9 * np.abs(best).max())
    assert found.n_evaluations == sum(map(len, measurer.asked))
    assert sum(step.n_new for step in found.steps) == measurer.n_measured


def test_the_steps_from_10n_are_those_of_the_paper():
    for n in (20, 100, 500):
        sizes = sizes_left(10 * n, n, 0.5)
        assert len(sizes) == 4 and sizes[1] == 5 * n
        np.testing.assert_array_equal(alphas_of_steps(ALPHAS, 4), [0.4, 0.8, 1.0, 1.2])
    X, y, U, _ = described(n_features=500)
    steps = MFPFS(50, random_state=0, regressor=KNN).fit(X, y, meta_features=U).steps_
    assert [(s.n_left, s.n_drawn) for s in steps] == [(500, 20), (250, 40), (125, 50), (63, 60)]


@given(st.lists(st.floats(0.1, 3), min_size=1, max_size=5), st.integers(1, 9))
def test_alpha_is_interpolated_and_ends_with_the_last(alpha, n_steps):
    alphas = alphas_of_steps(alpha, n_steps)
    assert len(alphas) == n_steps and alphas[-1] == alpha[-1]
    assert alphas.min() >= min(alpha) - 1e-12 and alphas.max() <= max(alpha) + 1e-12
    if n_steps > 1:
        assert alphas[0] == alpha[0]
    if n_steps == len(alpha):
        np.testing.assert_allclose(alphas, alpha)


@pytest.mark.parametrize(("reuse", "expected"), [(True, 2.3), (False, 2.6)])
def test_about_a_quarter_of_10n_features_is_measured(reuse, expected):
    X, y, U, _ = described(n_features=1000)
    shares = [
        MFPFS(100, random_state=seed, quality=spread, regressor=LinearRegression(), reuse=reuse)
        .fit(X, y, meta_features=U)
        .n_measured_
        / 100
        for seed in range(5)
    ]
    assert np.mean(shares) == pytest.approx(expected, abs=0.1)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 30), st.integers(1, 40))
def test_draws_are_different_features_of_those_left(seed, n_left, count):
    rng = np.random.default_rng(seed)
    left = np.sort(rng.permutation(40)[:n_left])
    known, expected = rng.random(40) < 0.3, rng.random(40) * (rng.random(40) < 0.3)
    for options in ({}, {"known": known}, {"expected": expected},
                    {"known": known, "expected": expected}):  # fmt: skip
        drawn = draw(left, count, rng, **options)
        assert len(drawn) == len(set(drawn.tolist())) == min(count, n_left)
        assert set(drawn.tolist()) <= set(left.tolist())
        if "known" in options:
            assert known[drawn].sum() == min(count, known[left].sum())


def test_every_feature_is_drawn_equally_often():
    counts = np.zeros(20)
    for seed in range(2000):
        counts[draw(np.arange(20), 5, np.random.default_rng(seed))] += 1
    assert np.abs(counts - 500).max() < 100


def test_a_prior_says_who_is_measured_first():
    expected = np.zeros(100)
    expected[[3, 50, 70]] = 0.5, 0.9, 0.7
    drawn = draw(np.arange(100), 4, np.random.default_rng(0), expected=expected)
    assert drawn[:2].tolist() == [50, 70] and not set(drawn[2:].tolist()) & {50, 70}
    X, y, U, _ = described(n_features=100)
    asked = []
    MFPFS(20, random_state=0, regressor=KNN).fit_measured(
        lambda j: asked.append(j) or X[:, j], y, U, prior=expected
    )
    assert asked[:3] == [50, 70, 3]
    without = MFPFS(20, random_state=0, regressor=KNN).fit(X, y, meta_features=U)
    nothing = MFPFS(20, random_state=0, regressor=KNN).fit(
        X, y, meta_features=U, prior=np.zeros(100)
    )
    np.testing.assert_array_equal(without.scores_, nothing.scores_)


def test_equal_predictions_are_decided_by_chance_not_by_place():
    X, y, _, _ = described(n_features=100)
    kept = [
        MFPFS(10, random_state=seed, regressor=KNN)
        .fit(X, y, meta_features=np.ones(100))
        .get_support()
        for seed in range(4)
    ]
    assert not all(each[:10].all() for each in kept)
    assert np.mean(kept, axis=0).max() < 1.0


def test_the_next_best_takes_the_place_of_one_that_fails_at_the_end():
    X = np.eye(6)
    measurer = CallableMeasurer(lambda j: X[:, j] if j != 4 else 1 / 0, n_features=6)
    order, n = without_failures(measurer, np.array([5, 0, 1, 2, 3, 4]), 2)
    assert order.tolist() == [4, 5, 0, 1, 2, 3] and n == 2
    assert measurer.n_measured == 3
