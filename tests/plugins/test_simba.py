import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

import metafs_margin.simba
from metafs.errors import UsageError
from metafs.plugin.prior import Prior
from metafs_margin import Margin, Simba
from metafs_margin.nearest import Groups
from metafs_margin.relief import picks
from metafs_margin.simba import WeightedSearch, ascend, products, starting_weights
from metafs_margin.utility import UTILITIES, Utility

from .margins import slow_nearest


def slow_simba(X, y, w, samples, utility="linear", beta=1.0):
    """Algorithm 2 without its last line, with the slopes of section 6's utilities."""
    w = np.array(w, dtype=float)
    for i in samples:
        (hit2, hit), (miss2, miss) = slow_nearest(X, y, i, w)
        if hit is None or miss is None:
            continue
        d_hit, d_miss = np.sqrt(hit2), np.sqrt(miss2)
        delta = np.zeros(len(w))
        for j in range(len(w)):
            to_miss = (X[i, j] - X[miss, j]) ** 2 / d_miss if d_miss > 0 else 0.0
            to_hit = (X[i, j] - X[hit, j]) ** 2 / d_hit if d_hit > 0 else 0.0
            delta[j] = 0.5 * (to_miss - to_hit) * w[j]
        margin = 0.5 * (d_miss - d_hit) / max(abs(w))
        margin = 0.0 if abs(margin) < 1e-12 else margin
        if utility == "sigmoid":
            s = 1 / (1 + np.exp(-beta * margin))
            delta *= beta * s * (1 - s)
        if utility == "zero-one" and margin > 0:
            delta *= 0.0
        w += delta
    return w


def walk(X, y, w, paths, utility=None):
    groups = Groups(y)
    search = WeightedSearch(X[groups.rows], groups)
    return ascend(search, np.asarray(w), groups.places[paths], utility or Utility())


def xor(seed=0, m=300, n=8):
    X = np.random.default_rng(seed).uniform(size=(m, n))
    return X, ((X[:, 2] > 0.5) ^ (X[:, 5] > 0.5)).astype(int)


FULL_OF_TIES = st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0])
REAL = st.floats(-3, 3, width=16)
TABLES = st.tuples(st.integers(2, 15), st.sampled_from([FULL_OF_TIES, REAL])).flatmap(
    lambda of: st.tuples(
        arrays(np.float64, (of[0], 4), elements=of[1]),
        arrays(np.int64, (of[0],), elements=st.integers(0, 2)),
    )
)


@parametrize_with_checks([Simba(n_restarts=2), Simba(utility="sigmoid", n_steps=20)])
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


