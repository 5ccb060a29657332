"""Linear support vector machines: exact, however many columns have gone."""

import pickle
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.svm import LinearSVC

from metafs.errors import UsageError
from metafs_svm import SVMWeights, linear_svm, newton
from metafs_svm.large import LargeMachine
from metafs_svm.linear_svm import LinearSVMs, kind_of_machine, labels_against_rest
from metafs_svm.table import TableWithConstant
from metafs_svm.tall import TallMachine
from metafs_svm.wide import GramTable, WideMachine


def slow_weights(X, y, costs):
    """The objective as it stands in the book, one machine per class, by a general optimiser."""
    rows = []
    X1 = np.column_stack([X, np.ones(len(X))])
    for signs in labels_against_rest(y):

        def objective(w, signs=signs):
            loss = np.maximum(0, 1 - signs * (X1 @ w))
            return w @ w / 2 + costs @ loss**2, w - 2 * X1.T @ (costs * signs * loss)

        start = np.zeros(X1.shape[1])
        found = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-9})
        rows.append(found.x)
    return np.array(rows)[:, :-1]


def stationary(svms, X, y, costs):
    """Return the largest slope of the objective at the weights that the machines found."""
    slopes = []
    X1 = np.column_stack([X[:, svms.features], np.ones(len(X))])
    for machine, signs in zip(svms.machines, labels_against_rest(y), strict=True):
        w = machine.weights()[svms._left]
        intercept = machine.decision - X[:, svms.features] @ w
        np.testing.assert_allclose(intercept, intercept[0], atol=1e-6)
        w = np.append(w, intercept[0])
        loss = np.maximum(0, 1 - signs * (X1 @ w))
        pull = np.abs(X1.T) @ (costs * loss)
        slopes.append(np.max(np.abs(w - 2 * X1.T @ (costs * signs * loss)) / (1 + pull)))
    return max(slopes)


