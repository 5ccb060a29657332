import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from metafs import Registry, solve
from metafs.pipeline.settings import Settings
from metafs_climb import Climb, CVAccuracy, cv_evaluator, fold_tables
from metafs_climb.cv_accuracy import SCORINGS
from metafs_climb.proposals import proposals

from .wrapping import TIGHT, made, missing_and_categories, plain_cv, tables, words


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize(
    "learner", [GaussianNB(), DecisionTreeClassifier(random_state=0), KNeighborsClassifier(3)]
)
def test_any_learner_agrees_with_scikit_learn_on_the_same_folds(learner, scoring):
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = (
        X[:90, [18, 20, 21, 26, 27, 28, 29, 34, 35, 36, 37, 42, 43, 44, 45, 50, 51, 52, 53, 58]],
        y[:90],
    )
    evaluator = CVAccuracy(learner, n_folds=4, scoring=scoring).bind(X, y)
    sets = [[1, 8], [8, 9, 14], [3, 1, 14, 8, 5]]
    for features in sets:
        expected = plain_cv(evaluator, features, learner, scoring).mean()
        assert evaluator.of_set(features) == pytest.approx(expected, abs=1e-12)
    edits = np.array([[3, 5], [1, 8], [8, 3]])
    expected = [evaluator.of_set(sorted({1, 8} ^ set(edit))) for edit in edits.tolist()]
    again = CVAccuracy(learner, n_folds=4, scoring=scoring).bind(X, y)
    np.testing.assert_array_equal(again.of_sets([8, 1], edits), expected)
    np.testing.assert_array_equal(again.of_each(), [evaluator.of_set([j]) for j in range(20)])


def test_classes_of_unequal_size_may_count_the_same():
    X, y = words(80, seed=3)
    keep = np.flatnonzero((y == 0) | (np.arange(80) % 4 == 0))
    X, y = X[keep], y[keep]
    for scoring in SCORINGS:
        evaluator = CVAccuracy(scoring=scoring).bind(X, y)
        expected = plain_cv(evaluator, [0, 1, 5], TIGHT, scoring).mean()
        assert evaluator.of_set([0, 1, 5]) == pytest.approx(expected, abs=1e-12)
    assert CVAccuracy(scoring="balanced_accuracy").of_set(X, y, []) == pytest.approx(0.5)


@pytest.mark.parametrize("learner", [None, GaussianNB()])
def test_no_feature_is_worth_what_guessing_the_majority_is(learner):
    X, y = words(50, seed=1)
    y[:35] = 1
    evaluator = CVAccuracy(learner).bind(X, y)
    expected = [
        np.mean(evaluator.scores.tables.problem.y[test] == 1)
        for _, test in evaluator.scores.tables.folds
    ]
    assert evaluator.of_set([]) == pytest.approx(np.mean(expected))
    constant = CVAccuracy().of_set(np.full((50, 1), 7.0), y, [0])
    assert constant == pytest.approx(np.mean(expected)), "nor is one that says nothing"


