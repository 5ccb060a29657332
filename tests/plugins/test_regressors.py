import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import metafs_regressors.gp
import metafs_regressors.nearest
import metafs_regressors.weighted_knn
from metafs.errors import UsageError
from metafs.regression import fitted, knows_how_sure, predicted_with_std, takes_weights
from metafs.testing.regressors import check_standard_deviations
from metafs_regressors import Forest, GaussianProcess, UpToKNeighbors, WeightedKNN
from metafs_regressors import metafs_regressors as offered
from metafs_regressors.gp import log_likelihood, most_likely
from metafs_regressors.nearest import neighbours, other_neighbours, smallest
from metafs_regressors.weighted_knn import ascend, estimates, gradient, leave_one_out_errors

NAMES = sorted(offered())
KNOWING = [name for name in NAMES if name != "knn"]


def planted(m=300, n=4, noise=0.1, seed=0):
    """A target made of the first two columns; the others tell nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=m)


def slow_estimate(X, y, w, beta, k, i):
    """f_w of row i from the k nearest others, and these, as the definition has it."""
    d = [(sum(w**2 * (X[i] - X[j]) ** 2), j) for j in range(len(X)) if j != i]
    near = sorted(d)[:k]
    Z = sum(np.exp(-each / beta) for each, _ in near)
    return sum(y[j] * np.exp(-each / beta) for each, j in near) / Z, [j for _, j in near]


def slow_evaluation(X, y, w, beta, k, rows):
    return -0.5 * sum((y[i] - slow_estimate(X, y, w, beta, k, i)[0]) ** 2 for i in rows)


def forest_exemptions(estimator):
    if isinstance(estimator, Forest):
        reason = "trees draw rows, so a row of weight two is not a row that is there twice"
        return {"check_sample_weight_equivalence_on_dense_data": reason}
    return {}


@parametrize_with_checks(
    [
        WeightedKNN(n_steps=20, random_state=0),
        GaussianProcess(max_tuning_rows=60, random_state=0),
        Forest(10, random_state=0),
        UpToKNeighbors(),
    ],
    expected_failed_checks=forest_exemptions,
    xfail_strict=True,
)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


def test_what_is_offered():
    assert NAMES == ["forest", "gp", "knn", "ridge", "weighted-knn"]
    assert [name for name in NAMES if knows_how_sure(offered()[name])] == KNOWING
    assert [name for name in NAMES if takes_weights(offered()[name])] == ["forest", "ridge"]


@pytest.mark.parametrize("name", NAMES)
def test_units_do_not_matter(name):
    """Columns of other units, and a target of another unit, change nothing but the unit."""
    X, y = planted(120)
    scaled = X * [1e3, 1e-3, 8.0, 1.0] + [5.0, 0.0, 0.0, 2.0]
    one = offered()[name].fit(X[:80], y[:80]).predict(X[80:])
    other = offered()[name].fit(scaled[:80], 1000 * y[:80] + 7).predict(scaled[80:])
    # A split of a tree may lie between the same rows at another value.
    np.testing.assert_allclose((other - 7) / 1000, one, atol=0.05 if name == "forest" else 1e-3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("m", [1, 2, 3, 7])
def test_few_rows_and_constant_columns_are_enough(name, m):
    X, y = planted(m)
    X[:, 1] = 3.0
    map = offered()[name].fit(X, y)
    assert np.isfinite(map.predict(X)).all()
    if name in KNOWING:
        assert np.isfinite(map.predict(X, return_std=True)[1]).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_target_is_predicted(name):
    X, _ = planted(30)
    np.testing.assert_allclose(offered()[name].fit(X, np.full(30, 5.0)).predict(X + 1), 5.0)


@pytest.mark.parametrize("name", NAMES)
def test_a_column_that_is_constant_changes_little(name):
    X, y = planted(150)
    with_constant = np.column_stack([X, np.full(150, 3.0)])
    one = offered()[name].fit(X[:100], y[:100]).predict(X[100:])
    two = offered()[name].fit(with_constant[:100], y[:100]).predict(with_constant[100:])
    assert np.corrcoef(one, two)[0, 1] > (0.97 if name == "forest" else 0.9999)


@pytest.mark.parametrize("noise", [0.3, 1.5])
@pytest.mark.parametrize("name", [name for name in KNOWING if name != "ridge"])
def test_standard_deviations_are_about_right(name, noise):
    X, y = planted(800, noise=noise)
    prediction, std = offered()[name].fit(X[:400], y[:400]).predict(X[400:], return_std=True)
    assert 0.75 < np.sqrt(np.mean(((y[400:] - prediction) / std) ** 2)) < 1.25


def test_a_pipeline_answers_for_its_last_step():
    inner = make_pipeline(StandardScaler(), BayesianRidge())
    outer = make_pipeline(StandardScaler(), inner)
    assert knows_how_sure(outer) and takes_weights(outer)
    assert not knows_how_sure(make_pipeline(StandardScaler(), LinearRegression()))
    X, y = planted(60)
    weight = np.r_[np.ones(30), np.zeros(30)]
    found = fitted(outer, X, y, weight)
    scaled = StandardScaler().fit(X)
    expected = BayesianRidge().fit(scaled.transform(X), y, sample_weight=weight)
    np.testing.assert_allclose(found.predict(X), expected.predict(scaled.transform(X)))
    assert not hasattr(outer, "n_features_in_")


def test_what_a_regressor_cannot_do_is_said():
    X, y = planted(20)
    with pytest.raises(UsageError, match="KNeighborsRegressor cannot weight features"):
        fitted(make_pipeline(StandardScaler(), KNeighborsRegressor()), X, y, np.ones(20))
    with pytest.raises(UsageError, match="KNeighborsRegressor does not tell how sure"):
        predicted_with_std(KNeighborsRegressor().fit(X, y), X)


class Boasting(BayesianRidge):
    def predict(self, X, return_std=False):
        prediction = super().predict(X)
        return (prediction + 1, np.ones(len(X))) if return_std else prediction


class Unsure(BayesianRidge):
    def predict(self, X, return_std=False):
        prediction = super().predict(X)
        return (prediction, np.full(len(X), np.nan)) if return_std else prediction


@pytest.mark.parametrize("broken", [Boasting(), Unsure()])
def test_the_law_of_standard_deviations_catches(broken):
    check_standard_deviations(BayesianRidge())
    with pytest.raises(AssertionError):
        check_standard_deviations(broken)


# weighted-knn

TABLES = st.tuples(st.integers(4, 9), st.integers(0, 2**31)).map(
    lambda of: (
        np.random.default_rng(of[1]).normal(size=(of[0], 3)),
        np.random.default_rng(of[1] + 1).normal(size=of[0]),
    )
)
WEIGHTS = arrays(np.float64, (3,), elements=st.floats(0.1, 2.0))


@settings(max_examples=40, deadline=None)
@given(TABLES, WEIGHTS, st.integers(1, 3), st.floats(0.5, 4.0))
def test_estimates_are_those_of_the_definition(table, w, k, beta):
    X, y = table
    rows = np.arange(len(X))
    near, distance = other_neighbours(X * w, rows, k)
    f, p = estimates(distance, y[near], beta)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    for i in rows:
        expected, neighbours = slow_estimate(X, y, w, beta, k, i)
        np.testing.assert_array_equal(near[i], neighbours)
        np.testing.assert_allclose(f[i], expected, rtol=1e-6, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(TABLES, WEIGHTS, st.floats(0.5, 4.0))
def test_the_gradient_is_that_of_the_evaluation(table, w, beta):
    """With all other rows as neighbours, so that no neighbour comes or goes in a small step."""
    X, y = table
    rows, k = np.array([0, 2, 3]), len(X) - 1
    slopes = approx_fprime(w, lambda v: slow_evaluation(X, y, v, beta, k, rows), 1e-6)
    np.testing.assert_allclose(gradient(X, y, w, beta, rows, k), slopes, rtol=1e-3, atol=1e-4)


@settings(max_examples=25, deadline=None)
@given(TABLES, st.lists(st.integers(1, 3), min_size=1, max_size=3, unique=True))
def test_one_search_serves_every_number_of_neighbours(table, ks):
    X, y = table
    ks, betas, rows = sorted(ks), np.array([0.7, 3.0]), np.arange(len(X))
    near, distance = other_neighbours(X, rows, ks[-1])
    found = leave_one_out_errors(distance, y[near], y, ks, betas)
    for i, k in enumerate(ks):
        for j, beta in enumerate(betas):
            expected = -2 * slow_evaluation(X, y, np.ones(3), beta, k, rows) / len(X)
            np.testing.assert_allclose(found[i, j], expected, rtol=1e-6)


def test_distances_in_parts_are_the_same(monkeypatch):
    X, _ = planted(40)
    whole, other = other_neighbours(X, np.arange(40), 5), neighbours(X[:9], X[9:], 5)
    monkeypatch.setattr(metafs_regressors.nearest, "_CELLS", 100)
    np.testing.assert_array_equal(other_neighbours(X, np.arange(40), 5)[0], whole[0])
    np.testing.assert_array_equal(neighbours(X[:9], X[9:], 5)[0], other[0])


@settings(max_examples=60, deadline=None)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 3), st.integers(20, 60)),
        elements=st.one_of(
            st.sampled_from([0.0, 1.0, 1.0 + 1e-12, 1e300, np.inf]), st.floats(-10, 10)
        ),
    ),
    st.integers(1, 4),
    st.sampled_from([4, 128]),
)
def test_the_smallest_are_the_first_when_sorted(values, k, groups):
    """Also among equals, values alike in single precision or beyond it, and by groups."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metafs_regressors.nearest, "_GROUPS", groups)
        found = smallest(values, k)
    assert all(len(set(each)) == k for each in found)
    np.testing.assert_array_equal(found // values.shape[1], np.indices(found.shape)[0])
    np.testing.assert_array_equal(
        np.sort(values.ravel()[found], axis=1), np.sort(values, axis=1)[:, :k]
    )


def test_the_ascent_ascends():
    X, y = planted(60, n=3)
    batches = np.tile(np.arange(60), (60, 1))
    w = ascend(X, y, 2.0, 8, batches)
    start, end = (slow_evaluation(X, y, v, 2.0, 8, range(60)) for v in (np.ones(3), w))
    assert end > 0.6 * start > start  # both are negative
    assert abs(w[2]) < min(w[:2]) / 2


def test_weights_find_the_columns_and_help():
    X, y = planted(800, n=12)
    learnt = WeightedKNN(random_state=0).fit(X[:400], y[:400])
    assert set(np.argsort(-learnt.weights_)[:2]) == {0, 1}
    equal = clone(learnt).set_params(n_steps=0).fit(X[:400], y[:400])
    np.testing.assert_array_equal(equal.weights_, 1.0)
    errors = [np.mean((map.predict(X[400:]) - y[400:]) ** 2) for map in (learnt, equal)]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("seed", range(3))
def test_few_rows_of_many_columns_teach_no_weights(seed):
    """Learnt weights always fit the rows better; with as many columns as rows that is no merit."""
    rng = np.random.default_rng(seed)
    map = WeightedKNN(random_state=0).fit(rng.normal(size=(20, 20)), rng.normal(size=20))
    np.testing.assert_array_equal(map.weights_, 1.0)


def test_noise_is_not_followed_far():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(900, 5)), rng.normal(size=900)
    map = WeightedKNN(random_state=0).fit(X[:300], y[:300])
    assert np.mean((map.predict(X[300:]) - y[300:]) ** 2) < 1.15