@st.composite
def problems(draw):
    """Tables of numbers or of small integers, wide and tall, of two to four classes."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    m, n, n_classes = draw(st.integers(4, 25)), draw(st.integers(1, 30)), draw(st.integers(2, 4))
    whole = draw(st.booleans())
    X = rng.integers(-1, 3, (m, n)).astype(float) if whole else rng.normal(size=(m, n))
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, m - n_classes))
    costs = draw(st.sampled_from([0.01, 1.0, 30.0])) * rng.choice([0.5, 1.0, 2.0], m)
    return X, y, costs, rng


@settings(max_examples=60, deadline=None)
@given(problems())
def test_weights_are_those_of_the_objective(problem):
    X, y, costs, _ = problem
    found = LinearSVMs(X, y, costs).squared_weights()
    np.testing.assert_allclose(found, (slow_weights(X, y, costs) ** 2).sum(axis=0), atol=1e-6)


@settings(max_examples=100, deadline=None)
@given(problems())
def test_machines_stay_exact_while_columns_go_one_or_many_at_a_time(problem):
    X, y, costs, rng = problem
    for table in (X, csr_array(X)):
        svms = LinearSVMs(table, y, costs)
        while len(svms.features) > 1:
            found = svms.squared_weights()
            assert stationary(svms, X, y, costs) < 1e-9
            fresh = LinearSVMs(X[:, svms.features], y, costs).squared_weights()
            np.testing.assert_allclose(found, fresh, rtol=1e-7, atol=1e-12)
            n_gone = int(rng.integers(1, len(svms.features)))
            svms.drop(rng.permutation(svms.features)[: rng.choice([1, n_gone])])


@settings(max_examples=40, deadline=None)
@given(problems(), st.sampled_from([0, 3000]))
def test_machines_that_may_keep_little_iterate_and_find_the_same(problem, memory):
    X, y, costs, _ = problem
    for table in (X, csr_array(X)):
        with patch.object(linear_svm, "MEMORY", memory):
            svms = LinearSVMs(table, y, costs)
            assert memory > 0 or isinstance(svms.machines[0], LargeMachine)
            while len(svms.features) > 1:
                found = svms.squared_weights()
                with patch.object(linear_svm, "MEMORY", 2**29):
                    direct = LinearSVMs(X[:, svms.features], y, costs).squared_weights()
                np.testing.assert_allclose(found, direct, atol=1e-7)
                svms.drop(svms.features[-(len(svms.features) // 3 + 1) :])


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([1e-3, 1.0, 1e3]))
def test_gram_and_hessian_lead_to_one_optimum_however_hard_the_margin(problem, size):
    X, y, costs, _ = problem
    X, costs = size * X, np.minimum(costs, 1e8 / (1 + size**2 * (X**2).sum(axis=1).max()))
    for signs in labels_against_rest(y):
        wide = WideMachine(GramTable(X), signs, costs)
        tall = TallMachine(TableWithConstant(X), signs, costs)
        wide.train()
        tall.train()
        np.testing.assert_allclose(tall.decision, wide.decision, atol=1e-4)


@pytest.mark.parametrize("shape", [(30, 10), (10, 30)], ids=["tall", "wide"])
def test_a_machine_recovers_from_an_empty_active_set(shape):
    X = np.random.default_rng(5).normal(size=shape)
    svms = LinearSVMs(X, np.arange(shape[0]) % 2, np.ones(shape[0]))
    expected = svms.squared_weights()
    svms.machines[0].active[:] = False
    svms.machines[0]._factorise()
    np.testing.assert_allclose(svms.squared_weights(), expected, rtol=1e-8)


def test_a_hard_margin_is_that_of_geometry():
    for X in ([[-2.0], [2.0], [5.0]], [[-2.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]]):
        scores = SVMWeights(C=1e12)(np.array(X), [0, 1, 1][: len(X)])
        assert scores[0] == pytest.approx(0.25, rel=1e-6)


def test_the_kind_of_machine_follows_the_table_as_it_shrinks():
    X = csr_array(np.random.default_rng(0).normal(size=(20, 60)))
    svms = LinearSVMs(X, np.arange(20) % 2, np.ones(20))
    kinds = []
    while len(svms.features) > 1:
        kinds.append(type(svms.machines[0]))
        svms.drop(svms.features[:1])
    assert kinds == sorted(kinds, key=[WideMachine, TallMachine].index)
    assert set(kinds) == {WideMachine, TallMachine}
    assert kind_of_machine((10**6, 100), False, 1) is TallMachine
    assert kind_of_machine((10**6, 100), True, 1) is LargeMachine
    assert kind_of_machine((20_000, 20_000), True, 1) is LargeMachine


@pytest.mark.parametrize("shape", [(60, 12), (20, 50)], ids=["tall", "wide"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weights_are_those_of_scikit_learn(shape, n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape), np.arange(shape[0]) % n_classes
    weights = rng.uniform(0.3, 3.0, shape[0])
    svc = LinearSVC(C=0.7, tol=1e-12, dual=False, max_iter=100_000)
    expected = svc.fit(X, y, sample_weight=weights).coef_
    svms = LinearSVMs(X, y, 0.7 * weights)
    np.testing.assert_allclose(svms.squared_weights(), (expected**2).sum(axis=0), atol=1e-6)
    np.testing.assert_allclose([m.weights() for m in svms.machines], expected, atol=1e-6)


@pytest.mark.parametrize("shape", [(90, 30), (30, 90)], ids=["tall", "wide"])
def test_columns_of_very_different_size_do_no_harm(shape):
    rng = np.random.default_rng(1)
    X = rng.normal(size=shape) * 10.0 ** rng.uniform(-3, 3, shape[1])
    y, costs = rng.integers(0, 2, shape[0]), np.ones(shape[0])
    svms = LinearSVMs(X, y, costs)
    for j in np.argsort(-np.abs(X).max(axis=0))[:-1]:
        svms.squared_weights()
        assert stationary(svms, X, y, costs) < 1e-6
        svms.drop(np.array([j]))


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)], ids=["tall", "wide"])
def test_a_damaged_inverse_is_noticed_and_recomputed(shape):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=shape), rng.integers(0, 2, shape[0])
    costs = np.ones(shape[0])
    for spoil in (1e-7, 1e-2):
        svms = LinearSVMs(X, y, costs)
        expected = svms.squared_weights()
        svms.machines[0].inverse *= 1 + spoil * rng.random(svms.machines[0].inverse.shape)
        np.testing.assert_allclose(svms.squared_weights(), expected, rtol=1e-8)


@pytest.mark.parametrize("shape", [(60, 20), (20, 60)], ids=["tall", "wide"])
def test_updates_that_fail_lead_to_a_new_inverse(shape, monkeypatch):
    def fails(*args):
        raise newton.LinAlgError("not positive definite")

    rng = np.random.default_rng(3)
    X, y = rng.normal(size=shape), rng.integers(0, 2, shape[0])
    expected = LinearSVMs(X[:, 3:], y, np.ones(len(y))).squared_weights()
    for place in ("wide.plus_rank_one", "wide.plus_low_rank", "tall.plus_low_rank"):
        monkeypatch.setattr(f"metafs_svm.{place}", fails)
    svms = LinearSVMs(X, y, np.ones(len(y)))
    svms.squared_weights()
    for j in range(3):
        svms.drop(np.array([j]))
    np.testing.assert_allclose(svms.squared_weights(), expected, rtol=1e-8)


def test_a_matrix_that_is_not_positive_definite_has_no_inverse():
    with pytest.raises(newton.LinAlgError):
        newton.inverse(-np.eye(2))
    for k in (1, 2):
        with pytest.raises(newton.LinAlgError):
            newton.plus_low_rank(np.eye(3, order="F"), 1.0, np.ones((3, k)), -np.eye(k))


def test_the_measure_takes_any_table_and_any_target():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(40, 6)), rng.choice(["a", "b", "c"], 40)
    scores = SVMWeights()(X, y)
    order = rng.permutation(6)
    np.testing.assert_allclose(SVMWeights()(X[:, order], y), scores[order], rtol=1e-8)
    np.testing.assert_allclose(SVMWeights()(csr_array(X), y), scores, rtol=1e-8)
    assert SVMWeights()(X, X[:, 3] * 2 + 0.1 * X[:, 1]).argmax() == 3
    assert SVMWeights(C=0.01)(X, y).max() < scores.max()
    assert pickle.loads(pickle.dumps(SVMWeights(2.0))) == SVMWeights(2.0)


def test_the_measure_of_hard_tables():
    X = np.array([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0], [0.0, 1.0, 5.0], [0.0, 1.0, 5.0]])
    scores = SVMWeights()(X, [0, 1, 1, 1])
    assert scores[0] == 0 and np.isfinite(scores).all()
    np.testing.assert_array_equal(SVMWeights()(X, [1, 1, 1, 1]), 0.0)
    assert SVMWeights()(X[:, 2:], [0, 0, 1, 1])[0] > 0
    with pytest.raises(UsageError, match="too large for a linear SVM"):
        SVMWeights()(X * 1e200, [0, 0, 1, 1])
    assert np.isfinite(SVMWeights(C=1e300)(X * 1e100, [0, 1, 1, 1])).all()
    with pytest.raises(ValueError, match="NaN"):
        SVMWeights()(np.array([[np.nan], [1.0]]), [0, 1])
    for C in (0.0, -1.0, np.inf, np.nan, "1"):
        with pytest.raises(UsageError, match="C is"):
            SVMWeights(C)
