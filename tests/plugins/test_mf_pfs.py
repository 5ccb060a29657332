import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from metafs.errors import ProblemError, UsageError
from metafs.testing.selectors import CHECKS
from metafs_filters import Fisher
from metafs_metafeatures.mf_pfs.elimination import eliminate_all_measured, evenly_down, sizes_left
from metafs_metafeatures.mf_pfs.measurers import CallableMeasurer, TableMeasurer
from metafs_metafeatures.mf_pfs.predictive import (
    ALPHAS,
    alphas_of_steps,
    draw,
    eliminate_unmeasured,
    without_failures,
)
from metafs_metafeatures.mf_pfs.rfe_controls import random_features, rfe_all, rfe_small
from metafs_metafeatures.mf_pfs.selector import MFPFS
from metafs_svm import SVMWeights


def spread(X, y):
    """A quality that is quick: the variance, which no feature shares with another."""
    return np.asarray(X).var(axis=0)


def slow_mf_pfs(X, y, U, n, alphas, t, featquality, regalg, draws):
    """Algorithm 2 as printed; `draws` are the F_0 of each step. Returns F after each step."""
    F = list(range(X.shape[1]))
    history = []
    for step in range(len(draws)):
        if not len(F) > n:
            break
        F_0 = draws[step]
        assert len(F_0) == min(len(F), round(alphas[step] * n)) and set(F_0) <= set(F)
        Y_MF = featquality(X[:, F_0], y)
        X_MF = U[F_0]
        Q = clone(regalg).fit(X_MF, Y_MF)
        estimated = {j: Q.predict(U[[j]])[0] for j in F}
        n_out = min(max(1, int(t * len(F))), len(F) - n)
        for j in sorted(F, key=lambda j: estimated[j])[:n_out]:
            F.remove(j)
        history.append(list(F))
    assert len(F) == n
    return history, estimated


class Recording(TableMeasurer):
    """A table that remembers in which order it was asked."""

    def __init__(self, X):
        super().__init__(X)
        self.asked = []

    def measure(self, features):
        self.asked.append([int(j) for j in features])
        return super().measure(features)


def described(seed=0, m=60, n_features=200, k=3):
    """Features whose use is a smooth function of their first meta-feature."""
    rng = np.random.default_rng(seed)
    U = rng.uniform(size=(n_features, k))
    y = np.arange(m) % 2
    use = np.exp(-((U[:, 0] - 0.7) ** 2) / 0.02)
    X = rng.normal(size=(m, n_features)) + 2 * use * y[:, None]
    return X, y, U, use


KNN = KNeighborsRegressor(3, weights="distance")


@parametrize_with_checks([MFPFS(), MFPFS(n_features_to_select=1, t=0.3)])
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", CHECKS[1:], ids=lambda check: check.__name__)
def test_the_contract_holds(check):
    check(MFPFS(2))


@settings(max_examples=40, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    st.integers(0, 2**31),
    st.integers(10, 14),
    st.integers(2, 90),
    st.sampled_from([0.3, 0.5, 0.7]),
    st.booleans(),
)
def test_the_elimination_is_the_published_one(seed, n, more, t, reuse):
    rng = np.random.default_rng(seed)
    N = n + more
    X, U, y = rng.normal(size=(12, N)), rng.normal(size=(N, 2)), np.arange(12) % 2
    measurer = Recording(X)
    quality, regressor = spread, LinearRegression() if seed % 2 else KNN
    found = eliminate_unmeasured(
        measurer, y, U, n, rng, t=t, quality=quality, regressor=regressor, reuse=reuse
    )
    sizes = sizes_left(N, n, t)
    alphas = alphas_of_steps(ALPHAS, len(sizes))
    history, estimated = slow_mf_pfs(X, y, U, n, alphas, t, quality, regressor, measurer.asked)
    assert [step.n_left for step in found.steps] == sizes
    for F in history:
        assert sorted(found.order[N - len(F) :]) == F
    np.testing.assert_allclose(
        found.expected[list(estimated)], list(estimated.values()), rtol=1e-9, atol=1e-12
    )
    best = found.expected[found.order[-n:]]
    assert np.all(np.diff(best) >= -1e-9 * np.abs(best).max())
    assert found.n_evaluations == sum(map(len, measurer.asked))
    assert sum(step.n_new for step in found.steps) == measurer.n_measured


