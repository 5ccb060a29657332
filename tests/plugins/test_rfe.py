"""SVM-RFE, its ensemble and its sample-weighted form."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joblib import parallel_config
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.feature_selection import RFE
from sklearn.svm import LinearSVC

from metafs.errors import UsageError
from metafs.stats.sample_weights import sample_weights
from metafs_svm import SVMRFE, SWSVMRFE, EnsembleSVMRFE, metafs_measures, metafs_selectors
from metafs_svm.ensemble import bootstrap_counts
from metafs_svm.svm_rfe import eliminate

SELECTORS = [SVMRFE(), SWSVMRFE(), EnsembleSVMRFE(n_estimators=3, random_state=0)]
each_selector = pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)


def trained_anew(X, y, costs):
    """The squared weights of a machine that scikit-learn trains from nothing."""
    svc = LinearSVC(tol=1e-11, dual=False, max_iter=100_000)
    return (svc.fit(X, y, sample_weight=costs).coef_ ** 2).sum(axis=0)


def assert_weakest_go_first(order, X, y, costs, step):
    """Replay an elimination, training anew in each round: who goes has the smallest weight."""
    left, n_rounds = np.arange(X.shape[1]), 0
    order = order.tolist()
    while len(left) > 1:
        importance = dict(zip(left, trained_anew(X[:, left], y, costs), strict=True))
        n_rounds += 1
        count = step if step >= 1 else max(1, int(step * len(left)))
        count = min(count, len(left) - 1)
        gone, order = order[:count], order[count:]
        slack = 1e-6 * max(importance.values()) + 1e-12
        within = [importance[j] for j in gone]
        assert all(a <= b * (1 + 1e-5) + slack for a, b in pairwise(within))
        left = np.setdiff1d(left, gone)
        assert max(within) <= min(importance[j] for j in left) * (1 + 1e-5) + slack
    assert order == left.tolist()
    return n_rounds


@st.composite
def problems(draw):
    """Small tables of numbers or of integers full of ties."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    m, n, n_classes = draw(st.integers(6, 20)), draw(st.integers(1, 25)), draw(st.integers(2, 3))
    whole = draw(st.booleans())
    X = rng.integers(0, 3, (m, n)).astype(float) if whole else rng.normal(size=(m, n))
    y = np.append(np.arange(n_classes), rng.integers(0, n_classes, m - n_classes))
    return X, y, rng.choice([0.5, 1.0, 3.0], m)


@settings(max_examples=40, deadline=None)
@given(problems(), st.sampled_from([1, 1, 3, 0.3, 0.6]))
def test_the_weakest_of_a_machine_trained_anew_goes_first(problem, step):
    X, y, costs = problem
    found = eliminate(X, y, costs, step=step)
    n_rounds = assert_weakest_go_first(found.order, X, y, costs, step)
    assert found.n_svms == n_rounds * (1 if y.max() == 1 else y.max() + 1)
    sparse = eliminate(csr_array(X), y, costs, step=step)
    np.testing.assert_array_equal(sparse.order, found.order)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 25), st.booleans())
def test_permuting_columns_permutes_scores(seed, n, with_prior):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(12, n)), np.arange(12) % 2
    order = rng.permutation(n)
    prior = rng.random(n) * (rng.random(n) < 0.5) if with_prior else None
    moved = SVMRFE().fit(X[:, order], y, prior=None if prior is None else prior[order])
    expected = SVMRFE().fit(X, y, prior=prior).scores_
    np.testing.assert_array_equal(moved.scores_, expected[order])


@pytest.mark.parametrize("shape", [(30, 60), (60, 30)], ids=["wide", "tall"])
def test_it_ranks_as_scikit_learn_does(shape):
    X, y = planted(*shape)
    svc = LinearSVC(dual=False, tol=1e-10, max_iter=100_000)
    expected = RFE(svc, n_features_to_select=1, step=1).fit(X, y).ranking_
    np.testing.assert_array_equal(SVMRFE().fit(X, y).ranking_, expected)


