from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from threadpoolctl import threadpool_info

from metafs import Problem
from metafs.pipeline.fitting.scoring import learn
from metafs.stats import threads
from metafs.stats.threads import threads_for
from metafs_filters import InfoGainSelector


def n_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


def test_a_small_matrix_has_one_thread_and_others_have_theirs_back_afterwards():
    before = n_threads()
    assert before, "some library of linear algebra is loaded"
    with threads_for(threads.SMALL):
        assert n_threads() == {1}
    assert n_threads() == before


def test_a_large_matrix_has_as_many_threads_as_there_are():
    before = n_threads()
    with threads_for(threads.SMALL + 1):
        assert n_threads() == before


class Curious(ClassifierMixin, BaseEstimator):
    """A learner that notes how many threads it is given."""

    seen: ClassVar[list[set[int]]] = []

    def fit(self, X, y):
        self.seen.append(n_threads())
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        self.seen.append(n_threads())
        return np.zeros(len(X), dtype=int)


def test_a_learner_is_scored_with_one_thread():
    problem = Problem.of(np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2)
    every = np.ones(3, dtype=bool)
    learn(problem, every, InfoGainSelector(), Curious(), scoring="accuracy", n_folds=2)
    assert Curious.seen == [{1}] * 8
