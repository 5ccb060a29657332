"""What selectors and learners are given: tables they cannot change, one thread for small ones."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from threadpoolctl import threadpool_info, threadpool_limits

from metafs import MetaSelector, Problem, solve
from metafs_metadb import MetaDB


def values(X):
    return X.data if hasattr(X, "indptr") else X


def change_X(X, y, meta_features):
    values(X)[:] += 1


def change_y(X, y, meta_features):
    y[:] = y[::-1].copy()


def change_meta_features(X, y, meta_features):
    meta_features[:] = 0


def change_structure(X, y, meta_features):
    X.indices[:] = 0


class Changing(SelectorMixin, BaseEstimator):
    """A selector that changes what it is given."""

    def __init__(self, change=change_X):
        self.change = change

    def fit(self, X, y, *, meta_features=None):
        self.change(X, y, meta_features)
        self.scores_ = np.ones(X.shape[1])
        return self

    def _get_support_mask(self):
        return self.scores_ > 0

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class ChangingLearner(ClassifierMixin, BaseEstimator):
    """A learner that changes what it is given."""

    def fit(self, X, y):
        X[:] = 0
        return self


def table(sparse):
    rng = np.random.default_rng(0)
    X = (rng.random((40, 5)) < 0.5).astype(float)
    return (csr_array(X) if sparse else X), (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("change", [change_X, change_y, change_meta_features])
def test_a_selector_that_changes_its_input_fails_its_problem(db, sparse, change):
    X, y = table(sparse)
    first, second = (
        Problem.of(
            X, y, name=name, feature_names=list("abcde"), meta_features=np.arange(10).reshape(5, 2)
        )
        for name in ("first", "second")
    )
    results = [
        *solve(first, db=db, selector=Changing(change), folds=2),
        *solve(second, db=db, selector="infogain", folds=2),
    ]
    assert [each.status for each in results] == ["failed", "solved"]
    assert "Changing changes X or y in place" in results[0].error
    assert MetaDB(db).check() == []


def test_a_learner_that_changes_its_input_fails_its_problem(related):
    (results,) = solve(related(0), db=None, selector="infogain", learner=ChangingLearner(), folds=2)
    assert results.error.startswith("ChangingLearner changes X or y in place")


@pytest.mark.parametrize("with_memory", [False, True])
@pytest.mark.parametrize(
    ("sparse", "change"),
    [(False, change_X), (False, change_y), (True, change_X), (True, change_structure)],
)
def test_MetaSelector_keeps_its_callers_data(db, with_memory, sparse, change):
    X, y = table(sparse)
    X_before, y_before = X.copy(), y.copy()
    selector = MetaSelector(Changing(change), db=db if with_memory else None, space="s", name="n")
    with pytest.raises(ValueError, match="Changing changes X or y in place"):
        selector.fit(X, y)
    np.testing.assert_array_equal(values(X), values(X_before))
    np.testing.assert_array_equal(y, y_before)
    values(X)[:] = 7  # and who owns the data can still write


def test_a_distance_cannot_change_the_problem(related):
    problem = related(0)
    with pytest.raises(ValueError, match="read-only"):
        problem.X[0, 0] = 5
    with pytest.raises(ValueError, match="read-only"):
        problem.y[0] = 5


class Counting(SelectorMixin, BaseEstimator):
    """A selector whose scores are the threads of linear algebra that it was given."""

    def fit(self, X, y):
        of_blas = [each for each in threadpool_info() if each["user_api"] == "blas"]
        self.scores_ = np.full(X.shape[1], max(each["num_threads"] for each in of_blas))
        return self

    def _get_support_mask(self):
        return self.scores_ > 0


@pytest.mark.parametrize("with_memory", [False, True])
def test_a_selector_has_one_thread_for_a_small_table(db, related, with_memory):
    X, y = table(sparse=False)
    with threadpool_limits(2):
        fitted = MetaSelector(Counting(), db=db if with_memory else None, space="s").fit(X, y)
    assert set(fitted.scores_) == {1}