@settings(max_examples=120, deadline=None)
@given(TABLES, st.integers(0, 2**31), st.sampled_from(UTILITIES), st.integers(1, 3))
def test_the_ascent_is_the_published_one(table, seed, utility, n_walks):
    X, y = table
    y = np.unique(y, return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    paths = rng.integers(0, len(y), (n_walks, 12))
    starts = rng.uniform(0.5, 1.5, (n_walks, 4)) if seed % 2 else np.ones((n_walks, 4))
    found = walk(X, y, starts, paths, Utility(utility, 2.0))
    for w, start, path in zip(found, starts, paths, strict=True):
        expected = slow_simba(X, y, start, path, utility, 2.0)
        np.testing.assert_allclose(w, expected, rtol=1e-7, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(TABLES, st.integers(0, 2**31), st.sampled_from(UTILITIES))
def test_the_best_restart_by_e_of_w_is_kept(table, seed, utility):
    X, y = table
    simba = Simba(n_restarts=3, n_steps=8, utility=utility, random_state=seed).fit(X, y)
    seeded = np.random.default_rng(check_random_state(seed).randint(2**31 - 1))
    paths = [picks(rng, 8, len(y)) for rng in seeded.spawn(3)]
    weights = [slow_simba(X, y, np.ones(4), path, utility) for path in paths]
    weights = [w / np.abs(w).max() for w in weights]
    measure = Margin(utility)
    values = [measure.of_weights(X, y, w) for w in weights]
    np.testing.assert_allclose(simba.restarts_, values, rtol=1e-7, atol=1e-7)
    assert simba.margin_ == simba.restarts_.max()
    np.testing.assert_allclose(
        simba.scores_, weights[int(simba.restarts_.argmax())] ** 2, rtol=1e-6, atol=1e-9
    )
    assert simba.scores_.max() == 1.0 and simba.n_evaluations_ == 24
    assert simba.stopped_ == "took 8 steps from each of 3 starting points"


def test_single_precision_leaves_no_trace():
    """Near ties by the thousand: rows that float32 cannot tell apart."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 30)), 10, axis=0) + 1e-3 * rng.normal(size=(200, 30))
    y = rng.integers(0, 2, 200)
    paths = rng.integers(0, 200, (2, 25))
    for w, path in zip(walk(X, y, np.ones((2, 30)), paths), paths, strict=True):
        np.testing.assert_allclose(w, slow_simba(X, y, np.ones(30), path), rtol=1e-9)


def test_weights_that_vanish_in_single_precision_still_decide():
    """A constant feature has the largest weight, so the others fall below what float32 holds."""
    rng = np.random.default_rng(0)
    X, y = np.column_stack([np.ones(60), rng.normal(size=(60, 2))]), rng.integers(0, 2, 60)
    for tiny in (3e-22, 1e-25):
        w = np.array([[1.0, tiny, tiny]])
        groups = Groups(y)
        search = WeightedSearch(X[groups.rows], groups)
        for i in range(60):
            hit, miss = next(search.nearest(groups.places[[i]], w))
            (_, slow_hit), (_, slow_miss) = slow_nearest(X, y, i, w[0])
            assert (groups.rows[hit], groups.rows[miss]) == (slow_hit, slow_miss)


@pytest.mark.parametrize("n_vectors", [1, 3])
def test_products_in_blocks_are_products(n_vectors, monkeypatch):
    monkeypatch.setattr(metafs_margin.simba, "_IN_CACHE", 100)
    rng = np.random.default_rng(0)
    table = rng.normal(size=(17, 40)).astype(np.float32)
    vectors = rng.normal(size=(n_vectors, 17)).astype(np.float32)
    np.testing.assert_allclose(products(table, vectors), vectors @ table, rtol=1e-4, atol=1e-5)


def test_xor_is_found():
    X, y = xor()
    simba = Simba(2, random_state=0).fit(X, y)
    assert np.flatnonzero(simba.get_support()).tolist() == [2, 5]
    others = np.delete(simba.scores_, [2, 5])
    assert simba.scores_[[2, 5]].min() > 0.6 and others.max() < 0.2
    assert simba.n_evaluations_ == 5 * 300
    for utility in ("sigmoid", "zero-one"):
        other = Simba(2, utility=utility, beta=5.0, random_state=0).fit(X, y)
        assert np.flatnonzero(other.get_support()).tolist() == [2, 5]


def test_seeds_and_jobs():
    X, y = xor()
    one = Simba(n_steps=40, random_state=1, n_restarts=4).fit(X, y)
    for n_jobs in (2, 3, -1):
        two = clone(one).set_params(n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(one.scores_, two.scores_)
        np.testing.assert_array_equal(one.restarts_, two.restarts_)
    other = clone(one).set_params(random_state=2).fit(X, y)
    assert not np.array_equal(one.scores_, other.scores_)
    more = clone(one).set_params(n_restarts=6).fit(X, y)
    np.testing.assert_allclose(more.restarts_[:4], one.restarts_)
    assert more.margin_ >= one.margin_


def test_dense_sparse_and_frames_give_the_same():
    X, y = xor(m=60)
    X = np.where(X < 0.4, 0.0, X)
    names = [f"f{j}" for j in range(8)]
    simba = Simba(2, random_state=0).fit(X, y)
    for table in (csr_array(X), csr_matrix(X), pd.DataFrame(X, columns=names)):
        other = clone(simba).fit(table, np.array(["no", "yes"])[y])
        np.testing.assert_array_equal(other.scores_, simba.scores_)
    assert other.get_feature_names_out().tolist() == [
        name for name, on in zip(names, simba.get_support(), strict=True) if on
    ]
    assert pickle.loads(pickle.dumps(other)).margin_ == other.margin_


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.permutations(range(5)))
def test_permuting_columns_permutes_scores(seed, order):
    rng = np.random.default_rng(seed)
    X, y = rng.uniform(size=(25, 5)), rng.integers(0, 3, 25)
    simba = Simba(n_restarts=2, random_state=0)
    scores = clone(simba).fit(X, y).scores_
    np.testing.assert_allclose(simba.fit(X[:, order], y).scores_, scores[order], rtol=1e-6)


def test_a_prior_is_where_the_first_restart_begins():
    expected = np.array([0.0, 0.4, 0.8])
    w = starting_weights(Prior(expected), 2, 3)
    np.testing.assert_allclose(w, [[0.3, 0.65, 1.0], [1.0, 1.0, 1.0]])
    assert (starting_weights(Prior(np.zeros(3)), 2, 3) == 1).all()
    X, y = xor()
    cold = Simba(random_state=0, n_steps=30).fit(X, y)
    flat = clone(cold).fit(X, y, prior=np.full(8, 0.3))
    np.testing.assert_array_equal(flat.scores_, cold.scores_)
    right = np.zeros(8)
    right[[2, 5]] = 0.9
    warm = clone(cold).fit(X, y, prior=right)
    np.testing.assert_array_equal(warm.restarts_[1:], cold.restarts_[1:])
    assert warm.restarts_[0] > cold.restarts_[0]


def test_a_right_prior_saves_steps_and_a_wrong_one_loses_the_comparison():
    right = np.zeros(8)
    right[[2, 5]] = 0.9
    for seed in range(5):
        X, y = xor(seed)
        long = Simba(random_state=seed, n_steps=100).fit(X, y)
        short = Simba(random_state=seed, n_steps=10)
        assert clone(short).fit(X, y, prior=right).margin_ > clone(short).fit(X, y).margin_
        misled = clone(long).fit(X, y, prior=1.0 - right)
        assert misled.margin_ >= np.max(long.restarts_[1:])
        assert set(np.argsort(-misled.scores_)[:2]) == {2, 5}


def test_a_feature_that_a_prior_thinks_nothing_of_recovers():
    X, y = xor()
    wrong = np.ones(8)
    wrong[[2, 5]] = 0.0
    simba = Simba(2, n_restarts=1, n_steps=900, random_state=0).fit(X, y, prior=wrong)
    assert np.flatnonzero(simba.get_support()).tolist() == [2, 5]


def test_degenerate_tables_have_documented_scores():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    for y in (np.ones(20), np.array([f"class {i}" for i in range(20)])):
        simba = Simba(random_state=0).fit(X, y)
        assert (simba.scores_ == 1).all() and simba.margin_ == 0.0
    twice, y = np.repeat(X, 2, axis=0), np.tile([0, 1], 20)
    assert np.isfinite(Simba(random_state=0).fit(twice, y).scores_).all()
    constant = Simba(random_state=0).fit(np.ones((20, 2)), np.arange(20) % 2)
    assert constant.scores_.tolist() == [1.0, 1.0]
    lonely = np.r_[2, np.arange(19) % 2]
    assert np.isfinite(Simba(random_state=0).fit(X, lonely).scores_).all()
    assert Simba(random_state=0).fit(X[:, :1], lonely).scores_.tolist() == [1.0]
    assert np.isfinite(Simba(random_state=0).fit(1e6 * X, lonely).scores_).all()
    numbers = Simba(1, random_state=0).fit(X, X[:, 2] * 5 + 0.01)
    assert numbers.get_support().tolist() == [False, False, True]


@pytest.mark.parametrize(
    "wrong", [{"n_steps": 0}, {"n_steps": "1"}, {"n_restarts": 0}, {"n_restarts": 1.5}]
)
def test_impossible_settings_are_a_sentence(wrong):
    with pytest.raises(UsageError, match="must be at least 1"):
        Simba(**wrong).fit(np.eye(3), [0, 1, 1])


def test_an_unknown_utility_and_missing_values_are_a_sentence():
    with pytest.raises(UsageError, match="linear, sigmoid, zero-one"):
        Simba(utility="cubic").fit(np.eye(3), [0, 1, 1])
    with pytest.raises(ValueError, match="NaN"):
        Simba().fit([[np.nan], [1.0], [2.0]], [0, 1, 1])
