import pickle

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
from metafs_margin import GFlip, Margin
from metafs_margin.utility import UTILITIES

from .margins import slow_e

TOLERANCE = 1e-9  # what the documentation promises: a smaller gain is no gain


def e_of_set(X, y, features, utility="linear", beta=1.0):
    """Definition 2 for a set of features, of weight 1 each."""
    return slow_e(np.asarray(X)[:, features], y, np.ones(len(features)), utility, beta)


def literal_gflip(X, y, seed, utility):
    """Algorithm 1 step by step, for e_1 > e_2 by more than rounding."""
    rng = np.random.default_rng(check_random_state(seed).randint(2**31 - 1))
    F, n_passes, seen = set(), 0, {}

    def e(features):
        if features not in seen:
            seen[features] = e_of_set(X, y, sorted(features), utility)
        return seen[features]

    while True:
        changed = False
        n_passes += 1
        for s in rng.permutation(X.shape[1]).tolist():
            e_1, e_2 = e(frozenset(F | {s})), e(frozenset(F - {s}))
            enough = TOLERANCE * max(abs(e_1), abs(e_2))
            if e_1 - e_2 > enough:
                changed |= s not in F
                F = F | {s}
            elif e_2 - e_1 > enough:
                changed |= s in F
                F = F - {s}
        if not changed:
            return sorted(F), n_passes, e(frozenset(F))


