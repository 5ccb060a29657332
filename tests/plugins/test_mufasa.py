import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.svm import SVC

import metafs_metafeatures.mufasa.clusters as clusters_module
from metafs.errors import ProblemError, UsageError
from metafs.prior import Prior
from metafs.registry import Registry
from metafs_metafeatures import (
    Mufasa,
    SVMAccuracy,
)
from metafs_metafeatures.mufasa.clusters import FeatureClusters, medoids, standardised
from metafs_metafeatures.mufasa.selector import affordable, tried_scores
from metafs_metafeatures.mufasa.svm_accuracy import folds_of


def table(seed=0, n=60):
    """Column j of ten tells the class by j / 5, so that the right end of the table is best."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return np.outer(y, np.arange(10) / 5) + 0.3 * rng.normal(size=(n, 10)), y


def slow_accuracy(X, y, C, n_folds, seed):
    """Machines on the rows themselves, standardised, scaled to a mean squared distance of 1."""
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    X = X / np.sqrt(np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1)))
    folds, right = folds_of(y, n_folds, seed), 0
    for fold in range(n_folds):
        test = folds == fold
        machine = SVC(kernel="linear", C=C, tol=1e-4).fit(X[~test], y[~test])
        right += (machine.predict(X[test]) == y[test]).sum()
    return right / len(y)


@pytest.mark.parametrize("n_folds", [2, 3])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_accuracy_is_that_of_machines_on_the_rows(n_folds, C):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 6)) + np.eye(3)[y] @ rng.normal(size=(3, 6))
    found = SVMAccuracy(C, n_folds).of_set(X, y, [0, 2, 3, 5])
    expected = slow_accuracy(X[:, [0, 2, 3, 5]], y, C, n_folds, 0)
    assert abs(found - expected) <= 2 / 90
    assert 0.4 < found < 0.95
    assert SVMAccuracy(C, n_folds).of_set(csr_array(X), y, [0, 2, 3, 5]) == found


@given(st.lists(st.integers(0, 3), min_size=2, max_size=30), st.integers(2, 4), st.integers(0, 9))
def test_folds_hold_even_parts_of_every_class(classes, n_folds, seed):
    classes = np.array(classes)
    folds = folds_of(classes, n_folds, seed)
    assert np.ptp(np.bincount(folds, minlength=n_folds)) <= 1
    for c in np.unique(classes):
        assert np.ptp(np.bincount(folds[classes == c], minlength=n_folds)) <= 1


def test_accuracy_of_odd_tables_is_defined():
    rng = np.random.default_rng(0)
    X, measure = rng.normal(size=(40, 3)), SVMAccuracy()
    assert measure.of_set(X, np.ones(40), [0]) == 1.0
    assert measure.of_set(np.ones((40, 2)), np.arange(40) % 2, [0, 1]) == 0.5
    assert 0 <= measure.of_set(X, np.arange(40).astype(str), [0, 1]) <= 1
    assert measure.of_set(1e8 + X, (X[:, 0] > 0).astype(int), [0]) > 0.9
    numbers = measure.of_set(X, X[:, 1] * 3 + 0.01, [1])
    assert numbers > 0.6 > measure.of_set(X, X[:, 1] * 3 + 0.01, [0])
    many = rng.normal(size=(300, 2))
    part = SVMAccuracy(max_samples=100).of_set(many, many[:, 0] > 0, [0])
    assert part > 0.9
    for wrong in ({"C": 0}, {"n_folds": 1}, {"max_samples": 1}):
        with pytest.raises(UsageError):
            SVMAccuracy(**wrong)


def test_accuracy_may_guide_other_searches():
    X, y = table()
    assert SVMAccuracy()(X, y)[9] > SVMAccuracy()(X, y)[0]
    climb = clone(Registry().selectors["climb"])
    climb.set_params(measure=SVMAccuracy(), max_evaluations=60, random_state=0).fit(X, y)
    assert climb.fitness_ > 0.9


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


def test_what_is_told_of_a_search_is_what_it_did():
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
    with pytest.raises(ProblemError, match="no set that its measure could judge"):
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


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31 - 1), st.integers(1, 40), st.integers(1, 8), st.integers(1, 3))
def test_clusters_are_taken_from_the_nearest_medoid_on(seed, n_features, n_clusters, k):
    rng = np.random.default_rng(seed)
    U = np.round(rng.normal(size=(n_features, k)), 1)
    space = FeatureClusters.of(U, n_clusters, seed=0)
    u = space.nearest(rng.normal(size=k) * 3)
    low, high = space.bounds.T
    assert ((low <= u) & (u <= high)).all()
    assert len(space.medoids) <= n_clusters or len(np.unique(U, axis=0)) <= n_clusters
    order = space.order(u, rng)
    assert sorted(order.tolist()) == list(range(n_features))
    middles = U[space.medoids]
    for feature in range(n_features):
        own = np.linalg.norm(U[feature] - middles[space.labels[feature]])
        assert own <= np.linalg.norm(U[feature] - middles, axis=1).min() + 1e-9
    distances = np.linalg.norm(middles[space.labels[order]] - u, axis=1)
    assert (np.diff(distances) >= -1e-9).all()


def test_features_of_a_cluster_are_drawn_evenly():
    space = FeatureClusters.of(np.array([[0.0], [0.1], [0.2], [9.0]]), 2, seed=0)
    rng = np.random.default_rng(0)
    first = np.bincount([space.order([0.0], rng)[0] for _ in range(900)], minlength=4)
    assert first[3] == 0 and abs(first[:3] - 300).max() < 65


def test_medoids_with_and_without_scikit_learn_extra(monkeypatch):
    rng = np.random.default_rng(0)
    U = np.concatenate([rng.normal(size=(30, 2)) + centre for centre in ([0, 0], [9, 0], [0, 9])])
    plain = medoids(U, 3, seed=0)
    assert sorted(plain // 30) == [0, 1, 2]

    class KMedoids:
        def __init__(self, n_clusters, init, random_state):
            self.n_clusters = n_clusters

        def fit(self, U):
            self.medoid_indices_ = np.arange(self.n_clusters)
            return self

    def offered(name):
        assert name == "sklearn_extra.cluster"
        return type("module", (), {"KMedoids": KMedoids})

    monkeypatch.setattr(clusters_module, "import_module", offered)
    assert medoids(U, 3, seed=0).tolist() == [0, 1, 2]

    def incompatible(name):
        raise ValueError("numpy.dtype size changed")

    monkeypatch.setattr(clusters_module, "import_module", incompatible)
    np.testing.assert_array_equal(medoids(U, 3, seed=0), plain)


def test_standardised_meta_features_can_be_read_back():
    given = np.array([[1.0, np.nan, 5.0], [3.0, 2.0, 5.0], [8.0, 4.0, 5.0]])
    U, middle, scale = standardised(given)
    np.testing.assert_allclose(U * scale + middle, [[1, 3, 5], [3, 2, 5], [8, 4, 5]])
    np.testing.assert_allclose(U[:, :2].std(axis=0), 1.0)
    assert (U[:, 2] == 0).all()


@pytest.mark.parametrize(
    "costs", [["dear"] * 6, [1.0] * 5, [1, 1, 1, 1, 1, np.inf], [1, 1, 1, 1, 1, np.nan], {"a": 1}]
)
def test_costs_that_are_none_are_a_sentence(costs):
    X, y = np.random.default_rng(0).normal(size=(20, 6)), np.arange(20) % 2
    with pytest.raises(UsageError, match="feature_costs must be 6 numbers above 0"):
        Mufasa(feature_costs=costs, n_steps=2).fit(X, y)