def test_given_neighbours_and_beta_are_used():
    X, y = planted(50)
    map = WeightedKNN(7, beta=2.5, n_steps=0, random_state=0).fit(X, y)
    assert (map.n_neighbors_, map.beta_) == (7, 2.5)
    Z = StandardScaler().fit(X).transform(np.vstack([X, [[0.3, 0.1, 0.0, 0.2]]]))
    d = ((Z[:-1] - Z[-1]) ** 2).sum(axis=1)
    near = np.argsort(d)[:7]
    expected = np.average(y[near], weights=np.exp(-d[near] / 2.5))
    np.testing.assert_allclose(map.predict([[0.3, 0.1, 0.0, 0.2]]), expected)
    assert WeightedKNN(99, random_state=0).fit(X, y).n_neighbors_ == 49


def test_the_spread_is_that_of_the_neighbours_and_of_their_mean():
    X, y = planted(50)
    map = WeightedKNN(1, n_steps=0, random_state=0).fit(X, y)
    np.testing.assert_allclose(map.predict(X, return_std=True)[1], map.noise_)
    errors = [
        y[i] - slow_estimate(StandardScaler().fit_transform(X), y, 1.0, 1.0, 1, i)[0]
        for i in range(50)
    ]
    np.testing.assert_allclose(map.noise_, np.sqrt(np.mean(np.square(errors))))