def planted(m=150, n=12, seed=0):
    """Two features that decide the class together, among noise."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(m, n))
    return X, (X[:, 3] + X[:, 7] > 1).astype(int)


def assert_local_maximum(fitted, X, y):
    features = np.flatnonzero(fitted.get_support())
    margins = Margin(fitted.utility, fitted.beta).bind(X, y)
    flipped = margins.of_sets(features, np.arange(X.shape[1])[:, None])
    assert (flipped <= fitted.fitness_ * (1 + 2 * TOLERANCE)).all()


def test_a_gain_of_a_millionth_is_a_gain():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [10.0, 3e-3], [11.0, 3e-3]])
    gained = e_of_set(X, [0, 0, 1, 1], [0, 1]) / e_of_set(X, [0, 0, 1, 1], [0]) - 1
    assert 1e-8 < gained < 1e-5
    assert GFlip(random_state=0).fit(X, [0, 0, 1, 1]).get_support().tolist() == [True, True]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.booleans(), st.sampled_from(UTILITIES), st.integers(1, 3))
def test_the_search_is_the_published_one(seed, ties, utility, n_classes):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (16, 5)).astype(float) if ties else rng.normal(size=(16, 5))
    y = rng.integers(0, n_classes, 16)
    gflip = GFlip(utility=utility, random_state=seed).fit(X, y)
    features, n_passes, e = literal_gflip(X, y, seed, utility)
    assert gflip.n_passes_ == n_passes and gflip.n_evaluations_ == 5 * n_passes
    if features:
        assert np.flatnonzero(gflip.get_support()).tolist() == features
        assert gflip.fitness_ == pytest.approx(e, abs=1e-9)
        assert gflip.stopped_ == "no single flip is better"
    else:
        assert gflip.get_support().sum() == 1
        assert gflip.stopped_.endswith("so the best one alone is kept")


def test_lists_end_in_the_set_of_all_distances():
    """More samples than a list holds, against e computed afresh for each set."""
    for seed in range(3):
        X, y = planted(m=200, n=15, seed=seed)
        gflip = GFlip(random_state=seed).fit(X, y)
        rng = np.random.default_rng(check_random_state(seed).randint(2**31 - 1))
        margins, F, e, changed = Margin().bind(X, y), np.zeros(0, dtype=int), 0.0, True
        while changed:
            changed = False
            for feature in rng.permutation(15):
                flipped = np.setxor1d(F, [feature])
                if margins.of_set(flipped) > e:
                    F, e, changed = flipped, margins.of_set(flipped), True
        assert np.flatnonzero(gflip.get_support()).tolist() == F.tolist()
        assert gflip.fitness_ == pytest.approx(e)


def test_attributes_after_the_search():
    X, y = planted()
    gflip = GFlip(random_state=0).fit(X, y)
    features = np.flatnonzero(gflip.get_support())
    assert features.tolist() == [3, 7]
    assert gflip.n_evaluations_ == 12 * gflip.n_passes_
    assert sorted(gflip.ranking_[features]) == [1, 2]
    assert sorted(gflip.ranking_) == list(range(1, 13))
    for j in range(12):
        with_it, without = (f(features, [j]) for f in (np.union1d, np.setdiff1d))
        gain = e_of_set(X, y, with_it) - e_of_set(X, y, without)
        assert gflip.scores_[j] == pytest.approx(gain, abs=1e-9)
    before = 0.0
    for step, chosen, fitness in gflip.candidates_:
        assert 1 <= step <= gflip.n_evaluations_ and fitness > before
        assert fitness == pytest.approx(Margin().of_set(X, y, chosen))
        before = fitness
    assert gflip.fitness_ == before
    assert_local_maximum(gflip, X, y)


@pytest.mark.parametrize("utility", ["sigmoid", "zero-one"])
def test_other_utilities_find_the_planted_features(utility):
    X, y = planted()
    gflip = GFlip(utility=utility, beta=10.0, random_state=0).fit(X, y)
    assert gflip.get_support()[[3, 7]].all()
    assert gflip.fitness_ == pytest.approx(
        e_of_set(X, y, np.flatnonzero(gflip.get_support()), utility, 10.0)
    )
    assert_local_maximum(gflip, X, y)


def test_seeds():
    X, y = planted(m=60, n=30)
    one, two = (GFlip(random_state=5).fit(X, y) for _ in range(2))
    assert one.candidates_ == two.candidates_
    assert any(GFlip(random_state=s).fit(X, y).candidates_ != one.candidates_ for s in range(3))


def test_dense_sparse_and_frames_give_the_same():
    X, y = planted()
    X = np.where(X < 0.3, 0.0, X)
    names = [f"f{j}" for j in range(12)]
    gflip = GFlip(random_state=0).fit(X, y)
    for table in (csr_array(X), csr_matrix(X), pd.DataFrame(X, columns=names)):
        other = clone(gflip).fit(table, np.array(["no", "yes"])[y])
        np.testing.assert_array_equal(other.scores_, gflip.scores_)
        assert other.candidates_ == gflip.candidates_
    assert other.get_feature_names_out().tolist() == [
        name for name, on in zip(names, gflip.get_support(), strict=True) if on
    ]
    assert pickle.loads(pickle.dumps(other)).stopped_ == other.stopped_


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.permutations(range(6)))
def test_permuting_columns_permutes_what_is_found(seed, order):
    """With the order of consideration fixed by a prior, nothing is left to chance."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(30, 6)), rng.integers(0, 3, 30)
    expected, order = rng.permutation(np.linspace(0.1, 0.9, 6)), np.array(order)
    one = GFlip().fit(X, y, prior=Prior(expected, guides=True))
    two = GFlip().fit(X[:, order], y, prior=Prior(expected[order], guides=True))
    np.testing.assert_array_equal(two.get_support(), one.get_support()[order])
    np.testing.assert_allclose(two.scores_, one.scores_[order], atol=1e-9)


def test_budget_and_time_stop_the_search():
    X, y = planted()
    short = GFlip(max_evaluations=5, random_state=0).fit(X, y)
    assert short.n_evaluations_ == 5
    assert short.stopped_.startswith("budget of 5 evaluations spent")
    assert (short.scores_ != 0).sum() == 5 and short.get_support().any()
    late = GFlip(max_seconds=0.0, random_state=0).fit(X, y, prior=np.linspace(0, 1, 12))
    assert late.n_evaluations_ == 0 and late.stopped_.startswith("time is up")
    assert late.get_support().sum() == 1


def test_kept_features_belong_to_every_set():
    X, y = planted()
    kept = GFlip(random_state=0, keep_features=[9, 1]).fit(X, y, prior=np.linspace(0, 1, 12))
    assert kept.get_support()[[1, 9]].all()
    assert all({1, 9} <= set(features) for _, features, _ in kept.candidates_)
    chosen = np.flatnonzero(kept.get_support())
    for j in (1, 9):
        gain = e_of_set(X, y, chosen) - e_of_set(X, y, np.setdiff1d(chosen, [j]))
        assert kept.scores_[j] == pytest.approx(gain, abs=1e-9)
    everything = GFlip(keep_features=range(12)).fit(X, y)
    assert everything.get_support().all() and everything.n_evaluations_ == 0
    assert everything.fitness_ == pytest.approx(Margin().of_set(X, y, range(12)))


