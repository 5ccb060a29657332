import pickle
import warnings
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from metafs import Registry, solve
from metafs.settings import Settings
from metafs_climb import Climb, CVAccuracy, fold_scores, fold_tables, newton_logistic
from metafs_climb import cv_accuracy as module
from metafs_climb.proposals import proposals

# Centred, because scikit-learn's solvers lose their way far from the origin; a free intercept
# makes the optimum the same.
TIGHT = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky", tol=1e-12))


def words(n=60, n_features=12, seed=0, noise=0.1):
    """Words in documents, and classes of which the first three words tell."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, n_features)) < 0.3).astype(float)
    y = (X[:, :3].sum(axis=1) > 0).astype(int)
    y[rng.random(n) < noise] ^= 1
    return X, y


def plain_cv(evaluator, features, learner, scoring="accuracy"):
    """Scikit-learn's own cross-validation over the same folds."""
    tables = evaluator.scores.tables
    X = tables.problem.X[:, np.sort(features)]
    X = X.toarray() if hasattr(X, "toarray") else X
    return cross_val_score(learner, X, tables.problem.y, cv=tables.folds, scoring=scoring)


class FirmLogistic(ClassifierMixin, BaseEstimator):
    """Logistic regression to the last digit, to which a decision of nothing is the first class."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the line search ends where floats do
            self.model_ = clone(TIGHT).fit(X, y)
        return self

    def predict(self, X):
        return self.classes_[(self.model_.decision_function(X) > 1e-8).astype(int)]


tables = st.builds(
    lambda seed, n, n_features, kind, flip: (seed, n, n_features, kind, flip),
    st.integers(0, 10_000),
    st.integers(12, 60),
    st.integers(2, 7),
    st.sampled_from(["words", "counts", "numbers", "large"]),
    st.floats(0, 0.5),
)


def made(seed, n, n_features, kind, flip):
    rng = np.random.default_rng(seed)
    X = {
        "words": lambda: (rng.random((n, n_features)) < 0.3).astype(float),
        "counts": lambda: rng.poisson(1.0, (n, n_features)).astype(float),
        "numbers": lambda: rng.normal(size=(n, n_features)),
        "large": lambda: 1e4 + 10.0 ** np.arange(n_features) * rng.normal(size=(n, n_features)),
    }[kind]()
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    y[rng.random(n) < flip] ^= 1
    y[:4] = 0, 0, 1, 1
    return X, y


@settings(max_examples=15, deadline=None)
@given(tables, st.booleans())
def test_logistic_regression_agrees_with_scikit_learn_on_the_same_folds(table, sparse):
    X, y = made(*table)
    evaluator = CVAccuracy().bind(csr_array(X) if sparse else X, y)
    for features in ([0], [0, 1], np.arange(X.shape[1])):
        expected = plain_cv(evaluator, features, FirmLogistic()).mean()
        assert evaluator.of_set(features) == pytest.approx(expected, abs=1e-12)
    singles = [evaluator.of_set([j]) for j in range(X.shape[1])]
    np.testing.assert_array_equal(CVAccuracy()(X, y), singles)


@pytest.mark.parametrize("scoring", module.SCORINGS)
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
    for scoring in module.SCORINGS:
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


@settings(max_examples=20, deadline=None)
@given(tables, st.sampled_from([None, GaussianNB(), DecisionTreeClassifier(random_state=0)]))
def test_no_learner_exceeds_the_bound_of_a_fold(table, learner):
    X, y = made(*table)
    X = np.round(X)
    evaluator = CVAccuracy(learner, n_folds=3).bind(X, y)
    scores, features = evaluator.scores, np.arange(min(3, X.shape[1]))
    bounds = scores.bounds(scores.cells(evaluator._keys(features)))
    problem = scores.tables.problem
    for f, (_, test) in enumerate(scores.tables.folds):
        rows, cell = np.unique(problem.X[test][:, features], axis=0, return_inverse=True)
        ours = [problem.y[test][cell.ravel() == v] for v in range(len(rows))]
        assert bounds[f] * len(test) == pytest.approx(sum(np.bincount(c).max() for c in ours))
        assert scores.of_fold(features, f) <= bounds[f] + 1e-12


class Abandoning:
    """Cross-validated accuracy that tells its evaluator the best fitness seen so far."""

    def __init__(self, measure):
        self.measure = measure
        self.of_set, self.__call__ = measure.of_set, measure

    def bind(self, X, y):
        evaluator, best = self.measure.bind(X, y), -np.inf

        class Told:
            of_each = evaluator.of_each

            def of_sets(self, base, edits):
                nonlocal best
                found = evaluator.of_sets(base, edits, above=best)
                best = max(best, found.max(initial=-np.inf))
                return found

        self.evaluator = evaluator
        return Told()


class Exact:
    """The same measure, which abandons nothing."""

    def __init__(self, measure):
        self.measure = measure
        self.of_set = measure.of_set

    def bind(self, X, y):
        evaluator = self.measure.bind(X, y)

        class Deaf:
            of_each = staticmethod(evaluator.of_each)
            prices_size = evaluator.prices_size

            def of_sets(self, base, edits):
                return evaluator.of_sets(base, edits)

        return Deaf()


class Counting(GaussianNB):
    """Naive Bayes that counts how often any of it is fitted."""

    fits = 0

    def fit(self, X, y):
        Counting.fits += 1
        return super().fit(X, y)


@settings(max_examples=15, deadline=None)
@given(
    tables,
    st.integers(0, 99),
    st.sampled_from([None, GaussianNB()]),
    st.booleans(),
    st.booleans(),
)
def test_abandoning_changes_no_decision_of_a_climb(table, seed, learner, aims, warm):
    X, y = made(*table)
    measure = CVAccuracy(learner, n_folds=3)
    target = measure.of_set(X, y, [0]) if aims else None
    prior = np.random.default_rng(seed).random(X.shape[1]) if warm else None
    # The best so far is what a published climb stands on; a warm one tells what it wants itself.
    exact, *climbs = [
        Climb(each, max_evaluations=60, random_state=seed, target_score=target).fit(
            X, y, prior=prior
        )
        for each in (Exact(measure), measure, *([] if warm else [Abandoning(measure)]))
    ]
    for climb in climbs:
        assert climb.n_evaluations_ == exact.n_evaluations_
        assert climb.stopped_ == exact.stopped_
        if "the best feature alone" in climb.stopped_:
            continue  # found by scores, which each of the two takes from elsewhere
        np.testing.assert_array_equal(climb.get_support(), exact.get_support())
        assert climb.fitness_ == exact.fitness_


@settings(max_examples=25, deadline=None)
@given(tables, st.integers(0, 99), st.floats(0, 1), st.sampled_from([None, GaussianNB()]))
def test_what_is_abandoned_can_win_neither_the_round_nor_its_first_place(
    table, seed, above, learner
):
    X, y = made(*table)
    n_features = X.shape[1]
    d = 1 + seed % 2
    edits = proposals(np.random.default_rng(seed), min(8, comb(n_features, d)), d, n_features)
    exact = CVAccuracy(learner, n_folds=3).bind(X, y).of_sets([0], edits)
    evaluator = CVAccuracy(learner, n_folds=3).bind(X, y)
    found = evaluator.of_sets([0], edits, above=above)
    same = np.isclose(found, exact, atol=1e-12)
    bar = above
    for i in range(len(edits)):
        assert same[i] or exact[i] < found[i] <= bar
        bar = max(bar, found[i])
    if exact.max() > above + 1e-12:
        assert np.argmax(np.round(found, 12)) == np.argmax(np.round(exact, 12))
        assert found.max() == exact.max()
    np.testing.assert_array_equal(evaluator.of_sets([0], edits), exact), "it goes on where it was"


def test_abandoning_saves_fits_and_sets_are_fitted_only_once():
    X, y = words(120, 30)
    edits = np.arange(30)[:, None]
    evaluator = CVAccuracy(Counting()).bind(X, y)
    Counting.fits = 0
    found = evaluator.of_sets([0, 1], edits, above=evaluator.of_set([0, 1, 2]))
    partial = Counting.fits
    assert partial < 0.8 * 5 * 30
    exact = evaluator.of_sets([0, 1], edits)
    assert Counting.fits == 5 * 30, "what was done before is not done again"
    assert (exact <= found + 1e-12).all()
    evaluator.of_sets([0, 1], edits)
    assert Counting.fits == 5 * 30


def test_hopeless_sets_are_not_fitted_at_all():
    X, y = words(120, 30, noise=0.0)
    evaluator = CVAccuracy(Counting()).bind(X, y)
    evaluator.of_set([0, 1, 2])
    Counting.fits = 0
    found = evaluator.of_sets([], np.arange(3, 30)[:, None], above=0.99)
    assert Counting.fits == 0 and (found < 0.99).all()


def missing_and_categories(seed=0):
    rng = np.random.default_rng(seed)
    X = np.c_[rng.normal(size=(80, 3)), rng.integers(0, 4, (80, 2))]
    y = ((X[:, 0] > 0) ^ (X[:, 3] == 2)).astype(int)
    X[rng.random(80) < 0.3, 0] = np.nan
    X[rng.random(80) < 0.1, 4] = np.nan
    return X, y, {3: tuple("abcd"), 4: tuple("abcd")}


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
    told = CVAccuracy(learner, categories=categories).of_set(X, y, [0, 3])
    assert told == evaluator.of_set([0, 3]) != CVAccuracy(learner).of_set(X, y, [0, 3])


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


@pytest.mark.parametrize(
    ("learner", "found"),
    [
        (LogisticRegression(C=3.0, tol=1e-9, max_iter=7), (3.0, False)),
        (make_pipeline(StandardScaler(with_mean=False), LogisticRegression()), (1.0, True)),
        (make_pipeline(StandardScaler(), LogisticRegression()), (1.0, True)),
        (make_pipeline(StandardScaler(with_std=False), LogisticRegression()), None),
        (LogisticRegression(class_weight="balanced"), None),
        (LogisticRegression(fit_intercept=False), None),
        (LogisticRegression(solver="liblinear"), None),
        (GaussianNB(), None),
    ],
)
def test_only_plain_logistic_regression_is_solved_by_our_own_method(learner, found):
    assert newton_logistic.recognised(learner) == found


@pytest.mark.parametrize("learner", [LogisticRegression(C=0.1), LogisticRegression(C=100.0)])
@pytest.mark.parametrize("scaled", [True, False])
def test_our_method_heeds_c_and_scaling(learner, scaled):
    X, y = words(80, noise=0.3)
    X[:, 1] *= 30
    steps = [StandardScaler(), learner] if scaled else [learner]
    evaluator = CVAccuracy(make_pipeline(*steps) if scaled else learner).bind(X, y)
    tight = clone(learner).set_params(tol=1e-12, solver="newton-cholesky")
    steps[-1] = tight
    for features in ([0, 1], [0, 1, 2, 3, 4, 5]):
        expected = plain_cv(evaluator, features, make_pipeline(*steps)).mean()
        assert evaluator.of_set(features) == pytest.approx(expected, abs=1e-12)


def test_scikit_learn_takes_over_where_our_method_ends(monkeypatch):
    X, y = words()
    edits = np.arange(12)[:, None]
    found = CVAccuracy(TIGHT).bind(X, y).of_sets([0], edits)
    expected = CVAccuracy().bind(X, y).of_sets([0], edits)
    monkeypatch.setattr(newton_logistic, "MAX_STEPS", 1)
    np.testing.assert_allclose(CVAccuracy().bind(X, y).of_sets([0], edits), found, atol=0.02)
    monkeypatch.setattr(fold_scores, "MAX_VALUES", 0)
    np.testing.assert_allclose(CVAccuracy().bind(X, y).of_sets([0], edits), found, atol=0.02)
    np.testing.assert_allclose(expected, found, atol=1e-12)


def test_forgetting_changes_nothing(monkeypatch):
    X, y, categories = missing_and_categories()
    edits = proposals(np.random.default_rng(0), 10, 2, 5)
    exact = CVAccuracy().bind(X, y, categories=categories).of_sets([0], edits)
    monkeypatch.setattr(fold_tables, "CACHE_BYTES", 1)
    monkeypatch.setattr(module, "MAX_REMEMBERED", 2)
    evaluator = CVAccuracy().bind(csr_array(np.nan_to_num(X)), y, categories=categories)
    full = CVAccuracy().bind(np.nan_to_num(X), y, categories=categories)
    np.testing.assert_array_equal(evaluator.of_sets([0], edits), full.of_sets([0], edits))
    evaluator = CVAccuracy().bind(X, y, categories=categories)
    np.testing.assert_array_equal(evaluator.of_sets([0], edits), exact)
    assert len(evaluator._known) <= 2 and len(evaluator.scores.tables._cache) == 1


def test_the_loop_climbs_on_it_by_name():
    solution = next(
        solve("demo:digits", db=None, params={"measure": "cv-accuracy"}, budget=30, folds=2)
    )
    assert solution.status == "solved" and solution.fitness > 0.9
    measure = Registry().measures["cv-accuracy"]
    assert pickle.loads(pickle.dumps(measure)) == measure == CVAccuracy()


def test_the_loop_searches_with_the_learner_it_learns_with():
    chosen = Settings(params={"measure": "cv-balanced-accuracy"}, learner="naive-bayes")
    measure = chosen.resolve(Registry()).selector.measure
    assert type(measure.learner) is type(Registry().learners["naive-bayes"])
    assert measure.scoring == "balanced_accuracy"
    by_default = Settings(params={"measure": "cv-accuracy"}).resolve(Registry()).selector.measure
    assert by_default == CVAccuracy()
    other = Settings(params={"measure": "mi-confidence"}, learner="naive-bayes")
    assert other.resolve(Registry()).selector.measure == Registry().measures["mi-confidence"]
