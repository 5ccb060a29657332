"""What predictions that know nothing reach, against draws of such predictions."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, r2_score

from metafs import Problem
from metafs.pipeline.choice.answer import OVERLAP, beats_no_skill, reached_by_chance
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.evaluation import Evaluation
from metafs.stats.folds import folds

DEFAULT = Candidate("remembered")


def evaluation(y, scoring, **rows):
    problem = Problem.of(np.zeros((len(y), 1)), y, leave_out="nothing", **rows)
    return Evaluation(problem, folds(problem, 5, 0), {}, {}, scoring)


@pytest.mark.parametrize("counts", [[100, 100], [180, 20], [60, 60, 60]])
def test_guesses_seldom_hit_so_many_rows(counts):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(counts)), counts)
    limit = reached_by_chance(evaluation(y, "balanced_accuracy"), 0.05) / OVERLAP
    guesses = rng.integers(0, len(counts), (400, len(y)))
    above = [balanced_accuracy_score(y, each) - 1 / len(counts) > limit for each in guesses]
    assert np.mean(above) <= 0.08
    if len(counts) == 2:  # of more classes a guess varies less than a hit or a miss can
        assert np.mean(above) >= 0.02


def test_guesses_seldom_explain_so_much_of_a_number():
    rng = np.random.default_rng(0)
    y = rng.normal(size=200)
    y -= y.mean()
    limit = reached_by_chance(evaluation(y, "r2"), 0.05) / OVERLAP**2
    explained = []
    for _ in range(400):
        guess = rng.normal(size=200)
        guess -= guess.mean()
        best = (guess @ y) / (guess @ guess)  # the scale that suits the rows that are tested on
        explained.append(r2_score(y, max(best, 0.0) * guess))
    assert 0.02 <= np.mean(np.array(explained) > limit) <= 0.08


def test_errors_are_hits_counted_in_rows_or_in_their_weight():
    y = np.arange(200) % 2
    share = reached_by_chance(evaluation(y, "accuracy"), 0.05)
    found = evaluation(y, "neg_errors")
    assert reached_by_chance(found, 0.05) == pytest.approx(200 * share)
    heavy = evaluation(y, "neg_errors", sample_weight=np.full(200, 3.0))
    assert reached_by_chance(heavy, 0.05) == pytest.approx(600 * share)
    found.scores = {DEFAULT: dict.fromkeys(range(5), -20.0)}  # as many errors as guesses have
    for fewer, beats in ((1.0, False), (10.0, True)):  # in each fold of 40 rows
        assert beats_no_skill(DEFAULT, [fewer - 20.0] * 5, found) is beats


def test_groups_count_once():
    y = np.arange(200) % 2
    rows = reached_by_chance(evaluation(y, "balanced_accuracy"), 0.05)
    of_groups = evaluation(y, "balanced_accuracy", groups=np.arange(200) // 4)
    assert reached_by_chance(of_groups, 0.05) == pytest.approx(2 * rows, rel=0.05)


def test_the_more_were_tried_the_more_has_to_be_reached():
    found = evaluation(np.arange(400) % 2, "balanced_accuracy")
    found.scores = {DEFAULT: dict.fromkeys(range(5), 0.5)}
    reached = 0.5 + 1.01 * reached_by_chance(found, 0.01)
    assert not beats_no_skill(DEFAULT, [0.5] * 5, found)
    assert beats_no_skill(DEFAULT, [reached] * 5, found)
    for size in range(1, 20):
        found.scores[Candidate("forest", "infogain", size)] = dict.fromkeys(range(5), 0.5)
    assert not beats_no_skill(DEFAULT, [reached] * 5, found)
    found.scores[DEFAULT] = dict.fromkeys(range(5), reached)
    assert beats_no_skill(DEFAULT, [0.5] * 5, found)


def test_with_few_rows_it_is_not_asked():
    assert beats_no_skill(DEFAULT, [0.4] * 5, evaluation(np.arange(30) % 2, "balanced_accuracy"))
