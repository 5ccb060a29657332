import pickle
from time import sleep

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array
from sklearn.base import clone

from metafs.errors import UsageError
from metafs.stats.sample_weights import sample_weights
from metafs_margin import ReliefF, SampleWeightedReliefF, k_nearest, metafs_selectors, relieff

SELECTORS = [ReliefF(), SampleWeightedReliefF()]


def slow_diff(X, y, f, i, z, categorical):
    """Kononenko's diff, with expectations over the class of whatever is missing."""
    known = [r for r in range(len(X)) if not np.isnan(X[r, f])]
    if not known:
        return 0.0
    low, high = min(X[r, f] for r in known), max(X[r, f] for r in known)

    def draws(row):
        if not np.isnan(X[row, f]):
            return [X[row, f]]
        return [X[r, f] for r in known if y[r] == y[row]] or [X[r, f] for r in known]

    def apart(a, b):
        if f in categorical:
            return float(a != b)
        return abs(a - b) / (high - low) if high > low else 0.0

    return float(np.mean([apart(a, b) for a in draws(i) for b in draws(z)]))


def slow_relieff(X, y, k, categorical=(), instances=None, weights=None):
    """ReliefF, a sample at a time."""
    m, n = X.shape
    W = np.zeros(n)
    instances = range(m) if instances is None else instances
    for i in instances:
        diffs = [[slow_diff(X, y, f, i, z, categorical) for f in range(n)] for z in range(m)]
        for c in set(y.tolist()):
            others = [z for z in range(m) if y[z] == c and z != i]
            nearest = sorted(others, key=lambda z: (round(sum(diffs[z]), 9), z))[:k]
            if not nearest:
                continue
            P_c, P_own = np.mean(y == c), np.mean(y == y[i])
            share = -1.0 if c == y[i] else P_c / (1 - P_own)
            weight = 1.0 if weights is None else weights[i]
            for z in nearest:
                W += weight * share * np.array(diffs[z]) / len(nearest)
    return W / len(instances)


few = st.sampled_from([0.0, 0.0, 1.0, 2.0, 7.0])
binary = st.sampled_from([0.0, 1.0])
tables = st.tuples(
    st.integers(2, 12), st.integers(1, 4), st.sampled_from([few, binary]), st.booleans()
).flatmap(
    lambda drawn: st.tuples(
        arrays(
            np.float64,
            drawn[:2],
            elements=st.one_of(drawn[2], st.just(np.nan)) if drawn[3] else drawn[2],
        ),
        arrays(np.int64, drawn[:1], elements=st.integers(0, 2)),
    )
)


