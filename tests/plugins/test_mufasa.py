import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

from metafs.errors import ProblemError, UsageError
from metafs.plugin.prior import Prior
from metafs.plugin.registry import Registry
from metafs_metafeatures import Mufasa, SVMAccuracy
from metafs_metafeatures.mufasa.selector import affordable, tried_scores

from .extracting import table


def described(seed=0, n_features=120, good=(60, 75)):
    """Features along a line; those between two places tell the class, weakly, each by itself."""
    rng = np.random.default_rng(seed)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, n_features))
    X[:, good[0] : good[1]] += 0.7 * y[:, None]
    return X, y, np.arange(float(n_features))[:, None]


def test_the_selector_finds_where_the_good_features_are():
    """As many sets without meta-features find less: the sets are then drawn from everywhere."""
    gained, inside = [], []
    for seed in range(4):
        X, y, place = described(seed)
        mufasa = Mufasa(12, step=0.4, random_state=seed)
        guided = clone(mufasa).fit(X, y, meta_features=place)
        blind = clone(mufasa).fit(X, y)
        assert guided.get_support().sum() == blind.get_support().sum() == 12
        assert blind.u_best_ is None and guided.n_evaluations_ == 50
        gained.append(guided.fitness_ - blind.fitness_)
        inside.append(guided.get_support()[60:75].sum())
        assert 50 < guided.u_best_[0] < 85
    assert min(gained) > 0.02 and np.mean(gained) > 0.07 and np.mean(inside) > 8


def test_attributes_match_the_search():
    X, y, place = described()
    mufasa = Mufasa(10, n_steps=20, random_state=3).fit(X, y, meta_features=place)
    assert [number for number, _, _ in mufasa.candidates_] == list(range(1, 21))
    for _, features, fitness in mufasa.candidates_:
        assert fitness == SVMAccuracy().of_set(X, y, list(features))
    assert mufasa.fitness_ == max(fitness for *_, fitness in mufasa.candidates_)
    chosen = [set(f) for _, f, fitness in mufasa.candidates_ if fitness == mufasa.fitness_]
    assert set(np.flatnonzero(mufasa.get_support())) == chosen[-1]
    assert set(np.flatnonzero(mufasa.ranking_ <= 10)) == chosen[-1]
    mean = np.mean([fitness for *_, fitness in mufasa.candidates_])
    for feature in range(X.shape[1]):
        mine = [q - mean for _, features, q in mufasa.candidates_ if feature in features]
        np.testing.assert_allclose(mufasa.scores_[feature], sum(mine) / (1 + len(mine)), atol=1e-12)
    assert tried_scores([], 3).tolist() == [0.0, 0.0, 0.0]
    again = pickle.loads(pickle.dumps(mufasa))
    np.testing.assert_array_equal(again.get_support(), mufasa.get_support())


def test_a_set_that_comes_up_again_is_measured_once():
    asked = []

    class Counting(SVMAccuracy):
        def of_set(self, X, y, features):
            asked.append(tuple(features))
            return super().of_set(X, y, features)

    X, y = table()
    mufasa = Mufasa(2, measure=Counting(), random_state=0).fit(X[:, 6:], y)
    assert mufasa.n_evaluations_ == len(mufasa.candidates_) == 50
    assert len(asked) == len(set(asked)) <= 6
    assert {features for _, features, _ in mufasa.candidates_} == set(asked)


def test_a_set_without_a_finite_fitness_loses():
    class Fickle(SVMAccuracy):
        def of_set(self, X, y, features):
            return np.nan if 0 in features else float(sum(features))

    X, y = table()
    mufasa = Mufasa(3, measure=Fickle(), random_state=0).fit(X, y)
    assert not mufasa.get_support()[0] and np.isfinite(mufasa.scores_).all()
    assert len(mufasa.candidates_) < mufasa.n_evaluations_ == 50
    with pytest.raises(ProblemError, match="no set that its measure could evaluate"):
        Mufasa(10, n_steps=3, measure=Fickle(), random_state=0).fit(X, y)


def test_missing_constant_and_absent_meta_features_are_harmless():
    X, y, place = described()
    known = Mufasa(12, step=0.2, random_state=0).fit(X, y, meta_features=place)
    constant = np.column_stack([place, np.full(len(place), 0.1), np.full(len(place), np.nan)])
    same = clone(known).fit(X, y, meta_features=constant)
    assert 50 < same.u_best_[0] < 85 and same.u_best_[1] == pytest.approx(0.1)
    some = place.copy()
    some[::7] = np.nan
    assert clone(known).fit(X, y, meta_features=some).fitness_ > 0.6
    only = clone(known).fit(X, y, meta_features=np.ones(len(place)))
    assert only.get_support().sum() == 12
    none = clone(known).fit(X, y, meta_features=np.zeros((len(place), 0)))
    assert none.u_best_ is None


