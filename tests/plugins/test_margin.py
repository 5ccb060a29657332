"""Margins of samples and sets, the measure, and Relief."""

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

import metafs_margin.nearest
import metafs_margin.sets
from metafs.errors import ProblemError, UsageError
from metafs_climb import Climb
from metafs_margin import GFlip, Margin, Relief, Simba, metafs_measures, metafs_selectors
from metafs_margin.nearest import Groups, rounding
from metafs_margin.relief import picks
from metafs_margin.utility import UTILITIES, Utility

from .margins import UTILITY_OF, slow_e, slow_nearest


def slow_relief(X, y, samples):
    """Algorithm 3."""
    w = np.zeros(X.shape[1])
    for i in samples:
        (_, hit), (_, miss) = slow_nearest(X, y, i, np.ones(X.shape[1]))
        if hit is not None and miss is not None:
            w += (X[i] - X[miss]) ** 2 - (X[i] - X[hit]) ** 2
    return w


def indicator(features, n):
    return np.isin(np.arange(n), features).astype(float)


def tables(values, n_features=4, n_classes=3):
    return st.integers(2, 18).flatmap(
        lambda m: st.tuples(
            arrays(np.float64, (m, n_features), elements=values),
            arrays(np.int64, (m,), elements=st.integers(0, n_classes - 1)),
        )
    )


FULL_OF_TIES = st.sampled_from([0.0, 0.0, 1.0, 2.0, -1.0, 0.1])
REAL = st.floats(-3, 3, width=16)
ANY = st.one_of(tables(FULL_OF_TIES), tables(REAL))


@parametrize_with_checks([Relief(n_steps=7)])
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


@settings(max_examples=120, deadline=None)
@given(ANY, st.sampled_from(UTILITIES), st.integers(0, 2**31))
def test_the_measure_is_the_definition(table, utility, seed):
    X, y = table
    measure = Margin(utility, beta=2.0)
    w = np.random.default_rng(seed).choice([0.0, 0.3, 1.0, 1.7], 4)
    assert measure.of_weights(X, y, w) == pytest.approx(
        slow_e(X, y, w, utility, beta=2.0), abs=1e-9
    )
    margins = measure.of_samples(X, y, w)
    assert margins.shape == (len(y),)
    assert Utility(utility, 2.0).total(margins) == pytest.approx(measure.of_weights(X, y, w))
    singles = [slow_e(X, y, indicator([j], 4), utility, beta=2.0) for j in range(4)]
    np.testing.assert_allclose(measure(X, y), singles, atol=1e-9)
    np.testing.assert_allclose(measure(csr_array(X), y), measure(X, y), atol=1e-12)
    np.testing.assert_allclose(measure.bind(X, y).of_each(), singles, atol=1e-9)
    for features in ([], [2], [0, 3], [1, 2, 3]):
        expected = slow_e(X, y, indicator(features, 4), utility, beta=2.0)
        assert measure.of_set(X, y, features) == pytest.approx(expected, abs=1e-9)
        assert measure.of_set(csr_array(X), y, features) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=120, deadline=None)
