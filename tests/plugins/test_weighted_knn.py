import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

import metafs_regressors.nearest
import metafs_regressors.weighted_knn
from metafs.errors import UsageError
from metafs_regressors import WeightedKNN
from metafs_regressors.nearest import neighbours, other_neighbours, smallest
from metafs_regressors.weighted_knn import ascend, estimates, gradient, leave_one_out_errors

from .problems import planted


def slow_estimate(X, y, w, beta, k, i):
    """f_w of row i from the k nearest others, and these, as the definition has it."""
    d = [(sum(w**2 * (X[i] - X[j]) ** 2), j) for j in range(len(X)) if j != i]
    near = sorted(d)[:k]
    Z = sum(np.exp(-each / beta) for each, _ in near)
    return sum(y[j] * np.exp(-each / beta) for each, j in near) / Z, [j for _, j in near]


def slow_evaluation(X, y, w, beta, k, rows):
    return -0.5 * sum((y[i] - slow_estimate(X, y, w, beta, k, i)[0]) ** 2 for i in rows)


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
