import pickle
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.utils import check_random_state

from metafs.errors import UsageError
from metafs.plugin.prior import Prior
from metafs_climb import Climb, MIConfidence, metafs_measures, metafs_selectors
from metafs_climb.content_order import ContentOrder
from metafs_climb.proposals import n_proposals, proposals
from metafs_filters import Fisher


def slow_fitness(X, y, features, b=5.0, r=1.0):
    """q(S) of section 3.4.2 for discrete data, from the definition."""
    n = len(y)

    def entropy(rows):
        p = np.unique(rows, axis=0, return_counts=True)[1] / n
        return -(p * np.log2(p)).sum()

    features = list(features)
    if not features:
        return 0.0
    chosen, target = X[:, features], np.asarray(y)[:, None]
    mi = entropy(chosen) + entropy(target) - entropy(np.hstack([chosen, target]))
    return max(mi, 0.0) ** (2 - r) * (n / (n + b * len(features))) ** r


def literal_climb(X, y, M, seed, D=5):
    """Section 3.4.1 step by step; only the random draws are shared with the real one."""
    rng = np.random.default_rng(check_random_state(seed).randint(2**31 - 1))
    n_features = X.shape[1]
    S, best, d, m = frozenset(), 0.0, 1, M
    while d != D and m != 0:
        h = min(max(1, m // 10), n_features**d, comb(n_features, d))
        draws = proposals(rng, h, d, n_features)
        m -= h
        sets = [S ^ frozenset(draw.tolist()) for draw in draws]
        found = [round(slow_fitness(X, y, sorted(s)), 12) for s in sets]
        if found and max(found) > best:
            best = max(found)
            S, d = sets[found.index(best)], 1
        else:
            d += 1
    return sorted(S), best, M - m


def planted(n=200, n_features=40, seed=0):
    """A target made of three features of many."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, n_features)) < 0.4).astype(float)
    y = (X[:, 3] + X[:, 17] + X[:, 29] >= 2).astype(int)
    return X, y


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 300), st.integers(2, 4))
def test_the_climb_is_the_published_one(seed, n_features, M, n_values):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (40, n_features)).astype(float)
    y = rng.integers(0, 2, 40)
    climb = Climb(max_evaluations=M, random_state=seed).fit(X, y)
    order = ContentOrder(X, y)
    numbers, fitness, n_evaluations = literal_climb(X[:, order.columns], y, M, seed)
    features = order.columns_of(np.array(numbers, dtype=int)).tolist()
    assert climb.n_evaluations_ == n_evaluations
    if features:
        assert np.flatnonzero(climb.get_support()).tolist() == features
        assert climb.fitness_ == pytest.approx(fitness, abs=1e-11)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([None, "starts", "guides"]), st.booleans())
def test_the_order_of_columns_plays_no_part(seed, prior, sparse):
    rng = np.random.default_rng(seed)
    X = (rng.random((30, 12)) < 0.5).astype(float)  # few rows: many sets are worth the same
    X = X[:, np.sort(np.unique(X, axis=1, return_index=True)[1])]
    y = X[:, 0] != X[:, 1]
    expected = rng.random(X.shape[1]).round(1)
    starts = (np.flatnonzero(expected > 0.7),)
    order = rng.permutation(X.shape[1])

    def fitted(columns):
        given = None
        if prior is not None:
            place = np.argsort(columns)
            given = Prior(
                expected[columns],
                starts=tuple(np.sort(place[start]) for start in starts if len(start)),
                guides=prior == "guides",
            )
        table = csr_array(X[:, columns]) if sparse else X[:, columns]
        return Climb(max_evaluations=100, random_state=seed).fit(table, y, prior=given)

    one, other = fitted(np.arange(X.shape[1])), fitted(order)
    np.testing.assert_array_equal(one.get_support()[order], other.get_support())
    np.testing.assert_array_equal(one.scores_[order], other.scores_)
    assert one.fitness_ == other.fitness_ and one.n_evaluations_ == other.n_evaluations_
    moved = [tuple(sorted(order[list(features)].tolist())) for _, features, _ in other.candidates_]
    assert [features for _, features, _ in one.candidates_] == moved


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([0.0, 5.0]), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_measure_is_the_definition(seed, b, r):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (30, 6)) * (rng.random((30, 6)) < 0.5).astype(float)
    y = rng.integers(0, 3, 30)
    measure = MIConfidence(b=b, r=r)
    base, edits = [1, 4], np.array([rng.permutation(6)[:2] for _ in range(10)])
    sets = [np.setxor1d(base, edit) for edit in edits]
    expected = [slow_fitness(X, y, s, b, r) for s in sets]
    np.testing.assert_allclose(measure.bind(X, y).of_sets(base, edits), expected, atol=1e-11)
    np.testing.assert_allclose([measure.of_set(X, y, s) for s in sets], expected, atol=1e-11)
    singles = [measure.of_set(X, y, [j]) for j in range(6)]
    np.testing.assert_array_equal(measure(X, y), singles)
    assert measure.of_set(X, y, []) == 0.0


def test_dense_sparse_and_frames_give_the_same_climb():
    X, y = planted()
    X[:5, 2] = np.nan
    climb = Climb(random_state=1).fit(X, y)
    names = [f"word{j}" for j in range(40)]
    for table in (csr_array(X), csr_matrix(X), pd.DataFrame(X, columns=names)):
        other = clone(climb).fit(table, np.array(["no", "yes"])[y])
        np.testing.assert_array_equal(other.scores_, climb.scores_)
        np.testing.assert_array_equal(other.ranking_, climb.ranking_)
        assert (other.candidates_, other.fitness_) == (climb.candidates_, climb.fitness_)
    assert other.get_feature_names_out().tolist() == ["word3", "word17", "word29"]
    assert pickle.loads(pickle.dumps(other)).stopped_ == other.stopped_


def test_attributes_after_the_search():
    X, y = planted()
    climb = Climb(random_state=0).fit(X, y)
    assert np.flatnonzero(climb.get_support()).tolist() == [3, 17, 29]
    assert climb.stopped_ == "no better set within 4 edits"
    assert sorted(climb.ranking_[[3, 17, 29]]) == [1, 2, 3]
    assert sorted(climb.ranking_) == list(range(1, 41))
    for step, features, fitness in climb.candidates_:
        assert 1 <= step <= climb.n_evaluations_
        assert fitness == pytest.approx(slow_fitness(X, y, features), abs=1e-11)
    assert climb.fitness_ == max(fitness for _, _, fitness in climb.candidates_)


def test_the_target_stops_the_count_at_the_set_that_reached_it():
    X, y = planted()
    full = Climb(random_state=0).fit(X, y)
    step, features, fitness = max(full.candidates_, key=lambda c: (round(c[2], 12), -c[0]))
    again = Climb(random_state=0, target_score=fitness).fit(X, y)
    assert again.n_evaluations_ == step < full.n_evaluations_
    assert again.stopped_ == "target score reached"
    assert tuple(np.flatnonzero(again.get_support())) == features
    assert again.candidates_ == [c for c in full.candidates_ if c[0] <= step]


def test_budget_and_time_stop_the_search():
    X, y = planted()
    short = Climb(max_evaluations=7, random_state=0).fit(X, y)
    assert short.n_evaluations_ == 7
    assert short.stopped_.startswith("budget of 7 evaluations spent")
    late = Climb(max_seconds=0.0, random_state=0).fit(X, y)
    assert late.n_evaluations_ == 0 and late.stopped_.startswith("time is up")


def test_a_selection_is_never_empty():
    X = np.random.default_rng(0).normal(size=(30, 5))
    climb = Climb(random_state=0).fit(X, np.ones(30))
    assert climb.get_support().sum() == 1 and climb.fitness_ == 0.0
    assert climb.stopped_.endswith("so the best feature is kept")


def test_starts_cost_one_evaluation_each_and_the_best_is_where_it_begins():
    X, y = planted()
    starts = (np.array([0, 1]), np.array([29, 3]), np.array([5]))
    climb = Climb(random_state=0).fit(X, y, prior=Prior(np.zeros(40), starts=starts))
    assert [c[:2] for c in climb.candidates_[:3]] == [(1, (0, 1)), (2, (3, 29)), (3, (5,))]
    assert climb.candidates_[3][1] == (3, 17, 29)
    solved = Climb(random_state=0, target_score=0.5)
    solved.fit(X, y, prior=Prior(np.zeros(40), starts=(np.array([3, 17, 29]), np.array([1]))))
    assert solved.n_evaluations_ == 1 and solved.stopped_ == "target score reached"


def test_a_prior_that_neither_starts_nor_leads_is_no_prior():
    X, y = planted()
    alone = Climb(random_state=4).fit(X, y)
    idle = Climb(random_state=4).fit(X, y, prior=Prior(np.full(40, 0.5)))
    assert alone.candidates_ == idle.candidates_
    assert alone.n_evaluations_ == idle.n_evaluations_


@pytest.mark.parametrize("way", ["start", "guide"])
def test_a_right_prior_saves_evaluations_and_a_wrong_one_changes_no_fitness(way):
    X, y = planted(n_features=400)
    expected = np.full(400, 0.01)
    expected[[3, 17, 29]] = [0.9, 0.8, 0.7]
    known = np.array([3, 17])
    right = {
        "start": Prior(expected, starts=(known,)),
        "guide": Prior(expected, guides=True),
    }[way]
    wrong = np.zeros(400)
    wrong[100:110] = 1.0
    spent = {"none": 0, "right": 0}
    for seed in range(10):
        cold = Climb(random_state=seed, target_score=0.7, max_evaluations=5000).fit(X, y)
        warm = clone(cold).fit(X, y, prior=right)
        misled = clone(cold).fit(X, y, prior=Prior(wrong, guides=True))
        assert cold.fitness_ >= 0.7 and warm.fitness_ >= 0.7 and misled.fitness_ >= 0.7
        spent["none"] += cold.n_evaluations_
        spent["right"] += warm.n_evaluations_
    assert spent["right"] * 2 < spent["none"]


def test_a_measure_that_only_knows_sets_is_climbed_too():
    X, y = planted()

    class OnlySets:
        def __call__(self, X, y):
            return MIConfidence()(X, y)

        def of_set(self, X, y, features):
            assert len(features)
            return MIConfidence().of_set(X, y, features) - 1.0

    slow = Climb(OnlySets(), max_evaluations=300, random_state=0).fit(X, y)
    fast = Climb(max_evaluations=300, random_state=0).fit(X, y)
    np.testing.assert_array_equal(slow.get_support(), fast.get_support())
    assert slow.fitness_ == pytest.approx(fast.fitness_ - 1.0)
    assert slow.n_evaluations_ == fast.n_evaluations_
    np.testing.assert_array_equal(slow.scores_, fast.scores_)


def test_numbers_are_discretised_and_categories_may_be_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    climb = Climb(random_state=0).fit(X, X[:, 4] * 3 + 0.01 * rng.normal(size=300))
    assert climb.get_support()[4] and climb.scores_.argmax() == 4
    colours = rng.integers(0, 12, (300, 1)).astype(float)
    binned = MIConfidence().of_set(colours, colours[:, 0] % 2, [0])
    named = MIConfidence(categories={0: tuple("abcdefghijkl")})
    assert named.of_set(colours, colours[:, 0] % 2, [0]) > 0.9 > binned
    assert named(colours, colours[:, 0] % 2)[0] > 0.9


@pytest.mark.parametrize(
    "wrong", [lambda: Climb(max_evaluations=0), lambda: Climb(max_edits=1)], ids=["M", "D"]
)
def test_impossible_settings_are_a_sentence(wrong):
    with pytest.raises(UsageError, match="must be at least"):
        wrong().fit([[0], [1]], [0, 1])


@pytest.mark.parametrize("wrong", [{"b": -1.0}, {"r": 2.0}, {"r": np.nan}])
def test_impossible_measures_are_a_sentence(wrong):
    with pytest.raises(UsageError, match="mi-confidence"):
        MIConfidence(**wrong)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 9), st.integers(1, 5), st.integers(1, 500))
def test_proposals_are_distinct_features_and_all_sets_when_there_are_no_more(seed, f, d, m):
    h = n_proposals(m, f, d)
    rows = proposals(np.random.default_rng(seed), h, d, f)
    assert rows.shape == (h, d) and h == min(max(1, m // 10), comb(f, d))
    assert all(len(set(row)) == d for row in rows.tolist())
    sets = [tuple(sorted(row)) for row in rows.tolist()]
    if d == 1 or h == comb(f, d):
        assert len(set(sets)) == h
    if h == comb(f, d):
        assert set(sets) == set(combinations(range(f), d))


def test_the_package_offers_the_climb_and_its_measure():
    assert metafs_selectors().keys() == {"climb"}
    measure = metafs_measures()["mi-confidence"]
    assert pickle.loads(pickle.dumps(measure)) == measure == MIConfidence()


def test_kept_features_belong_to_every_set():
    X, y = planted()
    free = Climb(random_state=0).fit(X, y)
    assert not free.get_support()[[7, 8]].any()
    kept = Climb(random_state=0, keep_features=[8, 7]).fit(X, y)
    assert kept.get_support()[[7, 8]].all()
    assert all({7, 8} <= set(features) for _, features, _ in kept.candidates_)
    chosen = np.flatnonzero(kept.get_support())
    assert kept.fitness_ == pytest.approx(MIConfidence().of_set(X, y, chosen))
    everything = Climb(random_state=0, keep_features=range(40)).fit(X, y)
    assert everything.get_support().all()
    warm = Climb(random_state=0, keep_features=[7]).fit(X, y, prior=np.linspace(0, 1, 40))
    assert warm.get_support()[7]


@pytest.mark.parametrize("measure", ["margin", Fisher()])
def test_what_is_no_measure_of_sets_is_a_sentence(measure):
    with pytest.raises(UsageError, match="give a measure of sets"):
        Climb(measure).fit([[0], [1]], [0, 1])
