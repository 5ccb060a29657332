from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import metafs_metafeatures
from metafs import Registry
from metafs.errors import MetafsError, ProblemError, UsageError
from metafs.stats.quality_map import (
    QualityMap,
    contributions,
    correlation,
    held_out_correlation,
    held_out_quality,
    quality_map,
)
from metafs.stats.smoothing import chance_qualities, shrunk, spread_around_map

REGISTRY = Registry()
REGRESSORS = REGISTRY.regressors
RIDGE = BayesianRidge()


def planted(n=120, k=3, noise=0.1, seed=0):
    """Quality that depends on the first meta-feature, and slightly on the second."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(n, k))
    return U, U[:, 0] + 0.3 * U[:, 1] + noise * rng.normal(size=n)


def planted_table(seed=0, n_samples=2000, n_features=60):
    """Columns whose relevance grows with their only meta-feature."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(size=n_features)
    y = rng.integers(0, 2, n_samples)
    return rng.normal(size=(n_samples, n_features)) + 0.6 * np.outer(y, u), y, u


@pytest.mark.parametrize("measure", ["infogain", "fisher", "svm-weights"])
@pytest.mark.parametrize("regressor", sorted(REGRESSORS))
def test_any_measure_and_any_regressor(measure, regressor):
    X, y, u = planted_table()
    measure, regressor = REGISTRY.measures[measure], REGRESSORS[regressor]
    map = quality_map(X[:, :40], y, u[:40], measure, regressor)
    predicted = map.predict(u[40:])
    assert correlation(predicted, measure(X, y)[40:]) > 0.6
    assert map.n_measured_ == 40


def test_it_is_algorithm_1():
    X, y, u = planted_table()
    U = np.column_stack([u, np.arange(60.0)])
    quality = REGISTRY.measures["fisher"](X, y)
    expected = clone(RIDGE).fit(U, quality).predict(U)
    map = quality_map(X, y, U, REGISTRY.measures["fisher"], RIDGE)
    np.testing.assert_array_equal(map.predict(U), expected)
    assert metafs_metafeatures.quality_map is quality_map
    assert metafs_metafeatures.QualityMap is QualityMap


def test_unknown_meta_features_are_the_median_of_the_known():
    U, quality = planted()
    U[:10, 0], U[:, 2] = np.nan, np.nan
    filled = U.copy()
    filled[:10, 0], filled[:, 2] = np.nanmedian(U[:, 0]), 0.0
    map = QualityMap(RIDGE).fit(U, quality)
    np.testing.assert_array_equal(map.predict(U), clone(RIDGE).fit(filled, quality).predict(filled))
    np.testing.assert_array_equal(map.medians_, np.median(filled, axis=0) * [1, 1, 0])
    unknown = map.predict([[np.nan, np.nan, np.nan]])
    np.testing.assert_array_equal(unknown, map.predict([map.medians_]))


@pytest.mark.parametrize("name", sorted(REGRESSORS))
def test_constant_and_missing_meta_features_do_no_harm(name):
    U, quality = planted()
    worse = np.column_stack([U, np.full(120, 7.0), np.full(120, np.nan)])
    worse[::9, 1] = np.nan
    assert held_out_correlation(worse, quality, REGRESSORS[name]) > 0.8


def test_features_of_unknown_quality_are_left_out():
    U, quality = planted()
    quality[30:] = np.nan
    map = QualityMap(RIDGE).fit(U, quality)
    assert map.n_measured_ == 30
    np.testing.assert_array_equal(
        map.predict(U), QualityMap(RIDGE).fit(U[:30], quality[:30]).predict(U)
    )


def test_features_of_unknown_quality_do_not_decide_what_unknown_meta_features_are():
    U, quality = planted()
    U[:5, 0], quality[30:] = np.nan, np.nan
    other = U.copy()
    other[30:] = np.where(np.arange(90)[:, None] % 2, np.nan, 1e6)
    one, two = (QualityMap(RIDGE).fit(each, quality) for each in (U, other))
    np.testing.assert_array_equal(one.medians_, np.nanmedian(U[:30], axis=0))
    np.testing.assert_array_equal(two.medians_, one.medians_)
    np.testing.assert_array_equal(two.predict(U), one.predict(U))


