"""What a set gets wrong says which features to try next."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeRegressor

from metafs.stats.centred import Centred
from metafs_climb import Climb, CVAccuracy, fold_scores
from metafs_climb.cv_evaluator import CVAccuracyEvaluator
from metafs_climb.evaluations import Evaluations, Position
from metafs_climb.guided import Comparisons, GuidedClimb
from metafs_climb.hints import errors, hint_of_each

from .guiding import expecting, words


def as_defined(X, predicted, y, classes):
    """Return h, feature by feature and row by row."""
    found = []
    for column in X.T:
        z = (column - column.mean()) / (column.std() or np.inf)
        h = 0.0
        for c in classes:
            e = [int(p == c) - int(t == c) for p, t in zip(predicted, y, strict=True)]
            h += sum(a * b for a, b in zip(e, z, strict=True)) ** 2
        found.append(h)
    return np.array(found)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
def test_hints_are_as_defined(seed, n_classes, sparse):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (25, 6)).astype(float)
    X[:, 2] = 4.0
    y, predicted = rng.integers(0, n_classes, (2, 25))
    columns = Centred(csr_array(X) if sparse else X)
    found = hint_of_each(errors(predicted.astype(float), y, n_classes), columns)
    np.testing.assert_allclose(found, as_defined(X, predicted, y, range(n_classes)), atol=1e-8)


def test_what_all_rows_get_right_hints_at_nothing():
    X, y = words(n=30, n_features=5, n_good=2)
    assert not hint_of_each(errors(y.astype(float), y, 2), Centred(X)).any()


@pytest.mark.parametrize("few", [2, 10**9], ids=["by rows", "by cells"])
@pytest.mark.parametrize(
    "learner", [LogisticRegression(tol=1e-8, max_iter=1000), BernoulliNB()], ids=["ours", "theirs"]
)
def test_predictions_are_those_of_cross_validation(monkeypatch, learner, few):
    monkeypatch.setattr(fold_scores, "FEW", few)
    X, y = words(n=90, n_features=12, n_good=8)
    evaluator = CVAccuracy(learner).bind(X, y)
    tables, features = evaluator.scores.tables, np.array([0, 1, 4, 5, 9])
    expected = cross_val_predict(
        learner, tables.problem.X[:, features], tables.problem.y, cv=tables.folds
    )
    np.testing.assert_array_equal(evaluator.scores.predictions(features), expected)
    evaluator.of_set(features)  # whether it was scored before or not
    np.testing.assert_array_equal(evaluator.scores.predictions(features), expected)


def test_a_set_that_was_scored_is_not_fitted_again_for_its_hints(monkeypatch):
    X, y = words(n=90, n_features=12, n_good=8)
    evaluator, fitted = CVAccuracy(BernoulliNB()).bind(X, y), []
    fit = BernoulliNB.fit
    monkeypatch.setattr(BernoulliNB, "fit", lambda self, *a: fitted.append(1) or fit(self, *a))
    evaluator.of_set([0, 1, 2])
    assert len(fitted) == 5
    first = evaluator.hints(np.arange(3))
    assert len(fitted) == 5
    monkeypatch.setattr(fold_scores, "REMEMBERED", 1)
    evaluator.of_set([3, 4])
    np.testing.assert_array_equal(evaluator.hints(np.arange(3)), first)
    assert len(fitted) == 15, "what was forgotten is fitted again"


def test_numbers_have_hints_too_and_nothing_has_none():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    y = np.where(X[:, 0] > 0, 3.0, 0.0) + 2 * X[:, 3] + rng.normal(0, 0.1, 80)
    evaluator = CVAccuracy(DecisionTreeRegressor(max_depth=2, random_state=0)).bind(X, y)
    assert np.argmax(evaluator.hints(np.array([0]))) == 3
    assert evaluator.hints(np.zeros(0, dtype=np.int64)) is None


def test_missing_values_and_categories_have_hints():
    X, y = words(n=90, n_features=6, n_good=4)
    X[:5, 1] = np.nan
    measure = CVAccuracy(categories={2: ("no", "yes")})
    found = measure.bind(X, y).hints(np.array([0, 2]))
    assert found.shape == (6,) and np.isfinite(found).all() and found[1] > 0


class Hinting:
    """Every set is worth its features' worth; hints name features from the last to the first."""

    prices_size = False

    def __init__(self, worth):
        self.worth = np.asarray(worth)

    def of_sets(self, base, edits):
        return np.array([self.worth[np.setxor1d(base, edit)].sum() for edit in edits])

    def hints(self, base):
        return np.arange(len(self.worth)) - 100.0 * np.isin(np.arange(len(self.worth)), base)


def test_what_is_hinted_at_is_tried_first_after_each_step_anew():
    asked = []
    evaluator = Hinting([0.0, 0.1, 0.0, 0.2, 0.0, 0.0])
    of_sets = evaluator.of_sets
    evaluator.of_sets = lambda base, edits: (
        asked.append(edits.ravel().tolist()) or of_sets(base, edits)
    )
    start = Position(np.array([0]), 0.0)
    sets = Comparisons(evaluator, np.zeros(0, dtype=np.int64), 100, None, np.inf)
    guided = GuidedClimb(sets, np.arange(6), np.random.default_rng(0), small_sets=False)
    guided.at, guided._width = start, 4
    asked.clear()
    guided._pass()
    assert asked[0] == [5, 4, 3, 2], "the four of which most is hinted"
    assert asked[1] == [2], "what is left after 3 has joined"


def test_without_hints_features_stay_in_their_order():
    nothing = np.zeros(0, dtype=np.int64)
    evaluator, base = Hinting([1.0, 1.0]), Position(nothing, 0.0)
    sets = Evaluations(evaluator, nothing, 10, None, np.inf)
    assert sets.hinted(base, np.array([0, 1])).tolist() == [1, 0]
    evaluator.hints = lambda base: None
    sets = Evaluations(evaluator, nothing, 10, None, np.inf)
    assert sets.hinted(base, np.array([0, 1])).tolist() == [0, 1]


def test_hints_save_evaluations_on_the_way_to_a_target(monkeypatch):
    problems = [words(n=160, n_features=150, n_good=40, seed=seed) for seed in range(8)]
    prior = expecting(150, [])
    climb = Climb(CVAccuracy(), random_state=0, max_evaluations=600)

    def spent(X, y):
        start = clone(climb).set_params(max_evaluations=1).fit(X, y, prior=prior).fitness_
        aimed = clone(climb).set_params(target_score=start + 2 / 160)  # two rows more
        return aimed.fit(X, y, prior=prior).n_evaluations_

    hinted = [spent(*each) for each in problems]
    monkeypatch.setattr(CVAccuracyEvaluator, "hints", lambda self, base: None)
    ratios = [spent(*each) / n for each, n in zip(problems, hinted, strict=True)]
    assert np.exp(np.log(ratios).mean()) > 1.5
