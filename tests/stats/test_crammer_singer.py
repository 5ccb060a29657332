"""The machine that trains all classes together, against its programme solved with slacks."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from metafs.errors import UsageError
from metafs.stats.crammer_singer import crammer_singer
from metafs_metafeatures import Gaussian, GPPriorClassifier, SVMAccuracy
from metafs_svm import SVMWeights

from ..plugins.problems import LINE, smooth_problem


def objective(W, X, y, cost):
    """The definition, row by row."""
    total = 0.5 * (W**2).sum()
    for x, c in zip(X, y, strict=True):
        wrong = [(k != c) + W[k] @ x for k in range(len(W))]
        total += cost * (max(wrong) - W[c] @ x)
    return total


def slow(X, y, n_classes, cost):
    """The same programme with a slack for each row, by a general solver."""
    n, d = X.shape
    n_w = n_classes * d

    def parts(v):
        return v[:n_w].reshape(n_classes, d), v[n_w:]

    rules = []
    for i in range(n):
        for k in range(n_classes):
            if k != y[i]:
                row = np.zeros(n_w + n)
                row[y[i] * d : (y[i] + 1) * d] = X[i]
                row[k * d : (k + 1) * d] = -X[i]
                row[n_w + i] = 1.0
                rules.append(row)
    rules = np.array(rules)
    found = minimize(
        lambda v: 0.5 * (v[:n_w] ** 2).sum() + cost * v[n_w:].sum(),
        np.r_[np.zeros(n_w), np.ones(n)],
        jac=lambda v: np.r_[v[:n_w], np.full(n, cost)],
        bounds=[(None, None)] * n_w + [(0, None)] * n,
        constraints={"type": "ineq", "fun": lambda v: rules @ v - 1, "jac": lambda v: rules},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    return parts(found.x)[0]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 999), st.integers(2, 4), st.sampled_from([0.1, 1.0, 5.0]))
def test_the_programme_is_solved(seed, n_classes, cost):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, 8)]
    X = rng.normal(size=(len(y), 3)) + np.eye(n_classes, 3)[y]
    classes, alpha = crammer_singer(X @ X.T, y, cost)
    assert classes.tolist() == list(range(n_classes))
    W = alpha.T @ X
    best = objective(slow(X, y, n_classes, cost), X, y, cost)
    assert objective(W, X, y, cost) == pytest.approx(best, rel=2e-3)


def test_the_learner_trains_all_classes_together():
    X, y = smooth_problem(60, seed=3, n_classes=4)
    settings = {"covariance": Gaussian(2.0), "C": 0.5, "fit_intercept": False}
    ours = GPPriorClassifier(**settings, multi_class="crammer-singer").fit(X, y, meta_features=LINE)
    C = Gaussian(2.0)(LINE, LINE)
    _, alpha = crammer_singer(X @ C @ X.T, y, 0.5)
    np.testing.assert_allclose(ours.coef_, alpha.T @ X @ C, rtol=1e-4, atol=1e-5)
    new, y_new = smooth_problem(500, seed=4, n_classes=4)
    rest = GPPriorClassifier(**settings).fit(X, y, meta_features=LINE)
    assert ours.score(new, y_new) > rest.score(new, y_new) - 0.05
    chosen = GPPriorClassifier(multi_class="crammer-singer", random_state=0)
    assert chosen.fit(X, y, meta_features=LINE).score(new, y_new) > 0.5


def test_samples_far_from_zero_are_centred():
    X, y = smooth_problem(60, seed=3, n_classes=3)
    settings = {"C": 0.5, "multi_class": "crammer-singer"}
    near = GPPriorClassifier(**settings).fit(X, y)
    far = GPPriorClassifier(**settings).fit(X + 50.0, y)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-3)
    np.testing.assert_array_equal(far.predict(X + 50.0), near.predict(X))


def test_two_classes_are_the_same_machine():
    X, y = smooth_problem(40, seed=1)
    one, other = (
        GPPriorClassifier(C=1.0, multi_class=way).fit(X, y)
        for way in ("against-rest", "crammer-singer")
    )
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_sets_are_valued_by_it():
    X, y = smooth_problem(120, seed=5, n_classes=3)
    together = SVMAccuracy(multi_class="crammer-singer")
    assert together.of_set(X, y, range(30)) > 0.6
    assert together.of_set(X, y, range(30)) == pytest.approx(
        SVMAccuracy().of_set(X, y, range(30)), abs=0.15
    )


def test_features_are_weighed_by_it():
    X, y = smooth_problem(60, seed=6, n_classes=3)
    found = SVMWeights(0.5, multi_class="crammer-singer")(X + 3.0, y)
    W = slow((X - X.mean(axis=0))[:, :4], y, 3, 0.5)
    few = SVMWeights(0.5, multi_class="crammer-singer")(X[:, :4], y)
    np.testing.assert_allclose(few, (W**2).sum(axis=0), rtol=0.02)
    assert np.corrcoef(found, SVMWeights(0.5)(X, y))[0, 1] > 0.8
    two = np.minimum(y, 1)
    together = SVMWeights(multi_class="crammer-singer")
    np.testing.assert_array_equal(together(X, two), SVMWeights()(X, two))


def test_what_cannot_be_is_a_sentence():
    X, y = smooth_problem(30, n_classes=3)
    for wrong in (
        {"multi_class": "all"},
        {"multi_class": "crammer-singer", "loss": "squared_hinge"},
    ):
        with pytest.raises(UsageError):
            GPPriorClassifier(**wrong).fit(X, y)
    with pytest.raises(UsageError):
        SVMAccuracy(multi_class="all")
    with pytest.raises(UsageError):
        SVMWeights(multi_class="all")
