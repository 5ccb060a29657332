"""Wide tables: few columns among very many."""

import numpy as np
import pytest

from metafs import Problem
from metafs.pipeline.choice import wide
from metafs.pipeline.choice.choosing import choose
from metafs.pipeline.choice.contest import contest_of
from metafs.pipeline.choice.portfolio import shipped
from metafs.plugin.registry import Registry
from metafs.stats.scorers import default_scoring


@pytest.fixture
def choosing(monkeypatch):
    monkeypatch.setattr(wide, "WIDE", 1000)
    registry = Registry()

    def made(X, y):
        problem = Problem.of(X, y)
        contest = contest_of(
            registry, selector=None, learner=("remembered", registry.learners["remembered"])
        )
        return choose(
            problem,
            contest.candidates(problem),
            selectors=contest.selectors,
            learners=contest.learners,
            scoring=default_scoring(problem),
            past=shipped(problem),
            n_folds=3,
        )

    return made


def test_the_true_columns_are_found_among_noise(choosing):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3000))
    found = choosing(X, X[:, 7] - X[:, 90] + X[:, 2500] + 0.3 * rng.normal(size=150))
    assert found.columns.tolist() == [7, 90, 2500]
    assert found.scores.nested > 0.8


def test_of_noise_alone_nothing_is_kept(choosing):
    rng = np.random.default_rng(1)
    found = choosing(rng.normal(size=(150, 3000)), rng.integers(0, 2, 150))
    assert found.candidate is None
    assert len(found.columns) == 0
