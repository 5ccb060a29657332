import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from metafs.errors import ProblemError, UsageError
from metafs_metafeatures import Gaussian, GPPriorClassifier

from .problems import LINE, smooth_problem


@parametrize_with_checks([GPPriorClassifier(cv=2, random_state=0)])
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


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


@pytest.mark.parametrize(
    ("settings", "message"),
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
def test_wrong_parameters_are_a_sentence(settings, message):
    X, y = smooth_problem(10)
    with pytest.raises(UsageError, match=message):
        GPPriorClassifier(**settings).fit(X, y, meta_features=LINE)


def test_wrong_problems_are_a_sentence():
    X, y = smooth_problem(10)
    with pytest.raises(ProblemError, match="one class only"):
        GPPriorClassifier().fit(X, np.zeros(10))
    with pytest.raises(ProblemError, match="give one row for each feature"):
        GPPriorClassifier().fit(X, y, meta_features=LINE[:7])
    with pytest.raises(UsageError, match="scale the features"):
        GPPriorClassifier().fit(1e200 * X, y)
