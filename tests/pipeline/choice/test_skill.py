"""What predictions that know nothing reach, against draws of such predictions."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import balanced_accuracy_score, r2_score

from metafs import Problem
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.pipeline.choice.expectation import Past
from metafs.pipeline.choice.skill import (
    OVERLAP,
    beats_no_skill,
    ranks_above_chance,
    standard_error,
    success,
    unlearnable,
)
from metafs.stats.folds import folds

DEFAULT = Candidate("remembered")
FIVE_PERCENT = norm.isf(0.05)


class Labels(ClassifierMixin, BaseEstimator):
    """A learner that says nothing but labels."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class Column(Labels):
    """A learner that ranks rows by the first column."""

    def decision_function(self, X):
        return X[:, 0]


def evaluation(y, scoring, learner=None, X=None, **rows):
    X = np.zeros((len(y), 1)) if X is None else X
    problem = Problem.of(X, y, leave_out="nothing", **rows)
    learners = {"remembered": learner or Labels()}
    return Evaluation(problem, folds(problem, 5, 0), {}, learners, scoring)


@pytest.mark.parametrize("counts", [[100, 100], [180, 20], [60, 60, 60]])
def test_guesses_seldom_hit_so_many_rows(counts):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(counts)), counts)
    found = evaluation(y, "balanced_accuracy")
    limit = FIVE_PERCENT * standard_error(found) * (1 - found.no_skill) / OVERLAP
    guesses = rng.integers(0, len(counts), (400, len(y)))
    above = [balanced_accuracy_score(y, each) - 1 / len(counts) > limit for each in guesses]
    assert np.mean(above) <= 0.08
    if len(counts) == 2:  # of more classes a guess varies less than a hit or a miss can
        assert np.mean(above) >= 0.02


def test_guesses_seldom_explain_so_much_of_a_number():
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    y -= y.mean()
    limit = (FIVE_PERCENT * standard_error(evaluation(y, "r2")) / OVERLAP) ** 2
    explained = []
    for _ in range(400):
        guess = rng.normal(size=200)
        guess -= guess.mean()
        best = (guess @ y) / (guess @ guess)  # the scale that suits the rows that are tested on
        explained.append(r2_score(y, max(best, 0.0) * guess))
    assert 0.02 <= np.mean(np.array(explained) > limit) <= 0.08


def test_errors_are_hits_counted_in_rows_or_in_their_weight():
    y = np.arange(200) % 2
    of_accuracy = standard_error(evaluation(y, "accuracy"))
    found = evaluation(y, "neg_errors")
    assert standard_error(found) == pytest.approx(of_accuracy)
    heavy = evaluation(y, "neg_errors", sample_weight=np.full(200, 3.0))
    assert standard_error(heavy) == pytest.approx(of_accuracy)
    found.scores = {DEFAULT: dict.fromkeys(range(5), -20.0)}  # as many errors as guesses have
    for fewer, beats in ((1.0, False), (10.0, True)):  # in each fold of 40 rows
        assert beats_no_skill(DEFAULT, [fewer - 20.0] * 5, found) is beats


@pytest.mark.parametrize("counts", [(100, 100), (190, 19)])
def test_rows_in_random_order_are_seldom_ranked_so_well(counts):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], counts)
    found = [
        ranks_above_chance(
            DEFAULT,
            evaluation(y, "balanced_accuracy", Column(), rng.normal(size=(len(y), 1))),
        )
        for _ in range(200)
    ]
    assert 0.01 <= np.mean(np.array(found) * OVERLAP > FIVE_PERCENT) <= 0.1
    assert abs(np.mean(found)) < 0.2
    assert np.std(found) * OVERLAP == pytest.approx(1.0, abs=0.15)


def test_what_is_known_of_a_rare_class_is_skill_though_few_of_its_rows_are_recognised():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [250, 19])
    X = rng.normal(size=(269, 1)) + 1.2 * y[:, None]
    found = evaluation(y, "balanced_accuracy", Column(), X)
    by_hits = evaluation(y, "balanced_accuracy")
    for each in (found, by_hits):
        each.scores = {DEFAULT: dict.fromkeys(range(5), 0.6)}
    assert beats_no_skill(DEFAULT, [0.6] * 5, found)
    assert not beats_no_skill(DEFAULT, [0.6] * 5, by_hits)


