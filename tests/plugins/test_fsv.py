import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog
from scipy.sparse import csr_array

from metafs.errors import MetafsError, UsageError
from metafs_svm import fsv
from metafs_svm.fsv import FSV, feature_scores, successive_planes


def cost_of_weights(sparsity, alpha, v):
    return np.maximum(sparsity * alpha * np.exp(-alpha * v), 1e-6)


def slow_programme(A, B, sparsity, alpha, v):
    """One step as the paper writes it, over (w, gamma, y, z, v), dense and by interior points."""
    (m, n), k = A.shape, len(B)
    I_m, I_k, I_n = np.eye(m), np.eye(k), np.eye(n)
    O = np.zeros  # noqa: E741
    constraints = np.block(
        [
            [-A, np.ones((m, 1)), -I_m, O((m, k)), O((m, n))],
            [B, -np.ones((k, 1)), O((k, m)), -I_k, O((k, n))],
            [I_n, O((n, 1)), O((n, m)), O((n, k)), -I_n],
            [-I_n, O((n, 1)), O((n, m)), O((n, k)), -I_n],
        ]
    )
    costs = np.concatenate(
        [
            O(n + 1),
            np.full(m, (1 - sparsity) / m),
            np.full(k, (1 - sparsity) / k),
            cost_of_weights(sparsity, alpha, v),
        ]
    )
    bounds = [(None, None)] * (n + 1) + [(0, None)] * (m + k) + [(None, None)] * n
    limits = np.concatenate([-np.ones(m + k), O(2 * n)])
    found = linprog(costs, constraints, limits, bounds=bounds, method="highs-ipm")
    assert found.status == 0
    return found.x[:n], found.fun


def objective(A, B, w, sparsity, alpha):
    """The paper's objective with the best plane for these weights, found by trying every gamma."""
    at_A, at_B = A @ w, B @ w
    errors = [
        np.maximum(0, 1 - at_A + gamma).mean() + np.maximum(0, 1 + at_B - gamma).mean()
        for gamma in np.concatenate([at_A - 1, at_B + 1])
    ]
    return (1 - sparsity) * min(errors) + sparsity * np.sum(1 - np.exp(-alpha * np.abs(w)))


