import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from metafs.errors import ProblemError, UsageError
from metafs.testing.selectors import CHECKS
from metafs_filters import Fisher
from metafs_metafeatures.mf_pfs.measurers import CallableMeasurer
from metafs_metafeatures.mf_pfs.rfe_controls import random_features
from metafs_metafeatures.mf_pfs.selector import MFPFS
from metafs_svm import SVMWeights

from .problems import KNN, described, spread


@parametrize_with_checks([MFPFS(n_features_to_select=1, t=0.3)])
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", CHECKS[1:], ids=lambda check: check.__name__)
def test_the_contract_holds(check):
    check(MFPFS(2))


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
    reasons = {f"sensor {j}": f"no sensor {j}" for j in broken}
    assert mf_pfs.failed_ and mf_pfs.failed_.items() <= reasons.items()
    failed = [names.index(name) for name in mf_pfs.failed_]
    assert mf_pfs.scores_[failed].max() < len(failed)


def test_fewer_are_kept_where_fewer_can_be_measured():
    X, y, U, _ = described(n_features=30)
    sound = {3, 5, 8}
    measurer = CallableMeasurer(lambda j: X[:, j] if j in sound else None, n_features=30)
    with pytest.warns(UserWarning, match="27 features could not be measured"):
        found = MFPFS(10, random_state=0).fit_measured(measurer, y, U)
    assert set(np.flatnonzero(found.get_support()).tolist()) == sound
    nothing = CallableMeasurer(lambda j: None, n_features=30)
    with pytest.raises(ProblemError, match=r"none of 'x.* could be measured .*; fix the measurer"):
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
