"""Filters and learners that count rows by weight, and wrappers that divide no group."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from metafs.plugin.registry import Registry
from metafs.stats.balanced import BalancedDecisions, balanced
from metafs.stats.weighting import takes_weights, weight_parameters
from metafs_climb.climb import Climb
from metafs_climb.cv_accuracy import CVAccuracy
from metafs_filters.fisher import FisherSelector
from metafs_filters.infogain import InfoGainSelector
from metafs_remembered.learner import RememberedLearner
from metafs_remembered.voting import VotingLearner

WEIGHTED = {"fisher", "infogain", "importance", "projected"}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("selector", [FisherSelector(1), InfoGainSelector(1)], ids=["F", "IG"])
@given(seed=st.integers(0, 10**6), n=st.integers(8, 30))
@settings(max_examples=20, deadline=None)
def test_scores_of_weighted_rows_are_those_of_repeated_ones(selector, sparse, seed, n):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 5)).astype(float)  # so few values that each is a bin
    y = np.arange(n) % 3
    weight = rng.integers(0, 4, n)
    weight[:3] = 1  # of every class
    table = csr_array if sparse else np.asarray
    weighted = clone(selector).fit(table(X), y, sample_weight=weight)
    rows = np.repeat(np.arange(n), weight)
    repeated = clone(selector).fit(table(X[rows]), y[rows])
    np.testing.assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", sorted(WEIGHTED))
def test_weights_decide_which_feature_is_best(name):
    rng = np.random.default_rng(0)
    first, second, y = rng.integers(0, 2, (3, 400)).astype(float)
    heavy = np.arange(400) < 200
    X = np.column_stack([np.where(heavy, y, first), np.where(heavy, second, y)])
    X += 0.01 * rng.normal(size=X.shape)
    for weight, best in ((np.where(heavy, 5.0, 0.5), 0), (np.where(heavy, 0.5, 5.0), 1)):
        selector = clone(Registry().selectors[name]).set_params(n_features_to_select=1)
        found = selector.fit(X, y.astype(int), sample_weight=weight).get_support()
        assert found.tolist() == [best == 0, best == 1]


@pytest.mark.parametrize("name", [*Registry().learners])
def test_a_learner_that_takes_weights_is_moved_by_them(name):
    learner = Registry().learners[name]
    if not takes_weights(learner):
        assert name in ("1nn", "knn", "gp-prior")
        return
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    y = y.astype(float) if name == "ridge" else y
    weight = np.where(y == 1, 9.0, 1.0)
    plain = clone(learner).fit(X, y).predict(X).mean()
    weighted = clone(learner).fit(X, y, **weight_parameters(learner, weight)).predict(X).mean()
    learnt_by_heart = ("forest", "extra-trees", "voting", "kernel-svm")
    assert weighted > plain + 0.02 or name in learnt_by_heart
    if name in ("forest", "kernel-svm"):  # fitted to every row, or balanced again
        X_new = rng.normal(size=(200, 3))
        one = clone(learner).fit(X, y).predict(X_new)
        other = clone(learner).fit(X, y, **weight_parameters(learner, weight)).predict(X_new)
        assert (one != other).any()


def test_cv_accuracy_divides_no_group_and_so_knows_that_patients_say_nothing():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 10)
    X = rng.normal(size=(30, 2))[groups] + 0.01 * rng.normal(size=(300, 2))
    y = rng.permutation(np.arange(30) % 2)[groups]
    measure = CVAccuracy(learner="1nn")
    assert measure.bind(X, y).of_set([0, 1]) > 0.97
    assert measure.bind(X, y, groups=groups).of_set([0, 1]) < 0.75
    for train, test in measure.bind(X, y, groups=groups).scores.tables.folds:
        known = measure.bind(X, y, groups=groups).scores.tables.problem.groups
        assert not set(known[train]) & set(known[test])
    climb = Climb(measure, max_evaluations=20, random_state=0).fit(X, y, groups=groups)
    assert climb.fitness_ < 0.8


def test_folds_of_cv_accuracy_with_groups_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 12, 90)
    X, y = rng.normal(size=(90, 3)), rng.integers(0, 2, 90)
    order = rng.permutation(90)
    measure = CVAccuracy(learner="naive-bayes")
    one = measure.bind(X, y, groups=groups).of_each()
    other = measure.bind(X[order], y[order], groups=groups[order]).of_each()
    np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("numbers", [False, True])
def test_both_that_vote_count_rows_by_weight_and_the_linear_one_divides_no_group(
    numbers, monkeypatch
):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + rng.normal(size=120)
    y = y if numbers else (y > 0).astype(int)
    weight, groups = rng.integers(0, 4, 120).astype(float), np.arange(120) // 4
    told = []
    fit = RememberedLearner.fit

    def noting(self, X, y, **given):
        told.append(given)
        return fit(self, X, y, **given)

    monkeypatch.setattr(RememberedLearner, "fit", noting)
    voting = VotingLearner(n_trees=20).fit(X, y, sample_weight=weight, groups=groups)
    counted = weight > 0
    assert told[0]["sample_weight"].tolist() == weight[counted].tolist()
    inside = np.unique(groups[counted], return_inverse=True)[1]
    assert np.unique(told[0]["groups"], return_inverse=True)[1].tolist() == inside.tolist()
    trees = clone(voting.trees_).fit(X[counted], y[counted], weight[counted])
    np.testing.assert_array_equal(voting.trees_.predict(X), trees.predict(X))
    alone = VotingLearner(n_trees=20).fit(
        X[counted], y[counted], sample_weight=weight[counted], groups=groups[counted]
    )
    np.testing.assert_allclose(voting.predict(X), alone.predict(X))


def test_rows_without_label_have_no_weight():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.repeat(["a", "b", ""], 20).astype(object)
    weight, groups = rng.random(60) + 0.5, np.arange(60)
    voting = VotingLearner(n_trees=5).fit(X, y, sample_weight=weight, groups=groups)
    assert voting.classes_.tolist() == ["a", "b"]


@given(weight=st.lists(st.integers(0, 5), min_size=12, max_size=12))
def test_balanced_decisions_count_shares_by_weight(weight):
    y = np.arange(12) % 2
    weight = np.array(weight) + np.isin(np.arange(12), [0, 1])
    model = DummyClassifier().fit(np.zeros((12, 1)), y)
    weighted = balanced(model, y, "balanced_accuracy", weight.astype(float))
    repeated = balanced(model, np.repeat(y, weight), "balanced_accuracy")
    assert type(weighted) is type(repeated)
    if isinstance(weighted, BalancedDecisions):
        np.testing.assert_allclose(weighted.shares, repeated.shares)
    assert balanced(model, y, "accuracy", weight) is model