@settings(max_examples=12, deadline=None)
@given(tables, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_and_the_storage_play_no_part(table, random):
    X, y = made(*table)
    rows, columns = list(range(len(y))), list(range(X.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    found = CVAccuracy(n_folds=3)(X, y)
    moved = X[rows][:, columns]
    np.testing.assert_array_equal(CVAccuracy(n_folds=3)(moved, y[rows]), found[columns])
    np.testing.assert_array_equal(CVAccuracy(n_folds=3)(csr_array(moved), y[rows]), found[columns])


def test_other_seeds_are_other_folds_and_other_names_of_classes_are_not():
    X, y = words(100, noise=0.3)
    found = CVAccuracy()(X, y)
    assert (CVAccuracy(random_state=1)(X, y) != found).any()
    np.testing.assert_array_equal(CVAccuracy()(X, np.where(y == 1, "yes", "no")), found)


@pytest.mark.parametrize("learner", [TIGHT, DecisionTreeClassifier(random_state=0)])
def test_missing_values_and_categories_are_prepared_as_in_the_loop(learner):
    X, y, categories = missing_and_categories()
    evaluator = CVAccuracy(learner).bind(X, y, categories=categories)
    for features in ([0], [3], [0, 1, 3], [1, 2, 3, 4], [4, 0]):
        categorical = np.isin(np.sort(features), [3, 4])
        fill = SimpleImputer(strategy="median")
        encode = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        prepare = ColumnTransformer([("n", fill, ~categorical), ("c", encode, categorical)])
        expected = plain_cv(evaluator, features, make_pipeline(prepare, learner)).mean()
        assert evaluator.of_set(features) == pytest.approx(expected, abs=1e-12)
    with_categories = CVAccuracy(learner, categories=categories).of_set(X, y, [0, 3])
    assert with_categories == evaluator.of_set([0, 3]) != CVAccuracy(learner).of_set(X, y, [0, 3])


def test_climb_takes_missing_values_and_categories():
    X, y, _ = missing_and_categories()
    climb = Climb(CVAccuracy(), max_evaluations=60, categorical_features=[3, 4], random_state=0)
    climb.fit(X, y)
    assert climb.get_support()[[0, 3]].all() and climb.fitness_ > 0.65


def test_numbers_are_scored_by_r2_and_never_below_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = 2 * X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=60)
    evaluator = CVAccuracy().bind(X, y)
    ridge = make_pipeline(StandardScaler(with_mean=False), Ridge())
    for features in ([0], [0, 1], [2], [2, 3]):
        expected = plain_cv(evaluator, features, ridge, "r2").mean()
        assert evaluator.of_set(features) == pytest.approx(max(0.0, expected), abs=1e-12)
    assert evaluator.of_set([]) == 0.0 == evaluator.of_set([3])
    climb = Climb(CVAccuracy(), max_evaluations=60, random_state=0).fit(X, y)
    assert climb.get_support()[:2].all() and climb.fitness_ > 0.9
    abandoned = CVAccuracy().bind(X, y).of_sets([], np.arange(4)[:, None], above=0.95)
    assert (abandoned <= 0.95).all()


def test_a_learner_is_given_by_name_or_as_an_object():
    X, y = words()
    registry = Registry()
    by_name = CVAccuracy("naive-bayes")(X, y)
    np.testing.assert_array_equal(CVAccuracy(registry.learners["naive-bayes"])(X, y), by_name)
    np.testing.assert_array_equal(CVAccuracy("logistic")(X, y), CVAccuracy()(X, y))
    three = np.arange(60) % 3
    assert 0 <= CVAccuracy().of_set(X, three, [0, 1]) <= 1
    assert CVAccuracy("forest").of_set(X[:, :2], X[:, 2] + 0.5 * X[:, 1] ** 2, [1]) >= 0


def test_forgetting_changes_nothing(monkeypatch):
    X, y, categories = missing_and_categories()
    edits = proposals(np.random.default_rng(0), 10, 2, 5)
    exact = CVAccuracy().bind(X, y, categories=categories).of_sets([0], edits)
    monkeypatch.setattr(fold_tables, "CACHE_BYTES", 1)
    monkeypatch.setattr(cv_evaluator, "MAX_REMEMBERED", 2)
    evaluator = CVAccuracy().bind(csr_array(np.nan_to_num(X)), y, categories=categories)
    full = CVAccuracy().bind(np.nan_to_num(X), y, categories=categories)
    np.testing.assert_array_equal(evaluator.of_sets([0], edits), full.of_sets([0], edits))
    evaluator = CVAccuracy().bind(X, y, categories=categories)
    np.testing.assert_array_equal(evaluator.of_sets([0], edits), exact)
    assert len(evaluator._known) <= 2 and len(evaluator.scores.tables._cache) == 1


def test_the_loop_climbs_on_it_by_name():
    solution = next(
        solve(
            "demo:digits",
            db=None,
            params={"measure": "cv-accuracy"},
            budget=30,
            folds=2,
            selector="climb",
        )
    )
    assert solution.status == "solved" and solution.fitness > 0.9
    measure = Registry().measures["cv-accuracy"]
    assert pickle.loads(pickle.dumps(measure)) == measure == CVAccuracy()


def test_the_loop_searches_with_the_learner_it_learns_with():
    chosen = Settings(
        params={"measure": "cv-balanced-accuracy"}, learner="naive-bayes", selector="climb"
    )
    measure = chosen.resolve(Registry()).selector.measure
    assert type(measure.learner) is type(Registry().learners["naive-bayes"])
    assert measure.scoring == "balanced_accuracy"
    by_default = (
        Settings(params={"measure": "cv-accuracy"}, selector="climb")
        .resolve(Registry())
        .selector.measure
    )
    assert by_default == CVAccuracy()
    other = Settings(params={"measure": "mi-confidence"}, learner="naive-bayes", selector="climb")
    assert other.resolve(Registry()).selector.measure == Registry().measures["mi-confidence"]