def test_costs_and_a_budget_limit_every_set():
    X, y, place = described()
    costs = 1.0 + np.arange(len(place)) % 3
    mufasa = Mufasa(feature_costs=costs, budget=15, step=0.2, random_state=0)
    mufasa.fit(X, y, meta_features=place)
    for _, features, _ in mufasa.candidates_:
        assert 14 <= costs[list(features)].sum() <= 15
    few = clone(mufasa).set_params(n_features_to_select=4).fit(X, y, meta_features=place)
    assert few.get_support().sum() == 4
    with pytest.raises(UsageError, match=r"budget of 0.5 is below .* costs 1: give"):
        clone(mufasa).set_params(budget=0.5).fit(X, y)
    for wrong in ([1.0], -costs, np.full(len(place), np.nan)):
        with pytest.raises(UsageError, match="feature_costs must be 120 numbers"):
            clone(mufasa).set_params(feature_costs=wrong).fit(X, y)


def test_fewer_features_than_wanted_are_all_taken():
    X, y = table()
    mufasa = Mufasa(500, n_steps=3, random_state=0).fit(X, y, meta_features=np.arange(10.0))
    assert mufasa.get_support().all()
    rich = Mufasa(budget=1e9, n_steps=3, random_state=0).fit(X, y, meta_features=np.arange(10.0))
    assert rich.get_support().all()
    single = Mufasa(n_steps=2, random_state=0).fit(X[:, :1], y, meta_features=[1.0])
    assert single.get_support().tolist() == [True]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(
            st.permutations(range(n)),
            st.lists(st.floats(0.5, 4), min_size=n, max_size=n),
            st.integers(1, 12),
        )
    ),
    st.floats(0.5, 20),
)
def test_affordable_features_are_those_that_fit_in_turn(given_order, budget):
    order, costs, limit = given_order
    taken, spent = [], 0.0
    for feature in order:
        if len(taken) < limit and spent + costs[feature] <= budget * (1 + 1e-12):
            taken.append(feature)
            spent += costs[feature]
    assert affordable(np.array(order), np.array(costs), budget, limit).tolist() == taken


def test_a_prior_is_where_the_walk_starts():
    X, y, place = described()
    expected = np.zeros(len(place))
    expected[[60, 74]] = [0.9, 0.3]
    mufasa = Mufasa(12, n_steps=1, random_state=0)
    warm = clone(mufasa).fit(X, y, prior=expected, meta_features=place)
    assert warm.u_best_[0] == pytest.approx((0.9 * 60 + 0.3 * 74) / 1.2)
    assert warm.fitness_ > np.mean(
        [
            clone(mufasa).set_params(random_state=s).fit(X, y, meta_features=place).fitness_
            for s in range(8)
        ]
    )
    nothing = clone(mufasa).fit(X, y, prior=Prior(np.zeros(len(place))), meta_features=place)
    cold = clone(mufasa).fit(X, y, meta_features=place)
    np.testing.assert_array_equal(nothing.get_support(), cold.get_support())
    for _, features, fitness in warm.candidates_:
        assert fitness == SVMAccuracy().of_set(X, y, list(features))


def test_dense_sparse_frames_and_numbers():
    X, y, place = described()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    mufasa = Mufasa(10, n_steps=10, random_state=0).fit(X, y, meta_features=place)
    names = [f"f{j}" for j in range(X.shape[1])]
    for other in (csr_array(X), pd.DataFrame(X, columns=names)):
        same = clone(mufasa).fit(other, np.array(["no", "yes"])[y], meta_features=place)
        np.testing.assert_array_equal(same.get_support(), mufasa.get_support())
        np.testing.assert_allclose(same.scores_, mufasa.scores_)
    assert len(same.get_feature_names_out()) == 10
    numbers = clone(mufasa).fit(X, X[:, 60:75].sum(axis=1), meta_features=place)
    assert numbers.fitness_ > 0.3


def test_limits_and_measures_of_the_selector():
    X, y, place = described()
    margin = Registry().measures["margin"]
    mufasa = Mufasa(5, measure=margin, max_evaluations=7, random_state=0)
    mufasa.fit(X, y, meta_features=place)
    assert mufasa.n_evaluations_ == 7 and mufasa.stopped_ == "budget of 7 evaluations spent"
    assert np.isclose(mufasa.fitness_, margin.of_set(X, y, np.flatnonzero(mufasa.get_support())))
    with pytest.raises(UsageError, match="mufasa cannot use"):
        Mufasa(measure=Registry().measures["fisher"]).fit(X, y)


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_steps": 0},
        {"step": 0.0},
        {"step": (0.1, -0.1)},
        {"decay": 1.5},
        {"restarts": -1},
        {"patience": 0},
        {"max_evaluations": 0},
        {"max_seconds": 0},
        {"n_clusters": 0},
        {"n_features_to_select": 0},
    ],
)
def test_impossible_settings_are_a_sentence(wrong):
    X, y = table()
    with pytest.raises(UsageError):
        Mufasa(**wrong).fit(X, y, meta_features=np.arange(10.0))


@pytest.mark.parametrize(
    "costs", [["dear"] * 6, [1.0] * 5, [1, 1, 1, 1, 1, np.inf], [1, 1, 1, 1, 1, np.nan], {"a": 1}]
)
def test_costs_that_are_none_are_a_sentence(costs):
    X, y = np.random.default_rng(0).normal(size=(20, 6)), np.arange(20) % 2
    with pytest.raises(UsageError, match="feature_costs must be 6 numbers above 0"):
        Mufasa(feature_costs=costs, n_steps=2).fit(X, y)
