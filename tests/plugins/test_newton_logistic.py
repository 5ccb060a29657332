import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from metafs_climb import CVAccuracy, fold_scores, newton_logistic

from .wrapping import TIGHT, made, plain_cv, tables, words


class FirmLogistic(ClassifierMixin, BaseEstimator):
    """Logistic regression to the last digit, to which a decision of nothing is the first class."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the line search ends where floats do
            self.model_ = clone(TIGHT).fit(X, y)
        return self

    def predict(self, X):
        return self.classes_[(self.model_.decision_function(X) > 1e-8).astype(int)]


@settings(max_examples=15, deadline=None)
@given(tables, st.booleans())
def test_logistic_regression_agrees_with_scikit_learn_on_the_same_folds(table, sparse):
    X, y = made(*table)
    evaluator = CVAccuracy().bind(csr_array(X) if sparse else X, y)
    for features in ([0], [0, 1], np.arange(X.shape[1])):
        expected = plain_cv(evaluator, features, FirmLogistic()).mean()
        assert evaluator.of_set(features) == pytest.approx(expected, abs=1e-12)
    singles = [evaluator.of_set([j]) for j in range(X.shape[1])]
    np.testing.assert_array_equal(CVAccuracy()(X, y), singles)


@pytest.mark.parametrize(
    ("learner", "found"),
    [
        (LogisticRegression(C=3.0, tol=1e-9, max_iter=7), (3.0, False)),
        (make_pipeline(StandardScaler(with_mean=False), LogisticRegression()), (1.0, True)),
        (make_pipeline(StandardScaler(), LogisticRegression()), (1.0, True)),
        (make_pipeline(StandardScaler(with_std=False), LogisticRegression()), None),
        (LogisticRegression(class_weight="balanced"), None),
        (LogisticRegression(fit_intercept=False), None),
        (LogisticRegression(solver="liblinear"), None),
        (GaussianNB(), None),
    ],
)
def test_only_plain_logistic_regression_is_solved_by_our_own_method(learner, found):
    assert newton_logistic.recognised(learner) == found


@pytest.mark.parametrize("learner", [LogisticRegression(C=0.1), LogisticRegression(C=100.0)])
@pytest.mark.parametrize("scaled", [True, False])
def test_our_method_heeds_c_and_scaling(learner, scaled):
    X, y = words(80, noise=0.3)
    X[:, 1] *= 30
    steps = [StandardScaler(), learner] if scaled else [learner]
    evaluator = CVAccuracy(make_pipeline(*steps) if scaled else learner).bind(X, y)
    tight = clone(learner).set_params(tol=1e-12, solver="newton-cholesky")
    steps[-1] = tight
    for features in ([0, 1], [0, 1, 2, 3, 4, 5]):
        expected = plain_cv(evaluator, features, make_pipeline(*steps)).mean()
        assert evaluator.of_set(features) == pytest.approx(expected, abs=1e-12)


def test_scikit_learn_takes_over_where_our_method_ends(monkeypatch):
    X, y = words()
    edits = np.arange(12)[:, None]
    found = CVAccuracy(TIGHT).bind(X, y).of_sets([0], edits)
    expected = CVAccuracy().bind(X, y).of_sets([0], edits)
    monkeypatch.setattr(newton_logistic, "MAX_STEPS", 1)
    np.testing.assert_allclose(CVAccuracy().bind(X, y).of_sets([0], edits), found, atol=0.02)
    monkeypatch.setattr(fold_scores, "MAX_VALUES", 0)
    np.testing.assert_allclose(CVAccuracy().bind(X, y).of_sets([0], edits), found, atol=0.02)
    np.testing.assert_allclose(expected, found, atol=1e-12)