def planted(seed=0, n_samples=60, n_features=40, n_classes=2):
    """Classes that lie apart in the plane of the first two features; the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    y = rng.integers(0, n_classes, n_samples)
    angle = 2 * np.pi * y / n_classes + np.pi / 4
    X[:, :2] += 4 * np.column_stack([np.cos(angle), np.sin(angle)])
    return X, y


shapes = st.tuples(st.integers(2, 14), st.integers(1, 9))
ties = st.integers(-2, 2).map(float)
tables = shapes.flatmap(
    lambda shape: st.tuples(
        arrays(np.float64, shape, elements=ties),
        arrays(np.bool_, shape[0]).filter(lambda first: 0 < first.sum() < len(first)),
        st.sampled_from([0.02, 0.1, 0.4]),
        st.sampled_from([1.0, 5.0]),
    )
)


@settings(max_examples=120, deadline=None)
@given(tables)
def test_each_step_solves_the_programme_of_the_paper(table):
    X, first, sparsity, alpha = table
    A, B = X[first], X[~first]
    v = np.zeros(X.shape[1])
    last = 2 * (1 - sparsity)
    for plane, value in successive_planes(X, np.where(first, 1, -1), sparsity, alpha):
        _, least = slow_programme(A, B, sparsity, alpha, v)
        costs = cost_of_weights(sparsity, alpha, v)
        assert plane.error + costs @ np.abs(plane.w) == pytest.approx(least, abs=1e-6)
        assert value == pytest.approx(objective(A, B, plane.w, sparsity, alpha), abs=1e-6)
        assert value <= last + 1e-6
        assert np.all(plane.pull <= costs + 1e-6)
        last, v = value, np.abs(plane.w)
    if np.any(v):
        _, least = slow_programme(A, B, sparsity, alpha, v)
        costs = cost_of_weights(sparsity, alpha, v)
        assert plane.error + costs @ v == pytest.approx(least, abs=1e-5)  # stationary


@pytest.mark.parametrize("shape", [(25, 60), (60, 25)], ids=["wide", "tall"])
def test_the_whole_path_is_the_papers_where_each_programme_has_one_solution(shape):
    X, y = planted(3, *shape)
    X[:, :2] *= 0.4  # so that several programmes are needed
    path = [value for _, value in successive_planes(X, 2 * y - 1, 0.05, 5.0)]
    v, slow = np.zeros(shape[1]), []
    for _ in path:
        w, _ = slow_programme(X[y == 1], X[y == 0], 0.05, 5.0, v)
        v = np.abs(w)
        slow.append(objective(X[y == 1], X[y == 0], w, 0.05, 5.0))
    assert len(path) > 2
    np.testing.assert_allclose(path, slow, atol=1e-6)
    assert path[-1] == pytest.approx(path[-2], abs=1e-7)
    assert np.all(np.diff(path)[:-1] < 0)


def test_rows_or_features_first_and_few_features_at_a_time_change_nothing(monkeypatch):
    X, y = planted(1, 50, 45)
    X[:, :2] *= 0.4
    expected = [w for plane, w in successive_planes(X, 2 * y - 1, 0.03, 5.0)]
    monkeypatch.setattr(fsv, "_FEW", 3)
    few = [w for plane, w in successive_planes(X, 2 * y - 1, 0.03, 5.0)]
    monkeypatch.setattr(fsv, "_by_features", fsv._by_rows)
    rows = [w for plane, w in successive_planes(X, 2 * y - 1, 0.03, 5.0)]
    np.testing.assert_allclose(few, expected, atol=1e-8)
    np.testing.assert_allclose(rows, expected, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_features", [30, 300])
def test_planted_features_are_found(n_classes, n_features):
    for seed in range(5):
        X, y = planted(seed, 100, n_features, n_classes)
        fitted = FSV(2, standardize=True).fit(X, y)
        assert fitted.get_support()[:2].all()
        assert np.count_nonzero(fitted.scores_ > 0) <= 10 * n_classes
        assert fitted.n_evaluations_ >= 2


def test_two_classes_score_by_their_one_plane_and_more_by_the_sum_of_theirs():
    X, y = planted(2, 80, 10, 3)
    scores = FSV().fit(X, y).scores_
    planes = [feature_scores(X, np.where(y == c, 1, -1), 0.05, 5.0) for c in range(3)]
    size = sum(w for w, _, _ in planes)
    np.testing.assert_allclose(scores[size > 0], size[size > 0])
    close = np.max([close for _, close, _ in planes], axis=0)
    np.testing.assert_allclose(scores[size == 0], close[size == 0])
    two = y < 2
    w, _, n = feature_scores(X[two], np.where(y[two] == 1, 1, -1), 0.05, 5.0)
    fitted = FSV().fit(X[two], y[two])
    np.testing.assert_allclose(fitted.scores_[w != 0], w[w != 0])
    assert fitted.n_evaluations_ == n
    np.testing.assert_allclose(FSV().fit(X[two], -y[two]).scores_, fitted.scores_)


def test_a_concave_penalty_uses_fewer_features_than_the_l1_penalty_it_starts_from():
    X, y = planted(4, 60, 200)
    X[:, :2] *= 0.3
    used = [np.count_nonzero(plane.w) for plane, _ in successive_planes(X, 2 * y - 1, 0.02, 5.0)]
    assert used[-1] < used[0]


def test_more_sparsity_fewer_features_down_to_none():
    X, y = planted(5, 80, 50)
    used = [np.count_nonzero(FSV(sparsity=s).fit(X, y).scores_ > 0) for s in (0.001, 0.05, 0.9)]
    assert used[0] >= used[1] > used[2] == 0
    nothing = FSV(2, sparsity=0.9).fit(X, y)
    assert nothing.n_evaluations_ == 1
    assert set(np.flatnonzero(nothing.get_support())) <= {0, 1, *np.argsort(-nothing.scores_)[:2]}
    assert -2 < nothing.scores_.max() < -1


def test_features_without_weight_are_ordered_by_how_close_they_are_to_one():
    X, y = planted(6, 60, 12)
    X = np.column_stack([X[:, :2], X[:, 0], X[:, 2:], np.full(60, 7.3)])
    scores = FSV(standardize=True).fit(X, y).scores_
    used = np.flatnonzero(scores > 0)
    assert {0, 2} & set(used) and {0, 2} - set(used)
    copy = min({0, 2} - set(used))
    assert scores[copy] == pytest.approx(-1, abs=1e-7)
    assert scores[-1] == pytest.approx(-2, abs=1e-7)
    assert np.all(scores >= -2)


def test_units_do_not_matter_where_features_are_standardized():
    X, y = planted(7, 60, 8)
    units = 10.0 ** np.arange(-4, 4)
    expected = FSV(standardize=True).fit(X, y).scores_
    np.testing.assert_allclose(FSV(standardize=True).fit(X * units, y).scores_, expected, atol=1e-6)
    np.testing.assert_allclose(FSV().fit(X / X.std(axis=0), y).scores_, expected, atol=1e-6)
    assert not np.allclose(FSV().fit(X * units, y).scores_, expected)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.permutations(range(7)))
def test_permuting_columns_permutes_the_scores(seed, order):
    X, y = planted(seed, 40, 7)
    scores = FSV().fit(X, y).scores_
    np.testing.assert_allclose(FSV().fit(X[:, order], y).scores_, scores[order], atol=1e-6)


def test_the_form_of_the_table_and_the_number_of_jobs_change_nothing():
    X, y = planted(8, 60, 9, 3)
    X[np.abs(X) < 0.4] = 0
    expected = FSV(3).fit(X, y)
    np.testing.assert_allclose(FSV().fit(csr_array(X), y).scores_, expected.scores_, atol=1e-9)
    np.testing.assert_array_equal(FSV(n_jobs=2).fit(X, y).scores_, expected.scores_)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(9)])
    names = FSV(3).fit(frame, np.array(["u", "v", "w"])[y]).get_feature_names_out()
    assert list(names) == [f"f{j}" for j in np.flatnonzero(expected.get_support())]
    assert pickle.loads(pickle.dumps(expected)).ranking_.tolist() == expected.ranking_.tolist()


def test_a_prior_decides_between_equals_and_changes_no_score():
    X, y = planted(9, 60, 6)
    X = np.column_stack([X, np.zeros((60, 3))])
    plain = FSV().fit(X, y)
    prior = np.array([0, 0, 0, 0, 0, 0, 0.1, 0.2, 0.9])
    for expected in (prior, prior[::-1].copy(), np.ones(9)):
        guided = FSV().fit(X, y, prior=expected)
        np.testing.assert_array_equal(guided.scores_, plain.scores_)
    assert plain.ranking_[6:].tolist() == [7, 8, 9]
    assert FSV().fit(X, y, prior=prior).ranking_[6:].tolist() == [9, 8, 7]


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.ones((6, 3)), [0, 1] * 3),
        (np.repeat([[1.0, 2.0]], 6, axis=0), [0, 0, 0, 1, 1, 1]),
        (np.array([[0.1], [0.1], [0.7]]), [0, 0, 1]),
        (np.arange(8.0).reshape(4, 2), [0, 1, 2, 3]),
        (np.array([[0.0, 1.0], [0.0, 1.0], [5.0, 1.0]]), ["a", "b", "b"]),
        (np.array([[1e12, 0.0], [2e12, 1e-12], [3e12, 0.0], [9e12, 2e-12]]), [0, 0, 1, 1]),
        (np.random.default_rng(0).normal(size=(30, 3)), np.linspace(0, 1, 30) ** 2),
    ],
    ids=[
        "constant",
        "equal rows",
        "one feature",
        "classes of one",
        "contradiction",
        "extremes",
        "numbers",
    ],
)
@pytest.mark.parametrize("standardize", [True, False])
def test_awkward_tables_have_finite_scores(X, y, standardize):
    fitted = FSV(standardize=standardize).fit(X, y)
    assert np.isfinite(fitted.scores_).all()
    assert fitted.get_support().any()


def test_wrong_arguments_are_reported_in_a_sentence(monkeypatch):
    X, y = planted(0, 20, 4)
    with pytest.raises(UsageError, match="one class only"):
        FSV().fit(X, np.zeros(20))
    for wrong in (0, 1, -0.1, None):
        with pytest.raises(UsageError, match="sparsity must lie between 0 and 1"):
            FSV(sparsity=wrong).fit(X, y)
    for wrong in (0, np.inf, "sharp"):
        with pytest.raises(UsageError, match="alpha must be more than 0"):
            FSV(alpha=wrong).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        FSV().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(MetafsError, match="centre and scale"):
        FSV().fit(1e30 * X, y)
    unlucky = type("Result", (), {"status": 4, "message": "Numerical difficulties."})
    monkeypatch.setattr(fsv, "linprog", lambda *args, **options: unlucky)
    with pytest.raises(MetafsError, match=r"status 4 of HiGHS.*: centre and scale"):
        FSV().fit(X, y)