def test_a_right_prior_saves_evaluations():
    cold = warm = 0
    for seed in range(8):
        X, y = planted(n=40, seed=seed)
        expected = np.zeros(40)
        expected[[3, 7]] = 0.9
        alone = GFlip(random_state=seed).fit(X, y)
        started = clone(alone).fit(X, y, prior=expected)
        led = clone(alone).fit(X, y, prior=Prior(expected, guides=True))
        assert np.flatnonzero(started.get_support()).tolist() == [3, 7]
        assert started.n_passes_ == 1 and started.n_evaluations_ == 41
        assert led.n_evaluations_ <= alone.n_evaluations_
        cold += alone.n_evaluations_
        warm += started.n_evaluations_
    assert 2 * warm < cold


@pytest.mark.parametrize("wrong", ["start", "first", "both"])
def test_a_wrong_prior_ends_in_a_local_maximum_too(wrong):
    X, y = planted(n=20)
    features = np.array([0, 1, 2, 10])
    prior = Prior(
        np.isin(np.arange(20), features) * 0.8,
        starts=(features,) if wrong != "first" else (),
        guides=wrong != "start",
    )
    gflip = GFlip(random_state=0).fit(X, y, prior=prior)
    assert gflip.stopped_ == "no single flip is better"
    assert gflip.get_support()[[3, 7]].all()
    assert_local_maximum(gflip, X, y)


def test_a_start_worse_than_nothing_is_left_at_once():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    assert Margin().of_set(X, y, [1, 2, 3]) < 0
    start = Prior(np.zeros(4), starts=(np.array([1, 2, 3]),))
    gflip = GFlip(random_state=0).fit(X, y, prior=start)
    assert len(gflip.candidates_[0][1]) == 1 and gflip.candidates_[0][0] > 1
    alone = GFlip(random_state=0).fit(X, y)
    assert gflip.n_evaluations_ == alone.n_evaluations_ + 1
    np.testing.assert_array_equal(gflip.get_support(), alone.get_support())


def test_degenerate_tables_select_something():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    for y in (np.ones(20), np.array([f"class {i}" for i in range(20)])):
        gflip = GFlip(random_state=0).fit(X, y)
        assert gflip.get_support().sum() == 1 and gflip.fitness_ == 0.0
        assert "better than none" in gflip.stopped_ and not gflip.scores_.any()
    twice, y = np.repeat(X, 2, axis=0), np.tile([0, 1], 20)
    lonely = np.r_[2, np.arange(19) % 2]
    constant = np.column_stack([np.ones(20), X[:, 0]])
    tables = [(twice, y), (X, lonely), (X[:, :1], lonely), (constant, lonely), (1e6 * X, lonely)]
    for table, classes in tables:
        gflip = GFlip(random_state=0).fit(table, classes)
        assert gflip.get_support().any() and np.isfinite(gflip.scores_).all()
        assert np.isfinite(gflip.fitness_)
    split = GFlip(random_state=0).fit(np.column_stack([np.ones(20), lonely]), lonely)
    assert split.get_support().tolist() == [False, True] and split.scores_[0] == 0.0
    numbers = GFlip(random_state=0).fit(X, X[:, 2] * 5 + 0.01)
    assert numbers.get_support()[2]


def test_impossible_settings_and_missing_values_are_a_sentence():
    for wrong in (0, 1.5, np.nan, "all"):
        with pytest.raises(UsageError, match="max_evaluations must be at least 1"):
            GFlip(max_evaluations=wrong).fit(np.eye(3), [0, 1, 1])
    for wrong in (3, [3], [-1], [0.5], ["a"]):
        with pytest.raises(UsageError, match="keep_features names a column that is not there"):
            GFlip(keep_features=wrong).fit(np.eye(3), [0, 1, 1])
    with pytest.raises(UsageError, match="linear, sigmoid, zero-one"):
        GFlip(utility="cubic").fit(np.eye(3), [0, 1, 1])
    with pytest.raises(ValueError, match="NaN"):
        GFlip().fit([[np.nan], [1.0], [2.0]], [0, 1, 1])