def test_the_steps_from_10n_are_those_of_the_paper():
    for n in (20, 100, 500):
        sizes = sizes_left(10 * n, n, 0.5)
        assert len(sizes) == 4 and sizes[1] == 5 * n
        np.testing.assert_array_equal(alphas_of_steps(ALPHAS, 4), [0.4, 0.8, 1.0, 1.2])
    X, y, U, _ = described(n_features=500)
    steps = MFPFS(50, random_state=0, regressor=KNN).fit(X, y, meta_features=U).steps_
    assert [(s.n_left, s.n_drawn) for s in steps] == [(500, 20), (250, 40), (125, 50), (63, 60)]


@given(st.lists(st.floats(0.1, 3), min_size=1, max_size=5), st.integers(1, 9))
def test_alpha_is_interpolated_and_ends_with_the_last(alpha, n_steps):
    alphas = alphas_of_steps(alpha, n_steps)
    assert len(alphas) == n_steps and alphas[-1] == alpha[-1]
    assert alphas.min() >= min(alpha) - 1e-12 and alphas.max() <= max(alpha) + 1e-12
    if n_steps > 1:
        assert alphas[0] == alpha[0]
    if n_steps == len(alpha):
        np.testing.assert_allclose(alphas, alpha)


@pytest.mark.parametrize(("reuse", "expected"), [(True, 2.3), (False, 2.6)])
def test_about_a_quarter_of_10n_features_is_measured(reuse, expected):
    X, y, U, _ = described(n_features=1000)
    shares = [
        MFPFS(100, random_state=seed, quality=spread, regressor=LinearRegression(), reuse=reuse)
        .fit(X, y, meta_features=U)
        .n_measured_
        / 100
        for seed in range(5)
    ]
    assert np.mean(shares) == pytest.approx(expected, abs=0.1)


def test_features_are_found_that_were_never_measured():
    X, y, U, use = described(n_features=400, k=1)
    found = MFPFS(40, random_state=0).fit(X, y, meta_features=U)
    assert found.n_measured_ <= 110
    chance = [use[random_features(400, 40, np.random.default_rng(s))].mean() for s in range(20)]
    assert use[found.get_support()].mean() > 0.8 > 2 * max(chance)


def test_the_selected_ones_are_predicted_best():
    X, y, U, _ = described()
    found = MFPFS(20, random_state=0, regressor=KNN).fit(X, y, meta_features=U)
    kept = found.get_support()
    assert kept.sum() == 20
    assert found.scores_[kept].min() > found.scores_[~kept].max()
    np.testing.assert_array_equal(np.sort(found.scores_), np.arange(200))
    np.testing.assert_array_equal(np.argsort(found.ranking_), np.argsort(-found.scores_))
    last = found.expected_quality_[kept]
    np.testing.assert_array_equal(np.argsort(last), np.argsort(found.scores_[kept]))
    assert found.stopped_ == "20 features left" and found.failed_ == {}


def test_unmeasured_columns_are_never_read():
    X, y, U, _ = described()
    asked = []
    found = MFPFS(20, random_state=0, regressor=KNN).fit_measured(
        lambda j: asked.append(j) or X[:, j], y, meta_features=U
    )
    assert len(asked) == len(set(asked)) == found.n_measured_ < 60
    assert set(np.flatnonzero(found.get_support())) <= set(asked)
    same = MFPFS(20, random_state=0, regressor=KNN).fit(X, y, meta_features=U)
    np.testing.assert_array_equal(same.scores_, found.scores_)
    assert same.n_measured_ == found.n_measured_