def test_more_rows_than_weights_are_learnt_from(monkeypatch):
    monkeypatch.setattr(metafs_regressors.weighted_knn, "LEARNING_ROWS", 100)
    X, y = planted(400)
    map = WeightedKNN(random_state=0).fit(X, y)
    assert map._tree.n_samples_fit_ == 400
    assert np.corrcoef(map.predict(X), y)[0, 1] > 0.9
    by_tree = map.predict(X + 0.1, return_std=True)
    map._tree = None
    np.testing.assert_allclose(map.predict(X + 0.1, return_std=True), by_tree)


@pytest.mark.parametrize(
    "wrong", [{"n_neighbors": 0}, {"beta": -1.0}, {"n_steps": -1}, {"batch_size": 0.5}]
)
def test_wrong_parameters_are_a_sentence(wrong):
    with pytest.raises(UsageError, match=next(iter(wrong))):
        WeightedKNN(**wrong).fit([[0.0], [1.0]], [0.0, 1.0])


# gp


def peer_kernel(theta, n):
    rbf = RBF(np.exp(theta[1 : n + 1]))
    return ConstantKernel(np.exp(theta[0])) * rbf + WhiteKernel(np.exp(theta[-1]))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31), arrays(np.float64, (5,), elements=st.floats(-1, 1)))
