import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from metafs.errors import ProblemError, UsageError
from metafs_metafeatures import Gaussian, GPPriorClassifier, GroupedGaussian
from metafs_metafeatures.gp_prior import classifier
from metafs_metafeatures.gp_prior.against_rest import signs_against_rest, spread, train
from metafs_metafeatures.gp_prior.choice import (
    RELATIVE_COSTS,
    folds_of,
    sigma_candidates,
    standardised,
)

LINE = np.arange(30.0)[:, None]


@parametrize_with_checks([GPPriorClassifier(cv=2, random_state=0)])
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


def smooth_problem(n, seed=0, n_features=30, n_classes=2):
    """Classes by weights that change slowly along a line."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features))
    phases = np.arange(n_classes if n_classes > 2 else 1)
    W = np.sin(np.arange(n_features)[:, None] / 4 + 2 * phases)
    scores = X @ W
    return X, scores.argmax(axis=1) if n_classes > 2 else (scores[:, 0] > 0).astype(int)


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


@pytest.mark.parametrize("n_classes", [2, 3])
def test_smooth_weights_are_learnt_from_fewer_samples(n_classes):
    X, y = smooth_problem(1060, seed=4, n_features=60, n_classes=n_classes)
    train_part, test_part = slice(60), slice(60, None)
    position = np.arange(60.0)[:, None]
    classifier = GPPriorClassifier(cv=3, random_state=0)
    smooth = clone(classifier).fit(X[train_part], y[train_part], meta_features=position)
    plain = classifier.fit(X[train_part], y[train_part])
    gain = smooth.score(X[test_part], y[test_part]) - plain.score(X[test_part], y[test_part])
    assert gain > 0.08
    assert smooth.sigma_ > 3 / np.std(position)


def test_rough_weights_are_not_smoothed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 20))
    y = X @ (-1.0) ** np.arange(20) > 0
    fitted = GPPriorClassifier(Gaussian(), random_state=0).fit(X, y, meta_features=LINE[:20])
    assert fitted.sigma_ is None and fitted.covariance_ is None
    tried = {choice.sigma for choice in fitted.choices_}
    assert tried == {None, *sigma_candidates(Gaussian(), LINE[:20])}
    assert max(choice.accuracy for choice in fitted.choices_) > 0.85


def test_sparse_and_single_precision_give_the_same():
    X, y = smooth_problem(50, seed=5, n_classes=3)
    X[np.abs(X) < 0.5] = 0
    settings = {"covariance": Gaussian(), "sigma": (1.0, 3.0), "cv": 3, "random_state": 0}
    fitted = GPPriorClassifier(**settings).fit(X, y, meta_features=LINE)
    sparse = GPPriorClassifier(**settings).fit(csr_array(X), y, meta_features=LINE)
    np.testing.assert_allclose(sparse.coef_, fitted.coef_, atol=1e-8)
    np.testing.assert_allclose(
        sparse.decision_function(csr_array(X)), fitted.decision_function(X), atol=1e-8
    )
    single = GPPriorClassifier(Gaussian(fitted.sigma_), C=fitted.C_)
    single.fit(X.astype(np.float32), y, meta_features=LINE)
    np.testing.assert_allclose(single.coef_, fitted.coef_, atol=1e-3)


def test_permuting_features_permutes_weights():
    X, y = smooth_problem(40, seed=6)
    order = np.random.default_rng(0).permutation(30)
    classifier = GPPriorClassifier(cv=2, random_state=0)
    one = clone(classifier).fit(X, y, meta_features=LINE)
    two = clone(classifier).fit(X[:, order], y, meta_features=LINE[order])
    np.testing.assert_allclose(two.coef_, one.coef_[:, order], atol=1e-3)


@settings(max_examples=10, deadline=None)
@given(st.floats(1e-3, 1e3), st.integers(0, 5))
def test_the_unit_of_the_features_does_not_matter(unit, seed):
    X, y = smooth_problem(30, seed=seed)
    classifier = GPPriorClassifier(sigma=0.3, cv=3, random_state=0)
    one = clone(classifier).fit(X, y, meta_features=LINE)
    two = clone(classifier).fit(unit * X, y, meta_features=LINE)
    np.testing.assert_allclose(two.coef_ * unit, one.coef_, atol=2e-3 * np.abs(one.coef_).max())


def test_the_unit_of_the_meta_features_does_not_matter_by_default():
    X, y = smooth_problem(40, seed=7)
    U = np.column_stack([LINE, np.cos(LINE)])
    classifier = GPPriorClassifier(cv=2, random_state=0)
    one = clone(classifier).fit(X, y, meta_features=U)
    two = clone(classifier).fit(X, y, meta_features=U * [1000, 0.01] + 7)
    np.testing.assert_allclose(two.coef_, one.coef_, rtol=1e-3, atol=1e-4)


def test_missing_meta_features_leave_a_weight_on_its_own():
    X, y = smooth_problem(40, seed=8)
    U = LINE.copy()
    U[[4, 17]] = np.nan
    fitted = GPPriorClassifier(Gaussian(3.0), C=1.0).fit(X, y, meta_features=U)
    C = Gaussian(3.0)(LINE, LINE)
    C[[4, 17]] = np.eye(30)[[4, 17]]
    C[:, [4, 17]] = np.eye(30)[:, [4, 17]]
    expected = SVC(kernel="precomputed").fit(X @ C @ X.T, y)
    w = C @ X[expected.support_].T @ expected.dual_coef_[0]
    np.testing.assert_allclose(fitted.coef_[0], w, atol=1e-2 * np.abs(w).max())
    unknown = GPPriorClassifier(random_state=0)
    unknown.fit(X, y, meta_features=np.full((30, 2), np.nan))
    plain = GPPriorClassifier(random_state=0).fit(X, y)
    np.testing.assert_allclose(unknown.coef_, plain.coef_, atol=1e-10)


def test_constant_meta_features_do_no_harm():
    X, y = smooth_problem(40, seed=9)
    alone = GPPriorClassifier(random_state=0).fit(X, y, meta_features=LINE)
    constant = np.column_stack([np.full(30, 1e9 / 3), LINE])
    beside = GPPriorClassifier(random_state=0).fit(X, y, meta_features=constant)
    np.testing.assert_allclose(beside.coef_, alone.coef_, atol=1e-8)
    plain = GPPriorClassifier(random_state=0).fit(X, y)
    only = GPPriorClassifier(random_state=0).fit(X, y, meta_features=np.full(30, 2.0))
    np.testing.assert_array_equal(only.coef_, plain.coef_)


def test_features_with_equal_meta_features_share_a_weight():
    X, y = smooth_problem(40, seed=9)
    fitted = GPPriorClassifier(Gaussian(1.0), C=1.0)
    fitted.fit(X, y, meta_features=np.repeat([0.0, 9.0], 15))
    np.testing.assert_allclose(fitted.coef_[0, :15], fitted.coef_[0, 0])
    np.testing.assert_allclose(fitted.coef_[0, 15:], fitted.coef_[0, 15])
    assert not np.isclose(fitted.coef_[0, 0], fitted.coef_[0, 15])


def test_standardising_keeps_what_is_missing():
    U = np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0], [5.0, np.nan]])
    Z = standardised(U)
    np.testing.assert_array_equal(np.isnan(Z), np.isnan(U))
    np.testing.assert_allclose(np.nanstd(Z[:, 0]), 1.0)
    np.testing.assert_array_equal(Z[:3, 1], 0.0)


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


def test_own_covariances_and_several_candidates():
    X, y = smooth_problem(40, seed=11)

    def laplace(U, V):
        return np.exp(-np.abs(U - V.T) / 5)

    fitted = GPPriorClassifier(laplace, C=[0.01, 0.1], random_state=0)
    fitted.fit(X, y, meta_features=LINE)
    assert fitted.covariance_ is laplace and fitted.sigma_ is None
    assert [choice.cost for choice in fitted.choices_] == [0.01, 0.1]
    searched = GPPriorClassifier(Gaussian(), sigma=(1.0, 4.0), C=0.1, cv=3, random_state=0)
    searched.fit(X, y, meta_features=LINE)
    accuracies = {choice.sigma: choice.accuracy for choice in searched.choices_}
    assert accuracies[searched.sigma_] == max(accuracies.values())
    assert set(accuracies) == {1.0, 4.0}


def test_cross_validation_is_that_of_separate_fits():
    X, y = smooth_problem(60, seed=12, n_classes=3)
    fitted = GPPriorClassifier(Gaussian(2.0), C=[0.05, 0.5], cv=4, random_state=3)
    fitted.fit(X, y, meta_features=LINE)
    seed = np.random.RandomState(3).randint(2**31 - 1)
    for choice in fitted.choices_:
        right = 0
        for inside, outside in folds_of(y, 4, seed):
            part = GPPriorClassifier(Gaussian(2.0), C=choice.cost)
            part.fit(X[inside], y[inside], meta_features=LINE)
            right += np.count_nonzero(part.predict(X[outside]) == y[outside])
        assert choice.accuracy == right / 60


def test_folds_hold_even_parts_of_every_class_at_random():
    y = np.repeat([0, 1, 2], [40, 20, 8])
    folds = list(folds_of(y, 4, seed=0))
    assert len(folds) == 4
    for inside, outside in folds:
        assert np.bincount(y[outside]).tolist() == [10, 5, 2]
        np.testing.assert_array_equal(np.sort(np.append(inside, outside)), np.arange(68))
        assert (np.diff(outside[y[outside] == 0]) > 1).any()
    again = [outside.tolist() for _, outside in folds_of(y, 4, seed=0)]
    assert again == [outside.tolist() for _, outside in folds]
    assert again != [outside.tolist() for _, outside in folds_of(y, 4, seed=1)]
    alone = [outside for _, outside in folds_of(np.repeat([0, 1], [19, 1]), 4, seed=0)]
    assert [len(each) for each in alone] == [5] * 4 and any((np.diff(alone) > 1).ravel())


def test_costs_from_a_tenth_to_a_hundred_of_the_inverse_spread_are_tried():
    np.testing.assert_allclose(RELATIVE_COSTS, [0.1, 10**-0.5, 1, 10**0.5, 10, 10**1.5, 100])
    X, y = smooth_problem(40, seed=11)
    fitted = GPPriorClassifier(Gaussian(2.0), random_state=0).fit(X, y, meta_features=LINE)
    unit = spread(X @ Gaussian(2.0)(LINE, LINE) @ X.T)
    costs = [choice.cost * unit for choice in fitted.choices_]
    np.testing.assert_allclose(costs, RELATIVE_COSTS, rtol=1e-6)


@pytest.mark.parametrize("y", [[0, 1], [0, 1, 2], [0, 0, 0, 1], [0, 1, 2, 2, 2, 2], list("aabbc")])
def test_few_samples_are_enough(y):
    X = np.random.default_rng(0).normal(size=(len(y), 30))
    fitted = GPPriorClassifier(random_state=0).fit(X, y, meta_features=LINE)
    assert np.isfinite(fitted.coef_).all()
    assert set(fitted.predict(X)) <= set(y)


def test_same_seed_same_answer_and_pickles():
    X, y = smooth_problem(40, seed=13)
    one = GPPriorClassifier(Gaussian(), random_state=5)
    two = clone(one).fit(X, y, meta_features=LINE)
    one.fit(X, y, meta_features=LINE)
    np.testing.assert_array_equal(one.coef_, two.coef_)
    again = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(again.decision_function(X), one.decision_function(X))


def test_machines_of_a_class_that_is_absent_or_alone():
    y = np.array([0, 0, 1, 1])
    K = np.diag([1.0, 2.0, 3.0, 4.0])
    machines = train(K, signs_against_rest(y, 3), 1.0, "hinge")
    assert machines.intercept[2] == -1
    assert not machines.alpha[:, 2].any()
    assert spread(np.ones((3, 3))) == 1.0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"loss": "log"}, "loss must be hinge or squared_hinge"),
        ({"cv": 1}, "cv must be at least 2"),
        ({"sigma": 0.0}, "sigma must be more than 0"),
        ({"sigma": []}, "sigma is empty"),
        ({"sigma": "much"}, "sigma must be more than 0"),
        ({"C": [1.0, -1.0]}, "C must be more than 0"),
        ({"covariance": Gaussian(1.0, positions=(3,))}, "numbered 0 to 0"),
        ({"covariance": Gaussian(positions=(3,))}, "numbered 0 to 0"),
    ],
)
def test_wrong_parameters_are_a_sentence(settings, said):
    X, y = smooth_problem(10)
    with pytest.raises(UsageError, match=said):
        GPPriorClassifier(**settings).fit(X, y, meta_features=LINE)


def test_wrong_problems_are_a_sentence():
    X, y = smooth_problem(10)
    with pytest.raises(ProblemError, match="one class only"):
        GPPriorClassifier().fit(X, np.zeros(10))
    with pytest.raises(ProblemError, match="give one row for each feature"):
        GPPriorClassifier().fit(X, y, meta_features=LINE[:7])
    with pytest.raises(UsageError, match="scale the features"):
        GPPriorClassifier().fit(1e200 * X, y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_samples_far_from_zero_are_told_apart_as_well(loss, offset):
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
