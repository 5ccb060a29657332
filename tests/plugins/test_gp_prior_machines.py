"""The weights are those of equation 4, and of its price for slack, however they are found."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.svm import SVC

from metafs_metafeatures import Gaussian, GPPriorClassifier, GroupedGaussian
from metafs_metafeatures.gp_prior import classifier
from metafs_metafeatures.gp_prior.against_rest import signs_against_rest, spread, train

from .problems import LINE, smooth_problem


def slow_equation_4(X, y, C, with_intercept):
    """The hard-margin programme as it stands, or with an intercept, by a general solver."""
    inverse = np.linalg.inv(C)
    n_features = X.shape[1]
    ones = np.full(len(X), float(with_intercept))
    found = minimize(
        lambda v: v[:-1] @ inverse @ v[:-1],
        np.zeros(n_features + 1),
        jac=lambda v: np.append(2 * inverse @ v[:-1], 0.0),
        constraints={
            "type": "ineq",
            "fun": lambda v: y * (X @ v[:-1] + ones * v[-1]) - 1,
            "jac": lambda v: y[:, None] * np.column_stack([X, ones]),
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success
    return found.x[:-1], found.x[-1]


def loss_of(coef, intercept, X, y, C, cost, loss):
    slack = np.maximum(1 - y * (X @ coef + intercept), 0)
    price = slack.sum() if loss == "hinge" else (slack**2).sum()
    return 0.5 * coef @ np.linalg.solve(C, coef) + cost * price


@pytest.mark.parametrize("seed", range(3))
def test_two_samples_have_a_closed_solution(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((2, 49))
    U = np.stack(np.meshgrid(np.arange(7.0), np.arange(7.0)), axis=-1).reshape(-1, 2)
    fitted = GPPriorClassifier(Gaussian(1.5), C=1e6).fit(X, ["a", "b"], meta_features=U)
    towards_b = Gaussian(1.5)(U, U) @ (X[1] - X[0])
    w = 2 * towards_b / ((X[1] - X[0]) @ towards_b)
    np.testing.assert_allclose(fitted.coef_[0], w, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(fitted.intercept_, -w @ (X[0] + X[1]) / 2, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_equation_4_is_solved(seed, fit_intercept, loss):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 12))
    y = np.where(rng.permutation(8) < 4, 1.0, -1.0)
    U = np.column_stack([np.repeat([0.0, 1.0], 6), np.tile(np.arange(6.0), 2)])
    covariance = GroupedGaussian(0.9, groups=(0,))
    w, b = slow_equation_4(X, y, covariance(U, U), fit_intercept)
    fitted = GPPriorClassifier(covariance, C=1e6, loss=loss, fit_intercept=fit_intercept)
    fitted.fit(X, y, meta_features=U)
    np.testing.assert_allclose(fitted.coef_[0], w, atol=5e-3 * np.abs(w).max())
    np.testing.assert_allclose(fitted.intercept_[0], b, atol=5e-3)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("cost", [0.05, 1.0])
def test_slack_has_its_price(loss, fit_intercept, cost):
    X, y = smooth_problem(40, seed=3, n_features=6)
    y = np.where(np.random.default_rng(0).random(40) < 0.2, 1 - y, y)
    signs, U = np.where(y == 1, 1.0, -1.0), LINE[:6]
    C = Gaussian(0.8)(U, U)
    fitted = GPPriorClassifier(Gaussian(0.8), C=cost, loss=loss, fit_intercept=fit_intercept)
    fitted.fit(X, y, meta_features=U)
    assert fit_intercept == (fitted.intercept_[0] != 0)
    own = loss_of(fitted.coef_[0], fitted.intercept_[0], X, signs, C, cost, loss)
    rng = np.random.default_rng(1)
    start = np.append(fitted.coef_[0], fitted.intercept_)
    best = min(
        minimize(
            lambda v: loss_of(v[:-1], fit_intercept * v[-1], X, signs, C, cost, loss),
            start + scale * rng.normal(size=7),
            method="Nelder-Mead",
            options={"maxiter": 4000, "maxfev": 4000, "xatol": 1e-6, "fatol": 1e-8},
        ).fun
        for scale in (0.0, 0.1)
    )
    assert own <= best * (1 + 1e-3)


def test_without_meta_features_it_is_the_plain_machine():
    X, y = smooth_problem(60, seed=1)
    ours, plain = GPPriorClassifier(C=0.3).fit(X, y), SVC(kernel="linear", C=0.3).fit(X, y)
    np.testing.assert_allclose(ours.coef_, plain.coef_, atol=1e-5)
    np.testing.assert_allclose(ours.intercept_, plain.intercept_, atol=1e-5)
    assert ours.covariance_ is None and ours.sigma_ is None


def test_a_class_stands_against_the_rest():
    X, y = smooth_problem(80, seed=2, n_classes=4)
    settings = {"covariance": Gaussian(2.0), "C": 0.1}
    fitted = GPPriorClassifier(**settings).fit(X, np.array(list("dcba"))[y], meta_features=LINE)
    assert fitted.coef_.shape == (4, 30)
    assert fitted.classes_.tolist() == list("abcd")
    for row, c in enumerate(fitted.classes_):
        one = GPPriorClassifier(**settings)
        one.fit(X, np.array(list("dcba"))[y] == c, meta_features=LINE)
        np.testing.assert_allclose(fitted.coef_[row], one.coef_[0], atol=1e-10)
    decision = fitted.decision_function(X)
    np.testing.assert_allclose(decision, X @ fitted.coef_.T + fitted.intercept_)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[decision.argmax(axis=1)])


def test_machines_of_a_class_that_is_absent_or_alone():
    y = np.array([0, 0, 1, 1])
    K = np.diag([1.0, 2.0, 3.0, 4.0])
    machines = train(K, signs_against_rest(y, 3), 1.0, "hinge")
    assert machines.intercept[2] == -1
    assert not machines.alpha[:, 2].any()
    assert spread(np.ones((3, 3))) == 1.0


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_more_samples_than_a_gram_matrix_holds(monkeypatch, loss, fit_intercept):
    X, y = smooth_problem(400, seed=10, n_classes=3)
    y[np.random.default_rng(0).random(400) < 0.1] = 0
    settings = {"covariance": Gaussian(3.0), "C": 0.01, "loss": loss, "random_state": 0}
    settings["fit_intercept"] = fit_intercept
    exact = GPPriorClassifier(**settings).fit(X, y, meta_features=LINE)
    monkeypatch.setattr(classifier, "MOST_IN_GRAM", 100)
    for table in (X, csr_array(X)):
        large = GPPriorClassifier(**settings).fit(table, y, meta_features=LINE)
        np.testing.assert_allclose(large.coef_, exact.coef_, atol=0.03 * np.abs(exact.coef_).max())
        assert np.mean(large.predict(table) == exact.predict(X)) > 0.98
    y[0] = 5
    assert 5 in GPPriorClassifier(**settings).fit(X, y, meta_features=LINE).classes_


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_samples_far_from_zero_are_separated_as_well(loss, offset):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 15)
    X = rng.normal(size=(30, 3)) + 2 * y[:, None]
    near = GPPriorClassifier(loss=loss, random_state=0).fit(X, y)
    far = GPPriorClassifier(loss=loss, random_state=0).fit(X + offset, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-2, atol=1e-2)
    assert far.score(X + offset, y) == near.score(X, y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_samples_that_are_all_the_same_end_at_once(loss):
    X, y = np.full((30, 10), 0.1), np.repeat([0, 1], 15)
    machine = GPPriorClassifier(loss=loss, random_state=0)
    machine.fit(X, y, meta_features=np.arange(10.0))
    assert np.abs(machine.coef_).max() < 1e-6