def test_weights_reach_the_regressor():
    U, quality = planted()
    weight = np.r_[np.ones(60), np.zeros(60)]
    quality[3] = np.nan
    found = QualityMap(RIDGE).fit(U, quality, weight)
    known = np.delete(np.arange(120), 3)
    expected = clone(RIDGE).fit(U[known], quality[known], sample_weight=weight[known])
    np.testing.assert_allclose(found.predict(U), expected.predict(U))
    for wrong in (np.ones(5), -weight, weight * np.nan):
        with pytest.raises(UsageError, match="sample_weight"):
            QualityMap(RIDGE).fit(U, quality, wrong)


def test_how_sure_it_is():
    U, quality = planted()
    map = QualityMap(RIDGE).fit(U, quality)
    prediction, std = map.predict(U, return_std=True)
    np.testing.assert_array_equal(prediction, map.predict(U))
    assert std.shape == (120,) and (std > 0).all()
    with pytest.raises(UsageError, match="gives no standard deviations"):
        QualityMap(KNeighborsRegressor()).fit(U, quality).predict(U, return_std=True)


def test_bad_input_is_a_sentence():
    U, quality = planted(20)
    fit = QualityMap(RIDGE).fit
    with pytest.raises(ProblemError, match="no feature has a known quality"):
        fit(U, np.full(20, np.nan))
    with pytest.raises(ProblemError, match="2 meta-features given, but the map was learnt from 3"):
        fit(U, quality).predict(U[:, :2])
    with pytest.raises(ProblemError, match=r"shape \(20, 3\) for 19 features"):
        fit(U, quality[:-1])
    with pytest.raises(ProblemError, match="quality of feature 5 is infinite"):
        fit(U, np.where(np.arange(20) == 4, np.inf, quality))
    with pytest.raises(ProblemError, match="infinite value"):
        fit(np.where(np.arange(20)[:, None] == 4, np.inf, U), quality)
    with pytest.raises(UsageError, match="no meta-features"):
        fit(None, quality)
    with pytest.raises(ProblemError, match="1 feature of known quality cannot be divided"):
        held_out_quality(U, np.r_[1.0, np.full(19, np.nan)], RIDGE)
    with pytest.raises(ProblemError, match="3 features of known quality cannot be divided into"):
        held_out_correlation(U[:3], quality[:3], RIDGE)
    for held_out in (held_out_quality, held_out_correlation):
        with pytest.raises(UsageError, match="n_folds"):
            held_out(U, quality, RIDGE, n_folds=1)
    with pytest.raises(MetafsError, match="duplicate"):
        contributions(U, quality, RIDGE, names=["a", "b", "a"])


class Remembering(LinearRegression):
    """Predicts 0 for what it has not seen, 1 for what it has."""

    def fit(self, X, y):
        self.seen_ = set(map(tuple, X))
        return self

    def predict(self, X):
        return np.array([float(tuple(x) in self.seen_) for x in X])


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 23), st.integers(2, 6), st.integers(0, 99))
def test_no_feature_is_predicted_by_a_map_that_has_seen_it(n, n_folds, seed):
    U, quality = planted(n)
    quality[2:][::3] = np.nan
    predicted = held_out_quality(U, quality, Remembering(), n_folds=n_folds, random_state=seed)
    assert not predicted.any()


def test_held_out_predictions_are_those_of_the_other_folds():
    U, quality = planted(10)
    alone = held_out_quality(U, quality, RIDGE, n_folds=10)
    for j in range(10):
        others = np.arange(10) != j
        expected = clone(RIDGE).fit(U[others], quality[others]).predict(U[[j]])
        np.testing.assert_allclose(alone[j], expected[0])


def test_what_each_meta_feature_contributes():
    U, quality = planted(400)
    found = contributions(U, quality, RIDGE, names=["much", "little", "nothing"])
    assert list(found) == ["much", "little", "nothing"]
    assert found["much"] > 0.3 > found["little"] > 0.02 > abs(found["nothing"])
    expected = held_out_correlation(U, quality, RIDGE) - held_out_correlation(
        U[:, 1:], quality, RIDGE
    )
    assert found["much"] == expected
    assert list(contributions(U[:, :1], quality, RIDGE)) == ["m0"]
    assert contributions(U[:, 0], quality, RIDGE)["m0"] == held_out_correlation(
        U[:, 0], quality, RIDGE
    )