def planted(m=60, n=40, seed=0):
    """Three features of many decide the class, in unequal parts."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    return X, (2 * X[:, 3] - 1.5 * X[:, 1] + X[:, 4] > 0).astype(int)


def test_attributes_after_the_elimination():
    X, y = planted()
    rfe = SVMRFE(3).fit(X, y)
    assert np.flatnonzero(rfe.get_support()).tolist() == [1, 3, 4]
    assert sorted(rfe.ranking_) == list(range(1, 41))
    np.testing.assert_array_equal(rfe.scores_, 40 - rfe.ranking_)
    assert (rfe.n_evaluations_, rfe.stopped_) == (39, "one feature left")
    assert SVMRFE().fit(X, np.arange(60) % 3).n_evaluations_ == 3 * 39
    quick = SVMRFE(3, step=0.5).fit(X, y)
    assert quick.n_evaluations_ == len([40, 20, 10, 5, 3, 2])
    assert SVMRFE(step=100).fit(X, y).n_evaluations_ == 1


@each_selector
def test_the_form_of_the_table_and_pickling_change_nothing(selector):
    X, y = planted()
    X[np.abs(X) < 0.5] = 0.0
    fitted = clone(selector).set_params(n_features_to_select=2).fit(X, y)
    names = [f"gene{j}" for j in range(40)]
    for table in (
        csr_array(X),
        csr_matrix(X),
        pd.DataFrame(X, columns=names),
        np.asfortranarray(X),
    ):
        before = table.copy()
        other = clone(fitted).fit(table, np.array(["no", "yes"])[y])
        np.testing.assert_array_equal(other.ranking_, fitted.ranking_)
        assert np.all(np.asarray((before != table).sum()) == 0), "the table was written to"
    frame = clone(fitted).fit(pd.DataFrame(X, columns=names), y)
    kept = np.flatnonzero(fitted.get_support())
    assert frame.get_feature_names_out().tolist() == [names[j] for j in kept]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).ranking_, fitted.ranking_)


def test_of_equals_the_later_column_goes_first_unless_more_is_expected_of_it():
    X, y = planted(n=5)
    X = np.column_stack([X, X[:, 4], X[:, 4]])
    ranking = SVMRFE().fit(X, y).ranking_
    assert ranking[4] < ranking[5] and ranking[4] < ranking[6]
    first = eliminate(X[:, 4:], y, np.ones(60)).order
    assert first.tolist() == [2, 1, 0]
    order = eliminate(X[:, 4:], y, np.ones(60), expected=np.array([0.1, 0.9, 0.5])).order
    assert order.tolist() == [0, 2, 1]


def test_a_right_prior_saves_machines_and_finds_the_same():
    X, y = planted(n=400, m=200)
    right = np.zeros(400)
    right[[3, 1, 4, 50]] = [0.9, 0.2, 0.5, 0.1]
    for selector in (SVMRFE(3), SWSVMRFE(3), EnsembleSVMRFE(3, n_estimators=3, random_state=0)):
        cold, warm = clone(selector).fit(X, y), clone(selector).fit(X, y, prior=right)
        np.testing.assert_array_equal(warm.get_support(), cold.get_support())
        assert warm.n_evaluations_ * 8 < cold.n_evaluations_


def test_a_wrong_prior_protects_nobody():
    X, y = planted(n=400, m=200)
    wrong = np.zeros(400)
    wrong[100:110] = 1.0
    misled = SVMRFE(3).fit(X, y, prior=wrong)
    assert np.flatnonzero(misled.get_support()).tolist() == [1, 3, 4]
    backwards = 1.0 - np.isin(np.arange(400), [1, 3, 4])
    misled = SVMRFE(3).fit(X, y, prior=backwards)
    assert np.flatnonzero(misled.get_support()).tolist() == [1, 3, 4]


def test_a_wrong_prior_changes_little_where_the_data_speak_softly():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 300))
    signal = X[:, :15] @ np.linspace(1.0, 0.1, 15)
    y = (signal + rng.normal(size=600) > 0).astype(int)
    cold = SVMRFE(10).fit(X, y)
    wrong = (cold.ranking_ > 290).astype(float)
    misled = SVMRFE(10).fit(X, y, prior=wrong)
    assert (misled.get_support() & cold.get_support()).sum() >= 9
    assert misled.n_evaluations_ * 5 < cold.n_evaluations_


@pytest.mark.parametrize("prior", [np.zeros(40), np.full(40, 0.3), np.linspace(0.1, 1, 40)])
@each_selector
def test_a_prior_that_writes_nobody_off_is_the_published_method(selector, prior):
    X, y = planted()
    cold, warm = clone(selector).fit(X, y), clone(selector).fit(X, y, prior=prior)
    np.testing.assert_array_equal(warm.scores_, cold.scores_)
    assert warm.n_evaluations_ == cold.n_evaluations_


def test_the_ensemble_is_the_mean_over_bags_of_repeated_samples():
    X, y = planted(m=25)
    ensemble = EnsembleSVMRFE(C=0.5, n_estimators=4, random_state=7).fit(X, y)
    seeds = np.random.RandomState(7).randint(2**31 - 1, size=4)
    ranks = []
    for seed in seeds:
        counts = bootstrap_counts(y, np.random.default_rng(seed))
        assert (np.bincount(y, counts) == np.bincount(y)).all()
        bag = np.repeat(np.arange(25), counts)
        ranks.append(SVMRFE(C=0.5).fit(X[bag], y[bag]).ranking_)
    np.testing.assert_allclose(ensemble.scores_, 40 - np.mean(ranks, axis=0))
    assert ensemble.n_evaluations_ == 4 * 39


def test_seed_and_jobs_of_the_ensemble():
    X, y = planted(m=25)
    one = EnsembleSVMRFE(n_estimators=5, random_state=3).fit(X, y)
    with parallel_config("threading"):
        two = EnsembleSVMRFE(n_estimators=5, random_state=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    other = EnsembleSVMRFE(n_estimators=5, random_state=4).fit(X, y)
    assert (one.scores_ != other.scores_).any()


def test_the_weights_of_samples_are_costs(monkeypatch):
    X, y = planted()
    weighted = SWSVMRFE(C=0.2).fit(X, y)
    expected = eliminate(X, y, 0.2 * sample_weights(X, y)).survived
    np.testing.assert_array_equal(weighted.scores_, expected)
    assert (weighted.scores_ != SVMRFE(C=0.2).fit(X, y).scores_).any()
    counts = 1 + np.arange(60) % 3
    monkeypatch.setattr("metafs_svm.sw_svm_rfe.sample_weights", lambda X, y: counts.astype(float))
    repeated = np.repeat(np.arange(60), counts)
    plain = SVMRFE().fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(SWSVMRFE().fit(X, y).ranking_, plain.ranking_)


@each_selector
def test_hard_tables_have_finite_scores(selector):
    X, y = planted(m=20, n=6)
    X[:, 1], X[:, 2] = 0.0, 5.0
    X = np.vstack([X, X[:5], X[:1]])
    y = np.append(y, [*(1 - y[:5]), 2])
    fitted = clone(selector).fit(X, y)
    assert np.isfinite(fitted.scores_).all()
    assert fitted.ranking_[1] == 6, "a column of zeros is the first to go"
    one = clone(selector).fit(X[:, :1], y)
    assert one.get_support().tolist() == [True] and one.n_evaluations_ == 0
    nothing = clone(selector).fit(X, np.ones(26), prior=np.linspace(0, 1, 6))
    assert not nothing.scores_.any() and nothing.n_evaluations_ == 0
    assert nothing.stopped_ == "one class only, nothing to separate"
    assert nothing.ranking_.tolist() == [6, 5, 4, 3, 2, 1]
    with pytest.raises(ValueError, match="NaN"):
        clone(selector).fit([[np.nan], [1.0]], [0, 1])


@each_selector
def test_a_numeric_target_is_discretised(selector):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 8))
    fitted = clone(selector).fit(X, 3 * X[:, 5] + 0.1 * rng.normal(size=80))
    assert fitted.ranking_[5] == 1


@pytest.mark.parametrize(
    "wrong",
    [{"C": 0.0}, {"C": np.nan}, {"step": 0}, {"step": 1.5}, {"step": 0.0}, {"step": "all"}],
    ids=str,
)
@each_selector
def test_impossible_settings_are_a_sentence(selector, wrong):
    with pytest.raises(UsageError, match=r"is .*; give a"):
        clone(selector).set_params(**wrong).fit([[0.0, 1.0], [1.0, 2.0]], [0, 1])


def test_an_ensemble_of_none_is_a_sentence():
    for wrong in (0, 2.5, None):
        with pytest.raises(UsageError, match="n_estimators must be at least 1"):
            EnsembleSVMRFE(n_estimators=wrong).fit([[0.0, 1.0], [1.0, 2.0]], [0, 1])


def test_a_cost_may_be_any_whole_number():
    X, y = [[0.0, 1.0], [1.0, 3.0], [2.0, 2.0]], [0, 1, 1]
    hard, harder = (EnsembleSVMRFE(C=C, random_state=0).fit(X, y) for C in (1e30, 10**30))
    np.testing.assert_array_equal(hard.scores_, harder.scores_)


def test_the_package_offers_the_family_and_its_measure():
    assert {"svm-rfe", "ensemble-svm-rfe", "sw-svm-rfe"} <= metafs_selectors().keys()
    assert metafs_measures().keys() == {"svm-weights"}