def test_what_an_earlier_fit_measured_costs_nothing():
    X, y, U, _ = described()
    measurer = CallableMeasurer(lambda j: X[:, j], n_features=200)
    first = MFPFS(20, random_state=0, regressor=KNN).fit_measured(measurer, y, U)
    again = MFPFS(20, random_state=0, regressor=KNN).fit_measured(measurer, y, U)
    assert first.n_measured_ > 40 > again.n_measured_
    assert measurer.n_measured == first.n_measured_ + again.n_measured_


@pytest.mark.parametrize("with_meta_features", [True, False])
def test_a_feature_that_fails_is_named_and_skipped(with_meta_features):
    X, y, U, use = described(n_features=100)
    broken = set(np.argsort(-use)[:4].tolist())

    def measure(j):
        if j in broken:
            raise OSError(f"no sensor {j}")
        return X[:, j]

    names = [f"sensor {j}" for j in range(100)]
    mf_pfs = MFPFS(20, random_state=0, regressor=KNN)
    with pytest.warns(
        UserWarning, match=r"features? could not be measured and took no part: 'sens"
    ):
        mf_pfs.fit_measured(measure, y, U if with_meta_features else None, names)
    kept = np.flatnonzero(mf_pfs.get_support())
    assert len(kept) == 20 and not broken & set(kept.tolist())
    assert (
        mf_pfs.failed_
        and mf_pfs.failed_.items()
        <= {f"sensor {j}": f"no sensor {j}" for j in broken}.items() | set()
    )
    failed = [names.index(name) for name in mf_pfs.failed_]
    assert mf_pfs.scores_[failed].max() < len(failed)


def test_the_next_best_takes_the_place_of_one_that_fails_at_the_end():
    X = np.eye(6)
    measurer = CallableMeasurer(lambda j: X[:, j] if j != 4 else 1 / 0, n_features=6)
    order, n = without_failures(measurer, np.array([5, 0, 1, 2, 3, 4]), 2)
    assert order.tolist() == [4, 5, 0, 1, 2, 3] and n == 2
    assert measurer.n_measured == 3


def test_fewer_are_kept_where_fewer_can_be_measured():
    X, y, U, _ = described(n_features=30)
    sound = {3, 5, 8}
    measurer = CallableMeasurer(lambda j: X[:, j] if j in sound else None, n_features=30)
    with pytest.warns(UserWarning, match="27 features could not be measured"):
        found = MFPFS(10, random_state=0).fit_measured(measurer, y, U)
    assert set(np.flatnonzero(found.get_support()).tolist()) == sound
    nothing = CallableMeasurer(lambda j: None, n_features=30)
    with pytest.raises(ProblemError, match=r"none of 'x.* could be measured .*; mend the measurer"):
        MFPFS(10).fit_measured(nothing, y, U)


def test_fewer_features_than_asked_for_are_all_kept():
    X, y, U, _ = described(n_features=8)
    found = MFPFS(20, random_state=0).fit(X, y, meta_features=U)
    assert found.get_support().all() and found.n_measured_ == 8 and found.steps_ == []
    np.testing.assert_array_equal(np.argsort(SVMWeights()(X, y)), np.argsort(found.scores_))
    assert found.stopped_ == "no more features than to be kept: every feature was measured"


def test_without_meta_features_it_is_recursive_elimination():
    X, y, _, _ = described(n_features=40)
    found = MFPFS(5).fit(X, y)
    left = list(range(40))
    while len(left) > 5:
        weights = SVMWeights()(X[:, left], y)
        n_out = min(int(0.5 * len(left)), len(left) - 5)
        out = [left[i] for i in np.argsort(weights)[:n_out]]
        left = [j for j in left if j not in out]
    assert np.flatnonzero(found.get_support()).tolist() == left
    assert found.n_measured_ == 40 and found.n_evaluations_ == 40 + 20 + 10
    assert found.stopped_ == "no meta-features to predict from: every feature was measured"
    assert np.isnan(found.expected_quality_).all()
    empty = MFPFS(5).fit(X, y, meta_features=np.empty((40, 0)))
    np.testing.assert_array_equal(empty.scores_, found.scores_)