@given(
    st.integers(0, 2**31),
    st.booleans(),
    st.sampled_from([1, 2, 5, 30]),
    st.sampled_from([0, 25]),
    st.integers(1, 3),
)
def test_what_is_known_of_a_base_decides_as_the_definition_does(seed, ties, length, few, n_classes):
    """A walk over sets: lists are kept, shortened, renewed and dropped on its way."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (25, 6)).astype(float) if ties else rng.normal(size=(25, 6))
    X[:, 5] += 1e7 * rng.integers(0, 2, 25)
    y = np.unique(rng.integers(0, n_classes, 25), return_inverse=True)[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metafs_margin.sets, "FEW", few)
        patch.setattr(metafs_margin.lists, "LENGTH", length)
        margins = Margin().bind(X, y)
        base = np.array([0, 2, 5])
        for _ in range(6):
            edits = np.array([rng.permutation(6)[:2] for _ in range(3)])
            sets = [np.setxor1d(base, edit) for edit in edits]
            expected = [slow_e(X, y, indicator(features, 6)) for features in sets]
            np.testing.assert_allclose(margins.of_sets(base, edits), expected, rtol=1e-7, atol=1e-6)
            base = sets[0]


def test_few_samples_are_compared_with_all_others_once_there_are_lists(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 20)), rng.integers(0, 2, 300)
    margins = Margin().bind(X, y)
    asked = []
    afresh = margins._afresh
    monkeypatch.setattr(margins, "_afresh", lambda f, p=None: asked.append(p) or afresh(f, p))
    for size in (10, 14, 18):
        base, others = np.arange(size), np.arange(size, 20)
        found = margins.of_sets(base, others[:, None])
        expected = [Margin().of_set(X, y, [*base, j]) for j in others]
        np.testing.assert_allclose(found, expected)
    assert sum(len(places) for places in asked) < 0.05 * 18 * 300


@settings(max_examples=100, deadline=None)
@given(ANY)
def test_nearest_is_the_definition_and_of_equals_the_first(table):
    X, y = table
    y = np.unique(y, return_inverse=True)[1]
    groups = Groups(y)
    hit, miss = groups.nearest(X[groups.rows])
    for i, place in enumerate(groups.places):
        (_, slow_hit), (_, slow_miss) = slow_nearest(X, y, i, np.ones(4))
        if slow_miss is not None:  # without misses nobody asks for hits
            assert groups.rows[miss[place]] == slow_miss
            assert hit[place] == -1 if slow_hit is None else groups.rows[hit[place]] == slow_hit


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_what_a_product_leaves_in_doubt_is_decided_by_differences(offset, monkeypatch):
    """Two far heaps, between which the products lose every difference inside a heap."""
    monkeypatch.setattr(metafs_margin.nearest, "_CELLS", 200)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    X[:, 0] += offset * (np.arange(60) % 2)
    groups = Groups(y)
    hit, miss = groups.nearest(X[groups.rows])
    slow = [slow_nearest(X, y, i, np.ones(3)) for i in groups.rows]
    np.testing.assert_array_equal(groups.rows[hit], [side[0][1] for side in slow])
    np.testing.assert_array_equal(groups.rows[miss], [side[1][1] for side in slow])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_err_less_than_the_bound(dtype):
    rng = np.random.default_rng(0)
    for n in (3, 300, 30_000):
        x, z = rng.normal(size=(2, n)).astype(dtype)
        exact = np.dot(x.astype(np.longdouble), z.astype(np.longdouble))
        size = np.sqrt(float(x @ x) * float(z @ z))
        assert abs(float(x @ z) - exact) <= rounding(n, dtype) * size


@settings(max_examples=100, deadline=None)
@given(ANY, st.integers(1, 40), st.integers(0, 2**31))
def test_relief_is_the_published_one(table, n_steps, seed):
    X, y = table
    np.testing.assert_allclose(
        Relief().fit(X, y).scores_, slow_relief(X, y, range(len(y))), atol=1e-9
    )
    rng = np.random.default_rng(check_random_state(seed).randint(2**31 - 1))
    relief = Relief(n_steps=n_steps, random_state=seed).fit(X, y)
    expected = slow_relief(X, y, picks(rng, n_steps, len(y)))
    np.testing.assert_allclose(relief.scores_, expected, atol=1e-9)
    assert relief.n_evaluations_ == n_steps and relief.stopped_ == f"took {n_steps} steps"


@settings(max_examples=60, deadline=None)
@given(tables(REAL, n_classes=2), st.permutations(range(4)))
def test_permuting_columns_permutes_scores(table, order):
    X, y = table
    scores = Relief().fit(X, y).scores_
    np.testing.assert_allclose(Relief().fit(X[:, order], y).scores_, scores[order], atol=1e-9)
    np.testing.assert_allclose(Margin()(X[:, order], y), Margin()(X, y)[order], atol=1e-12)


def test_picks_go_through_all_samples_before_any_comes_again():
    chosen = picks(np.random.default_rng(0), 25, 10)
    assert sorted(chosen[:10]) == sorted(chosen[10:20]) == list(range(10))
    assert len(set(chosen[20:].tolist())) == 5
    assert chosen[:10].tolist() != chosen[10:20].tolist()


def test_dense_sparse_and_frames_give_the_same_relief():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (40, 6)).astype(float), rng.choice(["a", "b", "c"], 40)
    relief = Relief(2).fit(X, y)
    for table in (csr_array(X), csr_matrix(X), pd.DataFrame(X, columns=list("uvwxyz"))):
        other = clone(relief).fit(table, y)
        np.testing.assert_array_equal(other.scores_, relief.scores_)
    assert set(other.get_feature_names_out()) == set(np.array(list("uvwxyz"))[relief.get_support()])


def test_relief_prefers_features_that_separate_near_misses():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 8))
    y = (X[:, 1] > 0.5) ^ (X[:, 6] > 0.5)
    assert np.flatnonzero(Relief(2).fit(X, y).get_support()).tolist() == [1, 6]


def test_a_prior_only_decides_between_equals():
    X = np.array([[0.0, 0.0, 1.0], [0.1, 0.1, 3.0], [1.0, 1.0, 2.0], [1.1, 1.1, 0.0]])
    y = [0, 0, 1, 1]
    assert Relief(1).fit(X, y).ranking_.tolist() == [1, 2, 3]
    assert Relief(1).fit(X, y, prior=[0.0, 0.9, 1.0]).ranking_.tolist() == [2, 1, 3]


def test_degenerate_tables_have_documented_scores():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    for y in (np.ones(20), np.array([f"class {i}" for i in range(20)])):
        assert not Relief().fit(X, y).scores_.any()
        assert not Margin()(X, y).any() and Margin().of_set(X, y, [0, 1]) == 0.0
    twice, y = np.repeat(X, 2, axis=0), np.tile([0, 1], 20)
    assert np.isfinite(Relief().fit(twice, y).scores_).all()
    assert Margin().of_set(twice, y, [0, 1, 2]) < 0
    lonely = np.r_[0, 1, 1, np.zeros(17)]
    assert np.isfinite(Relief().fit(X, np.r_[2, lonely[1:]]).scores_).all()
    assert Relief().fit(np.ones((20, 2)), lonely).scores_.tolist() == [0.0, 0.0]
    assert Relief().fit(X[:, :1], lonely).scores_.shape == (1,)
    numbers = Relief(1).fit(X, X[:, 2] * 5 + 0.01)
    assert numbers.get_support().tolist() == [False, False, True]


def test_missing_values_are_refused():
    X = [[0.0, np.nan], [1.0, 2.0], [2.0, 3.0]]
    for refuse in (Margin(), Margin().bind, Relief().fit):
        with pytest.raises(ValueError, match="NaN"):
            refuse(X, [0, 0, 1])


@pytest.mark.parametrize("scale", [1e-300, 1e150, 1e300])
def test_values_that_cannot_be_squared_are_a_sentence(scale):
    rng = np.random.default_rng(0)
    X, y = scale * rng.uniform(-1, 1, (30, 4)), rng.integers(0, 2, 30)
    methods = (Margin(), Margin().bind, Relief().fit, Simba(random_state=0).fit, GFlip().fit)
    for table in (X, csr_array(X)):
        for refuse in methods:
            with pytest.raises(ProblemError, match=r"too (small|large) for .*: scale the features"):
                refuse(table, y)


def test_a_target_of_another_length_is_refused():
    for y in ([0, 1], [[0, 1], [1, 0], [1, 1]]):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples|1d array"):
            Margin()(np.eye(3), y)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda X, y: Margin("cubic"),
        lambda X, y: Margin(beta=0.0),
        lambda X, y: Margin(beta=np.nan),
        lambda X, y: Margin(beta="steep"),
        lambda X, y: Margin(n_bins=1),
        lambda X, y: Margin().of_weights(X, y, [1.0]),
        lambda X, y: Margin().of_weights(X, y, [1.0, np.nan, 1.0]),
        lambda X, y: Margin().of_set(X, y, [3]),
        lambda X, y: Relief(n_steps=0).fit(X, y),
        lambda X, y: Relief(n_steps=1.5).fit(X, y),
        lambda X, y: Relief("most").fit(X, y),
    ],
)
def test_impossible_settings_are_a_sentence(wrong):
    with pytest.raises(UsageError, match=r"give|must be"):
        wrong(np.eye(3), [0, 1, 1])


def test_utilities_and_their_slopes():
    t = np.array([-1.0, 0.0, 0.5])
    for name in UTILITIES:
        expected = [UTILITY_OF[name](each, 2.0) for each in t]
        np.testing.assert_allclose(Utility(name, 2.0)(t), expected)
    u = Utility("sigmoid", 3.0)
    np.testing.assert_allclose(u.slope(t), (u(t + 1e-6) - u(t - 1e-6)) / 2e-6, rtol=1e-6)
    np.testing.assert_array_equal(Utility().slope(t), [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(Utility("zero-one").slope(t), [1.0, 1.0, 0.0])
    assert Utility().total(np.array([0.1, 0.2, -0.3])) == 0.0


def test_climb_on_the_margin_ends_where_climbing_set_by_set_ends():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(80, 8))
    y = (X[:, 2] + X[:, 5] > 1).astype(int)

    class SetBySet:
        def __call__(self, X, y):
            return Margin()(X, y)

        def of_set(self, X, y, features):
            return Margin().of_set(X, y, features)

    fast = Climb(Margin(), max_evaluations=300, random_state=0).fit(X, y)
    slow = Climb(SetBySet(), max_evaluations=300, random_state=0).fit(X, y)
    assert np.flatnonzero(fast.get_support()).tolist() == [2, 5]
    np.testing.assert_array_equal(fast.get_support(), slow.get_support())
    assert fast.n_evaluations_ == slow.n_evaluations_
    named = Climb(Margin(), categorical_features=[0], random_state=0, max_evaluations=50)
    assert named.fit(np.round(X), y).get_support().any()


def test_the_package_offers_them_and_the_measure_pickles():
    assert metafs_selectors().keys() >= {"relief", "simba", "gflip"}
    measure = metafs_measures()["margin"]
    assert pickle.loads(pickle.dumps(measure)) == measure == Margin()
