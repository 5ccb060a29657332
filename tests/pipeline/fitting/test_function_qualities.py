"""Quality over the functions that a search met: of a run, in memory, and as a start."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from metafs.data.problem import Problem
from metafs.errors import UsageError
from metafs.pipeline.fitting.function_qualities import function_qualities, functions_met
from metafs.pipeline.fitting.selection import Selection
from metafs.pipeline.loop import solve
from metafs.pipeline.settings import Settings
from metafs.plugin.registry import Registry
from metafs.stats.function_quality import FunctionQuality
from metafs_moses import MosesClassifier

SEARCH = {"selector": "climb", "budget": 60, "folds": 2, "transfer": "paper"}


def selection_of(problem, selected, candidates=()):
    mask = np.isin(np.arange(problem.n_features), selected)
    n = problem.n_features
    return Selection(mask, np.zeros(n), np.arange(n) + 1, fitness=0.5, candidates=tuple(candidates))


def test_sets_with_their_learner_in_closed_form(related):
    """Of a logistic regression q is w² var(x), relative to the largest."""
    problem = related(0)
    met = [(1, (0,), 0.2), (5, (0, 1), 0.5), (9, (2, 1), 0.3), (12, (1, 2), 0.1)]
    learner = LogisticRegression()
    found = function_qualities(problem, selection_of(problem, [0, 1], met), learner)
    expected = np.zeros(problem.n_features)
    sets = {(0, 1): 0.5, (1, 2): 0.3, (0,): 0.2}
    mu = np.array([np.exp(-0.1 * len(each)) for each in sets])
    mu /= mu.sum()
    for weight, (columns, fitness) in zip(mu, sets.items(), strict=True):
        table = problem.X[:, list(columns)]
        w = LogisticRegression().fit(table, problem.y).coef_[0]
        information = w**2 * table.var(axis=0)
        expected[list(columns)] += weight * fitness / 0.5 * information / information.max()
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_the_programs_of_moses_are_functions(related):
    problem = related(0)
    learner = MosesClassifier(max_evaluations=300)
    selected = [0, 1, 2, 5]
    functions = functions_met(problem, selection_of(problem, selected), learner)
    assert len(functions) > 3
    fitted = learner.fit(problem.X[:, selected], problem.y)
    best = max(functions, key=lambda g: g.fitness)
    assert best.fitness == pytest.approx(1 + fitted.scores_[0] / problem.n_samples)
    for g in functions:
        assert set(g.columns.tolist()) <= set(selected)
        said = g.output(problem.X[:, g.columns])
        right = (said == (problem.y == 1)).mean()
        assert g.fitness == pytest.approx(right)
    found = function_qualities(problem, selection_of(problem, selected), learner)
    assert found[[3, 4]].tolist() == [0, 0]
    assert found[:2].min() > found[5]


def test_categories_missing_values_and_numbers_have_qualities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:, 2] = np.arange(40) % 3
    X[0, 0] = np.nan
    y = np.where(np.arange(40) % 3 == 1, "a", "b")
    problem = replace(
        Problem.of(X, y, feature_names=["u", "v", "w"]), categories={2: ("0", "1", "2")}
    )
    found = function_qualities(problem, selection_of(problem, [0, 2]), LogisticRegression())
    assert found[2] == 1.0 and found[0] < 0.5 and found[1] == 0
    numeric = Problem.of(X[1:], X[1:, 1] * 2, feature_names=["u", "v", "w"])
    ridge = Registry().learners["ridge"]
    found = function_qualities(numeric, selection_of(numeric, [0, 1]), ridge, FunctionQuality())
    assert found[1] == pytest.approx(1.0) and found[0] < 0.01


@pytest.mark.parametrize("learner", ["logistic", "moses"])
def test_it_is_remembered_and_starts_later_searches(db, ask, related, learner):
    settings = {**SEARCH, "quality": "functions", "learner": learner, "threshold": 0.05}
    solved = list(solve([related(i) for i in range(5)], db=db, **settings))
    assert [each.status for each in solved] == ["solved"] * 5
    ((least, most),) = ask("select min(quality), max(quality) from selection")
    assert 0 <= least < most <= 1
    assert any(each.transferred for each in solved)


def test_a_choice_of_pipelines_meets_no_functions():
    with pytest.raises(UsageError, match="named"):
        Settings(quality="functions").resolve(Registry())