def test_missing_and_constant_meta_features_are_borne():
    X, y, U, use = described(n_features=300)
    U = np.column_stack([U, np.ones(300)])
    U[::7, 0] = np.nan
    U[5] = np.nan
    found = MFPFS(20, random_state=0).fit(X, y, meta_features=U)
    known = ~np.isnan(U[:, 0])
    assert use[found.get_support() & known].mean() > 0.6
    constant = MFPFS(20, random_state=0).fit(X, y, meta_features=np.ones(300))
    assert constant.get_support().sum() == 20 and constant.n_measured_ < 300


def test_equal_predictions_are_decided_by_chance_not_by_place():
    X, y, _, _ = described(n_features=100)
    kept = [
        MFPFS(10, random_state=seed, regressor=KNN)
        .fit(X, y, meta_features=np.ones(100))
        .get_support()
        for seed in range(4)
    ]
    assert not all(each[:10].all() for each in kept)
    assert np.mean(kept, axis=0).max() < 1.0


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 30), st.integers(1, 40))
def test_draws_are_different_features_of_those_left(seed, n_left, count):
    rng = np.random.default_rng(seed)
    left = np.sort(rng.permutation(40)[:n_left])
    known, expected = rng.random(40) < 0.3, rng.random(40) * (rng.random(40) < 0.3)
    for options in ({}, {"known": known}, {"expected": expected},
                    {"known": known, "expected": expected}):  # fmt: skip
        drawn = draw(left, count, rng, **options)
        assert len(drawn) == len(set(drawn.tolist())) == min(count, n_left)
        assert set(drawn.tolist()) <= set(left.tolist())
        if "known" in options:
            assert known[drawn].sum() == min(count, known[left].sum())


def test_a_prior_says_who_is_measured_first():
    expected = np.zeros(100)
    expected[[3, 50, 70]] = 0.5, 0.9, 0.7
    drawn = draw(np.arange(100), 4, np.random.default_rng(0), expected=expected)
    assert drawn[:2].tolist() == [50, 70] and not set(drawn[2:].tolist()) & {50, 70}
    X, y, U, _ = described(n_features=100)
    asked = []
    MFPFS(20, random_state=0, regressor=KNN).fit_measured(
        lambda j: asked.append(j) or X[:, j], y, U, prior=expected
    )
    assert asked[:3] == [50, 70, 3]
    without = MFPFS(20, random_state=0, regressor=KNN).fit(X, y, meta_features=U)
    nothing = MFPFS(20, random_state=0, regressor=KNN).fit(
        X, y, meta_features=U, prior=np.zeros(100)
    )
    np.testing.assert_array_equal(without.scores_, nothing.scores_)


def test_every_feature_is_drawn_equally_often():
    counts = np.zeros(20)
    for seed in range(2000):
        counts[draw(np.arange(20), 5, np.random.default_rng(seed))] += 1
    assert np.abs(counts - 500).max() < 100


def test_any_quality_and_any_regressor_will_do():
    X, y, U, _ = described(n_features=300)
    fisher = Fisher()(X, y)
    found = MFPFS(15, quality=Fisher(), regressor=KNN,
                  random_state=0).fit(X, y, meta_features=U)  # fmt: skip
    assert fisher[found.get_support()].mean() > 2 * fisher.mean()
    negative = MFPFS(15, quality=lambda X, y: -spread(X, y), regressor=LinearRegression(),
                     random_state=0).fit(X, y, meta_features=U)  # fmt: skip
    assert negative.get_support().sum() == 15