def test_the_likelihood_is_scikit_learns(seed, theta):
    X, y = planted(12, n=3, seed=seed)
    peer = GaussianProcessRegressor(peer_kernel(theta, 3), alpha=0.0, optimizer=None).fit(X, y)
    value, slope = peer.log_marginal_likelihood(peer.kernel_.theta, eval_gradient=True)
    found = log_likelihood(theta, X, y)
    np.testing.assert_allclose(found[0], value, rtol=1e-8)
    np.testing.assert_allclose(found[1], slope, rtol=1e-6, atol=1e-8)


def test_predictions_are_scikit_learns():
    X, y = planted(60)
    ours = GaussianProcess(random_state=0).fit(X, y)
    theta = np.log([ours.amplitude_, *ours.lengths_, ours.noise_])
    scaler = StandardScaler().fit(X)
    peer = GaussianProcessRegressor(
        peer_kernel(theta, 4), alpha=0.0, optimizer=None, normalize_y=True
    ).fit(scaler.transform(X), y)
    new, _ = planted(30, seed=1)
    expected, std = peer.predict(scaler.transform(new), return_std=True)
    found = ours.predict(new, return_std=True)
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    np.testing.assert_allclose(found[1], std, rtol=1e-6)


def test_the_most_likely_is_a_maximum():
    X, y = planted(60, n=2)
    q = (y - y.mean()) / y.std()
    amplitude, lengths, noise = most_likely(X, q)
    best = np.log([amplitude, *lengths, noise])
    value, slope = log_likelihood(best, X, q)
    assert np.abs(slope).max() < 0.05
    rng = np.random.default_rng(0)
    assert all(log_likelihood(best + rng.normal(0, 0.2, 4), X, q)[0] < value for _ in range(20))


def test_columns_that_tell_nothing_are_long():
    X, y = planted(150)
    lengths = GaussianProcess(random_state=0).fit(X, y).lengths_
    assert lengths[:2].max() < lengths[2:].min()


def test_many_rows_are_quick_and_in_parts(monkeypatch):
    monkeypatch.setattr(metafs_regressors.gp, "_ROWS", 1000)
    X, y = planted(20_000)
    map = GaussianProcess(max_rows=100, max_tuning_rows=50, random_state=0).fit(X, y)
    assert len(map.rows_) == 100
    assert np.corrcoef(map.predict(X), y)[0, 1] > 0.9
    np.testing.assert_allclose(map.predict(X)[1500:1510], map.predict(X[1500:1510]))


# forest


def test_the_variance_is_that_of_the_mixture_of_leaves():
    X, y = planted(80)
    ours = Forest(8, random_state=0).fit(X, y)
    peer = RandomForestRegressor(8, min_samples_leaf=5, random_state=0).fit(X.astype("f4"), y)
    prediction, std = ours.predict(X[:5], return_std=True)
    np.testing.assert_allclose(prediction, peer.predict(X[:5].astype("f4")))
    for x, s in zip(X[:5].astype("f4"), std, strict=True):
        members = []
        for tree, rows in zip(peer.estimators_, peer.estimators_samples_, strict=True):
            leaf = tree.apply(x[None])[0]
            inside = y[rows][tree.apply(X[rows].astype("f4")) == leaf]
            members.append((inside.mean(), inside.var()))
        means, variances = np.array(members).T
        expected = ours.calibration_ * np.sqrt(variances.mean() + means.var())
        np.testing.assert_allclose(s, expected)


def test_a_tree_sees_no_more_rows_than_it_may():
    X, y = planted(300)
    forest = Forest(5, max_rows=50, random_state=0).fit(X, y)
    assert {len(rows) for rows in forest.forest_.estimators_samples_} == {50}
    with pytest.raises(UsageError, match="max_rows"):
        Forest(max_rows=0).fit(X, y)


def test_heavier_rows_count_more():
    X = np.zeros((40, 1))
    y = np.r_[np.zeros(20), np.ones(20)]
    for name in ("forest", "ridge"):
        map = fitted(offered()[name], X, y, np.r_[np.ones(20), np.full(20, 3.0)])
        assert 0.65 < map.predict([[0.0]])[0] < 0.85


def test_threads_do_not_change_the_forest():
    X, y = planted(100)
    one, two = (Forest(10, random_state=3, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_allclose(one.predict(X, return_std=True), two.predict(X, return_std=True))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "forest"])
def test_the_order_of_the_columns_does_not_matter(name):
    X, y = planted(120)
    order = [2, 0, 3, 1]
    one = offered()[name].fit(X, y).predict(X)
    two = offered()[name].fit(X[:, order], y).predict(X[:, order])
    np.testing.assert_allclose(one, two, atol=1e-3)
