"""The learner ``remembered`` and the selector ``projected``."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from metafs.errors import UsageError
from metafs.plugin import Prior
from metafs.stats.linear import Directions, WeightPrior
from metafs_margin.simba import Simba
from metafs_remembered import (
    ProjectedSelector,
    RememberedClassifier,
    RememberedLearner,
    RememberedRegressor,
    VotingLearner,
)
from metafs_svm import FSV, SVMRFE

FOLDS = "cross-validation divides equal rows that a weight would keep together"


@parametrize_with_checks(
    [RememberedClassifier(), RememberedRegressor()],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": FOLDS,
        "check_sample_weight_equivalence_on_sparse_data": FOLDS,
    },
)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


def linear_problem(n, seed=0):
    rng = np.random.default_rng(seed)
    weights = np.zeros(30)
    weights[:5] = 1.0
    X = rng.normal(size=(n, 30))
    return X, X @ weights, weights


def prior_of(weights):
    known = WeightPrior(Directions.of(np.tile(weights, (4, 1))))
    return Prior(np.zeros(len(weights)), weights=known)


def test_a_prior_of_metafs_brings_weights_to_the_learner():
    X, f, weights = linear_problem(15)
    X_test, f_test, _ = linear_problem(500, seed=1)
    own, results = (
        RememberedLearner().fit(X, f, prior=prior) for prior in (None, prior_of(weights))
    )
    errors = [np.mean((each.predict(X_test) - f_test) ** 2) for each in (own, results)]
    assert errors[1] < 0.7 * errors[0]


def test_classes_and_numbers_are_told_apart():
    X, f, _ = linear_problem(40)
    assert not hasattr(RememberedLearner().fit(X, f), "predict_proba")
    learner = RememberedLearner().fit(X, np.where(f > 0, "up", "down"))
    assert learner.predict_proba(X).shape == (40, 2)
    assert set(learner.predict(X)) <= {"up", "down"}


@pytest.mark.parametrize("learner", [RememberedLearner(), VotingLearner(n_trees=5)])
def test_a_learner_of_classes_can_learn_numbers_next(learner):
    X, f, _ = linear_problem(40)
    learner.fit(X, np.where(f > 0, "up", "down")).fit(X, f)
    assert not hasattr(learner, "predict_proba") and not hasattr(learner, "classes_")
    assert learner.predict(X).dtype == float


def test_a_prior_of_other_columns_is_refused():
    X, f, weights = linear_problem(10)
    with pytest.raises(UsageError, match="give the prior of these columns"):
        RememberedLearner().fit(X[:, :7], f, prior=prior_of(weights))


def test_projected_finds_what_memory_knows_with_few_labels_and_rows_without():
    X, f, weights = linear_problem(8)
    more, _, _ = linear_problem(200, seed=2)
    y = np.where(f > np.median(f), 1, 0)
    found = ProjectedSelector(5).fit(X, y, prior=prior_of(weights), X_unlabelled=more)
    plain = ProjectedSelector(5).fit(X, y, X_unlabelled=more)
    assert found.get_support()[:5].sum() > plain.get_support()[:5].sum()
    assert found.get_support().sum() == 5


def test_projected_chooses_few_features_where_few_suffice():
    X, f, _ = linear_problem(300)
    found = ProjectedSelector().fit(X, np.where(f > 0, 1, 0), task="classes")
    assert found.get_support()[:5].all()
    assert found.get_support().sum() < 15
    assert "within one standard error" in found.stopped_


@pytest.mark.parametrize("labels", ["text", "numbers"])
def test_rows_with_a_missing_target_are_unlabelled_rows(labels):
    X, f, _ = linear_problem(60)
    y = np.where(f > 0, "up", "down").astype(object) if labels == "text" else f.copy()
    y[20:] = None if labels == "text" else np.nan
    given = y[:20].astype(str) if labels == "text" else y[:20]
    for estimator in (RememberedLearner(), ProjectedSelector(3)):
        apart = estimator.__class__(**estimator.get_params()).fit(
            X[:20], given, X_unlabelled=X[20:]
        )
        together = estimator.fit(X, y)
        if hasattr(together, "predict"):
            assert (together.predict(X) == apart.predict(X)).all()
        else:
            np.testing.assert_array_equal(together.scores_, apart.scores_)


@pytest.mark.parametrize("selector", [SVMRFE(5), FSV(5), Simba(5, random_state=0)])
def test_methods_that_depend_on_scale_take_the_view_of_the_reference(selector):
    right = np.zeros(3, dtype=int)
    for seed in range(4):
        X, f, weights = linear_problem(16, seed=seed)
        y = np.where(f > 0, "up", "down")
        priors = (None, prior_of(weights), prior_of(0 * weights))
        right += [
            clone(selector).fit(X, y, prior=prior).get_support()[:5].sum() for prior in priors
        ]
    assert right[1] >= right[0] + 5
    assert right[0] == right[2]


def test_projected_has_a_model_on_what_it_keeps():
    X, f, weights = linear_problem(12)
    more, _, _ = linear_problem(200, seed=2)
    X_test, f_test, _ = linear_problem(500, seed=1)
    y = np.where(f > 0, "up", "down")
    found = ProjectedSelector(5).fit(X, y, prior=prior_of(weights), X_unlabelled=more)
    right = found.model_.predict(X_test[:, found.get_support()]) == np.where(
        f_test > 0, "up", "down"
    )
    assert right.mean() > 0.85