def test_sparse_frames_and_names():
    X, y, U, _ = described()
    X[np.abs(X) < 0.5] = 0
    names = [f"f{j}" for j in range(200)]
    dense = MFPFS(20, random_state=0, regressor=KNN).fit(X, y, meta_features=U)
    sparse = MFPFS(20, random_state=0, regressor=KNN).fit(csr_array(X), y, meta_features=U)
    np.testing.assert_array_equal(dense.scores_, sparse.scores_)
    frame = MFPFS(20, random_state=0, regressor=KNN).fit(
        pd.DataFrame(X, columns=names), y, meta_features=U
    )
    kept = [name for name, on in zip(names, dense.get_support(), strict=True) if on]
    assert frame.get_feature_names_out().tolist() == kept
    again = pickle.loads(pickle.dumps(frame))
    np.testing.assert_array_equal(again.get_support(), dense.get_support())


def test_same_seed_same_answer_and_another_seed_another():
    X, y, U, _ = described()
    one, two, other = (
        MFPFS(20, random_state=s, regressor=KNN).fit(X, y, meta_features=U).scores_
        for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_wrong_parameters_are_sentences():
    X, y, U, _ = described(n_features=20)
    for parameters, sentence in [
        ({"t": 1.0}, "t must lie between 0 and 1, not 1"),
        ({"alpha": ()}, "alpha is empty"),
        ({"alpha": (0.4, -1)}, "alpha must be more than 0, not -1"),
        ({"alpha": "much"}, "alpha must be more than 0, not 'much'"),
        ({"min_measured": 0}, "min_measured must be at least 1"),
        ({"quality": "svm"}, "quality is 'svm'; give a measure"),
        ({"regressor": "gp"}, "regressor is 'gp'; give a scikit-learn regressor"),
        ({"n_features_to_select": 0}, "n_features_to_select is 0"),
    ]:
        with pytest.raises(UsageError, match=sentence):
            MFPFS(**parameters).fit(X, y, meta_features=U)
    with pytest.raises(ProblemError, match="give one row for each feature"):
        MFPFS().fit_measured(X, y, U[:5])
    with pytest.raises(ProblemError, match="60 values but the target has 59"):
        MFPFS().fit_measured(X, y[:-1], U)
    with pytest.raises(UsageError, match="give n_features or feature_names"):
        MFPFS().fit_measured(lambda j: X[:, j], y)


def test_rfe_all_goes_down_in_six_equal_steps():
    X, y, _, _ = described(n_features=100)
    sizes = evenly_down(100, 10, 6)
    assert sizes == [68, 46, 32, 22, 15, 10]
    left = list(range(100))
    for size in sizes:
        weights = SVMWeights()(X[:, left], y)
        left = sorted(left[i] for i in np.argsort(-weights)[:size])
    measurer = TableMeasurer(X)
    assert sorted(rfe_all(measurer, y, 10).tolist()) == left
    assert measurer.n_measured == 100
    assert rfe_all(TableMeasurer(X[:, :5]), y, 10).shape == (5,)


def test_rfe_small_measures_no_more_than_it_may():
    X, y, _, _ = described(n_features=300)
    measurer = TableMeasurer(X)
    kept = rfe_small(measurer, y, 10, 23, np.random.default_rng(0))
    assert len(set(kept.tolist())) == 10 and measurer.n_measured == 23
    np.testing.assert_array_equal(
        kept, rfe_small(TableMeasurer(X), y, 10, 23, np.random.default_rng(0))
    )
    with pytest.raises(UsageError, match="n_measured must be at least 1"):
        rfe_small(measurer, y, 10, 0, np.random.default_rng(0))


def test_controls_leave_out_what_fails():
    X, y, _, _ = described(n_features=12)
    measurer = CallableMeasurer(lambda j: X[:, j] if j else 1 / 0, n_features=12)
    assert 0 not in rfe_all(measurer, y, 12).tolist()
    order, n_evaluations = eliminate_all_measured(measurer, y, [6, 3], quality=spread)
    assert order[0] == 0 and n_evaluations == 11 + 6
    assert order[-1] == np.argmax(np.where(np.arange(12) == 0, 0, spread(X, y)))