def test_rows_of_a_group_are_ranked_once():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(50) % 2, 4)
    X = np.repeat(rng.normal(size=50) + 2.0 * (np.arange(50) % 2), 4)[:, None]
    alone = evaluation(y, "balanced_accuracy", Column(), X, groups=np.arange(200))
    of_four = evaluation(y, "balanced_accuracy", Column(), X, groups=np.arange(200) // 4)
    ratio = ranks_above_chance(DEFAULT, alone) / ranks_above_chance(DEFAULT, of_four)
    assert ratio == pytest.approx(2.0, rel=0.25)


def test_groups_count_once():
    y = np.arange(200) % 2
    rows = standard_error(evaluation(y, "balanced_accuracy"))
    of_groups = evaluation(y, "balanced_accuracy", groups=np.arange(200) // 4)
    assert standard_error(of_groups) == pytest.approx(2 * rows, rel=0.05)


def test_the_more_were_tried_the_more_has_to_be_reached():
    found = evaluation(np.arange(400) % 2, "balanced_accuracy")
    found.scores = {DEFAULT: dict.fromkeys(range(5), 0.5)}
    reached = 0.5 + 1.01 * norm.isf(0.01) * standard_error(found) / 2
    assert success(found, reached) == pytest.approx(2 * (reached - 0.5))
    assert not beats_no_skill(DEFAULT, [0.5] * 5, found)
    assert beats_no_skill(DEFAULT, [reached] * 5, found)
    for size in range(1, 20):
        found.scores[Candidate("forest", "infogain", size)] = dict.fromkeys(range(5), 0.5)
    assert not beats_no_skill(DEFAULT, [reached] * 5, found)
    found.scores[DEFAULT] = dict.fromkeys(range(5), reached)
    assert beats_no_skill(DEFAULT, [0.5] * 5, found)


def test_with_few_rows_it_is_not_asked():
    assert beats_no_skill(DEFAULT, [0.4] * 5, evaluation(np.arange(30) % 2, "balanced_accuracy"))


def test_the_probability_of_no_skill_is_the_share_of_such_problems():
    """Of problems drawn as assumed, with this success, as many cannot be learnt as it says."""
    rng = np.random.default_rng(0)
    past = [(value, 1.0) for value in rng.normal(0.6, 0.2, 2_000)] + [(0.0, 1.0)] * 500
    error, n = 0.2, 400_000
    skilled = rng.random(n) < 0.8
    true = np.where(skilled, rng.normal(0.6, 0.2, n), 0.0)
    observed = true + rng.normal(0, error, n)
    for value in (0.0, 0.2, 0.4):
        near = np.abs(observed - value) < 0.02
        share = 1 - skilled[near].mean()
        assert unlearnable(value, error, past) == pytest.approx(share, abs=0.03)


def test_memory_of_problems_that_could_be_learnt_takes_less_for_skill():
    found = evaluation(np.arange(200) % 2, "balanced_accuracy")
    hint = 0.5 + 2 * standard_error(found) / 2  # two standard errors
    found.scores = {DEFAULT: dict.fromkeys(range(5), hint)}
    learnt, random = Past({DEFAULT: 0.3}), Past({DEFAULT: 0.0})
    assert not beats_no_skill(DEFAULT, [0.5] * 5, found)
    assert beats_no_skill(DEFAULT, [0.5] * 5, found, [learnt] * 10)
    assert not beats_no_skill(DEFAULT, [0.5] * 5, found, [random] * 10)
    assert not beats_no_skill(DEFAULT, [0.5] * 5, found, [Past({Candidate("forest"): 0.3})] * 10)


def test_a_sure_memory_does_not_make_a_random_target_learnable():
    found = evaluation(np.arange(300) % 2, "balanced_accuracy")
    for score in (0.45, 0.5, 0.52):
        found.scores = {DEFAULT: dict.fromkeys(range(5), score)}
        for past in (0.5, 0.9):
            assert not beats_no_skill(DEFAULT, [0.5] * 5, found, [Past({DEFAULT: past})] * 100)
