"""Scores of candidates on folds, and the success that the choice compares."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from metafs import Problem
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.evaluation import Evaluation

LINEAR = Candidate("linear")


def test_success_is_the_r2_of_all_test_rows_together():
    """A fold in which the target hardly varies has a very low R2, and says as little as others."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X[:, 0] + rng.normal(size=30)
    y[:4] = 0.01 * np.arange(4)
    cut = [np.arange(4), np.arange(4, 14), np.arange(14, 30)]
    folds = [(np.setdiff1d(np.arange(30), test), test) for test in cut]
    problem = Problem.of(X, y, task="numbers", leave_out="nothing")
    evaluation = Evaluation(problem, folds, {}, {"linear": LinearRegression()}, "r2")
    scores = [evaluation.score(LINEAR, fold) for fold in range(3)]
    assert scores[0] < -10
    wrong = guessed = spread = 0.0
    for train, test in folds:
        predicted = LinearRegression().fit(X[train], y[train]).predict(X[test])
        wrong += ((y[test] - predicted) ** 2).sum()
        guessed += ((y[test] - y[train].mean()) ** 2).sum()
        spread += ((y[test] - y[test].mean()) ** 2).sum()
    success = np.mean(list(evaluation.success[LINEAR].values()))
    assert success == pytest.approx(1 - (wrong / spread) / (guessed / spread))
    assert evaluation.mean(LINEAR) == pytest.approx(np.mean(scores))