@pytest.mark.parametrize("n", range(4, 13))
@pytest.mark.parametrize("n_folds", [2, 5, 50])
def test_perfect_predictions_correlate_perfectly_even_if_few(n, n_folds):
    u = np.random.default_rng(n).permutation(n).astype(float)
    quality = np.append(2 * u + 1, np.nan)
    found = held_out_correlation(np.append(u, 0.0), quality, LinearRegression(), n_folds=n_folds)
    assert found == pytest.approx(1.0)
    drop = contributions(np.append(u, 0.0), quality, LinearRegression(), n_folds=n_folds)["m0"]
    assert drop == found


def test_noise_cannot_be_predicted():
    rng = np.random.default_rng(0)
    found = [
        held_out_correlation(rng.normal(size=(100, 2)), rng.normal(size=100), RIDGE)
        for _ in range(10)
    ]
    assert abs(np.mean(found)) < 0.1


# smoothing


def slow_shrunk(q, m, s2):
    tau2 = max(0.0, sum((a - b) ** 2 - s for a, b, s in zip(q, m, s2, strict=True)) / len(q))
    return [
        b + (tau2 / (tau2 + s) if tau2 + s > 0 else 1.0) * (a - b)
        for a, b, s in zip(q, m, s2, strict=True)
    ]


QUALITIES = arrays(np.float64, (6,), elements=st.floats(-3, 3))
VARIANCES = arrays(np.float64, (6,), elements=st.sampled_from([0.0, 0.1, 1.0, 5.0]))


@settings(max_examples=60, deadline=None)
@given(QUALITIES, QUALITIES, VARIANCES)
def test_shrinking_is_that_of_the_formula(q, m, s2):
    found = shrunk(q, m, s2)
    np.testing.assert_allclose(found, slow_shrunk(q, m, s2))
    slack = 1e-12
    assert (np.minimum(q, m) - slack <= found).all() and (found <= np.maximum(q, m) + slack).all()
    np.testing.assert_array_equal(shrunk(q, m, 0.0), m + (q - m))


def test_noise_that_explains_all_leaves_the_map():
    rng = np.random.default_rng(0)
    m = rng.normal(size=500)
    q = m + rng.normal(size=500)
    assert spread_around_map(q, m, 5.0) == 0.0
    np.testing.assert_array_equal(shrunk(q, m, 5.0), m)
    q[7] = np.nan
    assert shrunk(q, m, 1.0)[7] == m[7]
    assert spread_around_map(np.full(3, np.nan), m[:3], 1.0) == 0.0
    with pytest.raises(UsageError, match="variance"):
        shrunk(q, m, -1.0)


def test_the_spread_around_the_map_is_found():
    rng = np.random.default_rng(0)
    m, s2 = rng.normal(size=5000), rng.uniform(0.1, 2.0, size=5000)
    q = m + rng.normal(0, 0.7, size=5000) + rng.normal(size=5000) * np.sqrt(s2)
    assert abs(spread_around_map(q, m, s2) - 0.49) < 0.1


def test_smoothed_is_nearer_to_the_truth_than_either():
    rng = np.random.default_rng(0)
    U = rng.normal(size=(2000, 2))
    true = U[:, 0] + 0.7 * rng.normal(size=2000)
    measured = true + rng.normal(size=2000)
    predicted = held_out_quality(U, measured, RIDGE)
    smoothed = shrunk(measured, predicted, 1.0)
    error = [np.mean((q - true) ** 2) for q in (smoothed, measured, predicted)]
    assert error[0] < 0.8 * min(error[1:])
    shuffled = shrunk(measured, held_out_quality(U[rng.permutation(2000)], measured, RIDGE), 1.0)
    assert error[0] < 0.8 * np.mean((shuffled - true) ** 2)


def difference(X, y):
    return (X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)) ** 2


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_what_chance_does_to_a_measurement(kind):
    """Against every way in which the classes could be dealt to the rows."""
    X = np.random.default_rng(0).integers(0, 3, size=(7, 4)).astype(float)
    y = np.array([1, 1, 1, 0, 0, 0, 0])
    dealt = [np.isin(np.arange(7), ones).astype(int) for ones in combinations(range(7), 3)]
    every = np.var([difference(X, each) for each in dealt], axis=0)
    found = np.var(chance_qualities(kind(X), y, difference, n_draws=3000), axis=0)
    np.testing.assert_allclose(found, every, rtol=0.15)


def test_chance_is_seeded_and_says_what_is_wrong():
    X, y, _ = planted_table(n_samples=30)
    one, two = (chance_qualities(X, y, difference, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert (chance_qualities(X, y, difference) != one).any()
    with pytest.raises(UsageError, match="n_draws"):
        chance_qualities(X, y, difference, n_draws=1)