@settings(max_examples=200, deadline=None)
@given(tables, st.integers(1, 5), st.sets(st.integers(0, 3)), st.sampled_from([2, 256]))
def test_relieff_is_the_definition(table, k, categories, side):
    """Ties, categories, missing values, small classes and rows in many tiles included."""
    X, y = table
    categorical = sorted(j for j in categories if j < X.shape[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(k_nearest, "_SIDE", side)
        patch.setattr(relieff, "_PAIRS", side)
        fitted = ReliefF(n_neighbors=k, categorical_features=categorical).fit(X, y)
    np.testing.assert_allclose(fitted.scores_, slow_relieff(X, y, k, categorical), atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 6), st.sampled_from([0.0, 0.3]))
def test_relieff_of_real_numbers_is_the_definition(seed, k, share_missing):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(18, 4)), rng.integers(0, 3, 18)
    X[rng.random(X.shape) < share_missing] = np.nan
    X[:, 1] = np.where(X[:, 1] > 0, 3.0, X[:, 1])
    fitted = ReliefF(n_neighbors=k).fit(X, y)
    np.testing.assert_allclose(fitted.scores_, slow_relieff(X, y, k), atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(tables, st.integers(1, 3), st.booleans())
def test_sample_weighted_relieff_is_the_definition(table, k, first_is_a_category):
    X, y = table
    y = np.unique(y, return_inverse=True)[1]
    categorical = [0] if first_is_a_category else []
    weights = sample_weights(X, y, categorical_features=categorical)
    fitted = SampleWeightedReliefF(n_neighbors=k, categorical_features=categorical).fit(X, y)
    expected = slow_relieff(X, y, k, categorical, weights=weights)
    np.testing.assert_allclose(fitted.scores_, expected, atol=1e-9)


def mixed(m=120, seed=0):
    """Numbers, binary columns, categories and holes; the first column tells the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, m)
    X = np.column_stack(
        [
            y + rng.normal(scale=0.3, size=m),
            rng.normal(size=(m, 4)),
            rng.integers(0, 2, (m, 3)),
            rng.integers(0, 5, (m, 2)),
            np.ones(m),
        ]
    )
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31))
def test_permuting_columns_permutes_the_scores_and_classes_have_no_order(seed):
    X, y = mixed(60, seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(X.shape[1])
    categorical = [8, 9]
    scores = ReliefF(n_neighbors=4, categorical_features=categorical).fit(X, y).scores_
    moved = [int(np.flatnonzero(order == j)[0]) for j in categorical]
    permuted = ReliefF(n_neighbors=4, categorical_features=moved).fit(X[:, order], -y)
    np.testing.assert_allclose(permuted.scores_, scores[order], atol=1e-12)


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
def test_jobs_forms_of_the_table_and_pickling_change_nothing(selector, monkeypatch):
    X, y = mixed()
    names = [f"f{j}" for j in range(X.shape[1])]
    monkeypatch.setattr(k_nearest, "_SIDE", 16)
    monkeypatch.setattr(relieff, "_ROWS", 16)
    selector = clone(selector).set_params(n_features_to_select=1, categorical_features=[8, 9])
    fitted = clone(selector).fit(X, y)
    for n_jobs in (2, 4):
        again = clone(selector).set_params(n_jobs=n_jobs).fit(X, y)
        np.testing.assert_array_equal(again.scores_, fitted.scores_)
    sparse = clone(selector).fit(csr_array(X), np.array(["a", "b", "c"])[y])
    np.testing.assert_array_equal(sparse.scores_, fitted.scores_)
    frame = clone(selector).fit(pd.DataFrame(X, columns=names), y)
    assert frame.get_feature_names_out().tolist() == ["f0"]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(frame)).ranking_, fitted.ranking_)


def test_the_tiles_do_not_change_the_answer(monkeypatch):
    X, y = mixed(300)
    whole = ReliefF(n_neighbors=7).fit(X, y).scores_
    monkeypatch.setattr(k_nearest, "_SIDE", 7)
    monkeypatch.setattr(relieff, "_PAIRS", 1)
    np.testing.assert_allclose(ReliefF(n_neighbors=7).fit(X, y).scores_, whole, atol=1e-14)


def test_of_equally_distant_rows_the_earlier_are_taken_whichever_tile_is_first(monkeypatch):
    """The first tile is made the last to arrive; its rows still come before all others."""
    monkeypatch.setattr(k_nearest, "_SIDE", 8)

    def distances(rows, c, others, c_others):
        if rows[0] == others.start == 0:
            sleep(0.2)
        return np.ones((len(rows), others.stop - others.start))

    y = np.repeat([0, 1], 32)
    hits, misses = k_nearest.k_nearest(distances, 1.0, y, np.arange(64), 3, n_jobs=2)
    assert hits[[0, 1, 5, 40]].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 2], [0, 1, 2]]
    assert misses[[0, 20, 33]].tolist() == [[32, 33, 34], [32, 33, 34], [32, 34, 35]]


def test_some_instances_are_picked_by_seed_and_all_of_them_are_relieff():
    X, y = mixed(40)
    picked = ReliefF(n_neighbors=3, n_instances=15, random_state=5)
    scores = clone(picked).fit(X, y).scores_
    np.testing.assert_array_equal(clone(picked).set_params(n_jobs=2).fit(X, y).scores_, scores)
    assert np.any(clone(picked).set_params(random_state=6).fit(X, y).scores_ != scores)
    instances = sorted(picked._instances(40).tolist())
    assert len(set(instances)) == 15
    np.testing.assert_allclose(scores, slow_relieff(X, y, 3, instances=instances), atol=1e-9)
    every = ReliefF(n_neighbors=3, n_instances=1000, random_state=5).fit(X, y)
    np.testing.assert_array_equal(every.scores_, ReliefF(n_neighbors=3).fit(X, y).scores_)


def test_it_finds_features_that_tell_only_together():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 12)).astype(float)
    y = X[:, 3].astype(int) ^ X[:, 8].astype(int)
    for selector in (ReliefF(2), SampleWeightedReliefF(2)):
        assert np.flatnonzero(selector.fit(X, y).get_support()).tolist() == [3, 8]


def test_a_prior_decides_between_equals_only():
    X, y = mixed()
    X = np.column_stack([X, X[:, 0]])
    alone = ReliefF(1).fit(X, y)
    assert np.flatnonzero(alone.get_support()).tolist() == [0]
    expected = np.zeros(X.shape[1])
    expected[[1, 11]] = [1.0, 0.5]
    warm = ReliefF(1).fit(X, y, prior=expected)
    assert np.flatnonzero(warm.get_support()).tolist() == [11]
    np.testing.assert_array_equal(warm.scores_, alone.scores_)


def test_what_is_constant_or_unknown_scores_zero():
    X, y = mixed()
    X[:, 3] = np.nan
    scores = ReliefF().fit(X, y).scores_
    assert scores[3] == 0 and scores[10] == 0 and scores.argmax() == 0
    assert (ReliefF().fit(np.full((6, 2), np.nan), [0, 1, 0, 1, 0, 1]).scores_ == 0).all()


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.array([[0.0, 1.0]] * 6), [0, 0, 0, 1, 1, 1]),
        (np.random.default_rng(0).normal(size=(7, 3)), [0, 1, 1, 1, 1, 1, 2]),
        (np.random.default_rng(0).normal(size=(7, 1)), [0, 1, 0, 1, 0, 1, 0]),
        (np.random.default_rng(0).normal(size=(7, 2)), [1] * 7),
        (np.random.default_rng(0).normal(size=(4, 2)), [0, 1, 2, 3]),
        (np.array([[-1.7e308, 1e-310], [1.7e308, 3e-310], [0.0, 2e-310]]), [0, 1, 1]),
    ],
    ids=[
        "equal rows of two classes",
        "fewer than k",
        "one feature",
        "one class",
        "all alone",
        "extremes",
    ],
)
def test_scores_are_finite_on_poor_tables(selector, X, y):
    fitted = clone(selector).fit(X, y)
    assert np.isfinite(fitted.scores_).all() and fitted.get_support().any()
    if type(selector) is ReliefF:
        expected = slow_relieff(X / 4, np.array(y), 10)
        np.testing.assert_allclose(fitted.scores_, expected, atol=1e-9)


def test_a_numeric_target_is_discretised():
    x = np.linspace(0, 1, 80)
    noise = np.random.default_rng(0).normal(size=(80, 3))
    assert ReliefF(1).fit(np.column_stack([noise, x]), x**2).get_support()[3]


@pytest.mark.parametrize("wrong", [{"n_neighbors": 0}, {"n_instances": 0}, {"n_neighbors": 1.5}])
def test_impossible_settings_are_a_sentence(wrong):
    with pytest.raises(UsageError, match="at least 1"):
        ReliefF(**wrong).fit([[0], [1]], [0, 1])
    for column in (1, -1, "colour"):
        with pytest.raises(UsageError, match="column that is not there"):
            ReliefF(categorical_features=[column]).fit([[0], [1]], [0, 1])


def test_the_package_offers_both():
    offered = metafs_selectors()
    assert isinstance(offered["relieff"], ReliefF)
    assert isinstance(offered["sw-relieff"], SampleWeightedReliefF)
