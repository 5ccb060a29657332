"""The choice of a pipeline, on tables whose best answer is known."""

import time
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.dummy import DummyClassifier

from metafs import Problem
from metafs.errors import UsageError
from metafs.pipeline.choice.candidates import Candidate, sizes
from metafs.pipeline.choice.choosing import TIME_UP, choose, default_choice
from metafs.pipeline.choice.contest import contest_of
from metafs.pipeline.choice.portfolio import shipped
from metafs.pipeline.models.model import fitted_model
from metafs.plugin.registry import Registry
from metafs.stats.scorers import default_scoring


@pytest.fixture(scope="module")
def registry():
    return Registry()


@pytest.fixture
def choosing(registry):
    def made(X, y, *, size="auto", max_features=None, scoring=None, **settings):
        problem = Problem.of(X, y, leave_out="nothing")
        contest = contest_of(
            registry, selector=None, learner=None, size=size, max_features=max_features
        )
        quick = {name: contest.learners[name] for name in ("remembered", "kernel-svm")}
        contest = replace(contest, learners=quick)
        return choose(
            problem,
            contest.candidates(problem),
            selectors=contest.selectors,
            learners=quick,
            scoring=scoring or default_scoring(problem),
            past=shipped(problem),
            **settings,
        )

    return made


def table(n_rows, seed=0, *, noise=20):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3 + noise))
    return X, (X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(size=n_rows) > 0).astype(int)


def test_noise_columns_stay_out(choosing):
    found = [choosing(*table(1000, seed)).columns for seed in range(4)]
    assert all(set(columns) >= {0, 1, 2} for columns in found)
    assert np.mean([len(columns) - 3 for columns in found]) <= 0.5


def test_of_a_random_target_nothing_is_kept(choosing):
    rng = np.random.default_rng(1)
    kept = [choosing(rng.normal(size=(200, 8)), rng.integers(0, 2, 200)) for _ in range(5)]
    assert sum(each.candidate is not None for each in kept) <= 1
    assert any("no skill" in note for each in kept for note in each.notes)


def test_errors_add_up_over_folds(choosing):
    X, y = table(100)
    found = choosing(X, y, scoring="neg_errors")
    folds = [found.evaluation.scores[found.candidate][fold] for fold in range(5)]
    assert found.scores.non_nested == sum(folds)
    assert dict(found.leaderboard)[found.candidate] == sum(folds)
    assert found.scores.chance == -min(np.bincount(y))
    assert found.scores.chance < found.scores.nested == round(found.scores.nested) < 0


def test_with_few_rows_a_model_is_given_all_the_same(choosing):
    rng = np.random.default_rng(0)
    found = choosing(rng.normal(size=(12, 5)), np.arange(12) % 2)
    assert found.candidate is not None


def test_a_table_that_needs_all_columns_keeps_its_score(choosing):
    found = choosing(*load_wine(return_X_y=True))
    assert found.scores.nested > 0.95
    assert found.scores.chance == pytest.approx(1 / 3)
    assert found.scores.all_features > 0.95
    X, y = load_wine(return_X_y=True)
    assert (fitted_model(found).predict(X).astype(int) == y).mean() > 0.97
    assert found.frontier[-1][0] == 13
    assert found.leaderboard[0][1] >= found.leaderboard[-1][1]


def test_numbers(choosing):
    X, _ = table(300)
    rng = np.random.default_rng(0)
    found = choosing(X, 2 * X[:, 0] - X[:, 4] + 0.1 * rng.normal(size=300))
    assert set(found.columns) == {0, 4}
    assert found.scores.nested > 0.95


def test_the_same_seed_gives_the_same_answer_and_order_of_columns_does_not_matter(choosing):
    X, y = table(200)
    order = np.random.default_rng(3).permutation(X.shape[1])
    first = choosing(X, y)
    again = choosing(X, y)
    other = choosing(X[:, order], y)
    assert first.evaluation.scores == again.evaluation.scores
    assert first.candidate == again.candidate == other.candidate
    assert set(order[other.columns]) == set(first.columns)


def test_without_time_for_any_score_the_default_is_the_answer(choosing):
    found = choosing(*table(200), seconds=1e-6)
    assert found.candidate == Candidate("remembered")
    assert (found.scores, found.stopped) == (None, TIME_UP)
    assert found.evaluation.scores == {}


class Sleeper(DummyClassifier):
    """A learner that takes longer than it is expected to take, once it has seen few columns."""

    def fit(self, X, y, sample_weight=None):
        time.sleep(0.01 if X.shape[1] > 20 else 30.0)
        return super().fit(X, y, sample_weight)


def test_a_fit_that_takes_too_long_is_broken_off(registry):
    problem = Problem.of(*table(200), leave_out="nothing")
    contest = contest_of(registry, selector=None, learner=("sleeper", Sleeper()))
    started = time.monotonic()
    found = choose(
        problem,
        contest.candidates(problem),
        selectors=contest.selectors,
        learners=contest.learners,
        scoring=default_scoring(problem),
        seconds=2.0,
    )
    assert time.monotonic() - started < 10.0
    assert found.stopped == TIME_UP
    assert found.evaluation.complete == {Candidate("sleeper")}


def test_kept_columns_are_always_there(choosing):
    found = choosing(*table(300), keep=[7])
    assert 7 in found.columns


def test_the_size_may_be_given(choosing):
    X, y = table(200)
    assert len(choosing(X, y, size=5).columns) == 5
    assert len(choosing(X, y, size="all").columns) == X.shape[1]
    assert len(choosing(X, y, max_features=2).columns) <= 2


def test_candidates_hold_the_default_first_and_nothing_that_takes_far_too_long(registry):
    labels = np.array([*"abcdefghijklmnopqrstuvwxyzABCD"] * 2)
    wide = Problem.of(np.random.default_rng(0).normal(size=(60, 400)), labels)
    found = contest_of(registry, selector=None, learner=None).candidates(wide)
    assert found[0] == Candidate("remembered")
    assert Candidate("boosting") not in found
    assert Candidate("boosting", "infogain", 1) in found
    assert sizes(1) == []


def test_a_learner_that_does_not_suit_the_target_is_a_sentence(registry):
    contest = contest_of(
        registry, selector=None, learner=("linear-svm", registry.learners["linear-svm"])
    )
    numbers = Problem.of(np.eye(20), np.linspace(0, 1, 20))
    with pytest.raises(UsageError, match=r"predicts (classes|numbers), but the target"):
        contest.candidates(numbers)


def test_without_folds_the_default_decides_for_the_scoring_too(registry):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(121, 4))
    y = (X[:, 0] + rng.normal(size=121) > 1.8).astype(int)
    X[-1], y[-1] = 9.0, 2  # a class of one row is in no fold's training and test rows
    problem = Problem.of(X, y, leave_out="nothing")
    contest = contest_of(registry, selector=None, learner=None)
    found = default_choice(problem, contest, "one row", scoring="balanced_accuracy")
    assert found.candidate == Candidate("remembered")
    model = fitted_model(found)
    likely = model.predict_proba(X) / (np.bincount(y) / len(y))
    np.testing.assert_array_equal(model.predict(X).astype(int), likely.argmax(axis=1))
    assert (model.predict_proba(X).argmax(axis=1) != likely.argmax(axis=1)).any()
