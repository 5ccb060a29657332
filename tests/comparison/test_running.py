"""Comparisons of real pipelines: the same folds, memory in copies, failures, any number of jobs."""

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest

from metafs import Problem, solve
from metafs.comparison import compare, pipelines_of, run
from metafs.comparison.result import mean_interval
from metafs.errors import UsageError
from metafs.pipeline.loop import InMemorySource
from metafs.pipeline.settings import Settings
from metafs.plugin.registry import Registry
from metafs.stability.indices import kuncheva
from metafs.stats.folds import folds

TWO = ["fisher:n_features_to_select=2", "climb"]


def without_seconds(entry):
    known = entry.as_json()
    return {**known, "seconds": None}


def test_scores_are_those_of_solve(related):
    problems = [related(number) for number in range(3)]
    found = compare(problems, TWO, ["logistic", "naive-bayes"], folds=3)
    assert list(found.summaries) == [
        f"{selector} + {learner}" for selector in TWO for learner in ("logistic", "naive-bayes")
    ]
    alone = solve(problems, db=None, selector="climb", learner="naive-bayes", folds=3)
    expected = [each.score for each in alone]
    assert found.scores[:, 3].tolist() == expected
    assert found.summaries["climb + naive-bayes"].mean_score == np.mean(expected)


def test_stability_is_that_of_the_sets_of_the_folds(related):
    problem = related(0)
    found = compare(problem, TWO, folds=4)
    sets = []
    for train, _ in folds(problem, 4, 0):
        selector = Registry().selectors["fisher"].set_params(n_features_to_select=2)
        sets.append(selector.fit(problem.X[train], problem.y[train]).get_support())
    assert found.summaries[TWO[0]].stability == pytest.approx(kuncheva(sets))
    assert found.summaries[TWO[0]].n_features == 2


def test_the_choice_of_a_pipeline_is_one_of_them(related):
    found = compare(related(0), ["auto", "fisher"], folds=2)
    auto = found.scored["auto"][0]
    (alone,) = solve(related(0), db=None, selector="auto", folds=2)
    assert auto.score == alone.score
    assert auto.kuncheva is not None
    assert auto.solution.pipeline == alone.pipeline


def test_jobs_do_not_change_the_results(related):
    problems = [related(number) for number in range(3)]
    one, two = (compare(problems, TWO, jobs=jobs, folds=2) for jobs in (1, 2))
    assert [without_seconds(each) for each in one.entries] == [
        without_seconds(each) for each in two.entries
    ]


def test_memory_is_used_and_filled_in_copies_only(related, db):
    list(solve([related(0)], db=db, selector="climb", folds=2, space="w"))
    before = [hashlib.sha1(path.read_bytes()).digest() for path in sorted(db.parent.iterdir())]
    stream = [replace(related(number), space="w") for number in (1, 2)]
    found = compare(stream, ["climb", "infogain"], db=db, folds=2)
    after = [hashlib.sha1(path.read_bytes()).digest() for path in sorted(db.parent.iterdir())]
    assert before == after
    first, second = (found.scored["climb"][index].solution for index in (0, 1))
    assert second.neighbours and "problem 1" in dict(second.neighbours)
    assert dict(first.neighbours).keys() <= {"problem 0"}
    cold = compare(stream, ["climb", "infogain"], folds=2)
    assert cold.scored["climb"][1].solution.neighbours == ()
    begun = compare(stream, ["climb", "infogain"], db=db.with_name("none.duckdb"), folds=2)
    assert dict(begun.scored["climb"][1].solution.neighbours).keys() == {"problem 1"}
    assert [path.name for path in db.parent.iterdir() if "none" in path.name] == []


def test_a_failure_costs_one_problem_for_all_and_nothing_else(related):
    lonely = Problem.of(
        np.eye(4), ["a", "a", "a", "b"], feature_names=list("wxyz"), name="one row of b"
    )
    problems = [related(0), lonely, related(3)]
    found = compare(problems, TWO, folds=2)
    assert found.common == [0, 2]
    assert found.compared == TWO
    assert {each.solution.problem for each in found.failures} == {"one row of b"}
    assert all("class 'b' has 1 row" in each.reason for each in found.failures)


def test_a_pipeline_that_always_fails_is_left_out(related):
    found = compare([related(0), related(1)], ["fisher", "climb", _Broken()], folds=2)
    assert found.compared == ["fisher", "climb"]
    assert found.common == [0, 1]
    assert found.summaries["_Broken()"].mean_score is None
    assert all("broken for this test" in each.reason for each in found.failures)
    assert found.as_json()["problems"][0]["pipelines"]["_Broken()"]["score"] is None


class _Broken(SelectKBest):
    def fit(self, X, y):
        raise RuntimeError("broken for this test")


def test_a_single_problem_has_no_interval_and_no_test(related):
    found = compare(related(0), TWO, folds=2)
    assert found.test is None
    assert found.summaries["climb"].score_interval is None


@pytest.mark.parametrize("n", [2, 5, 40])
def test_an_interval_covers_as_often_as_it_says(n):
    """Of the intervals of many samples, 95 % hold the mean."""
    rng = np.random.default_rng(n)
    intervals = [mean_interval(rng.normal(3.0, 2.0, size=n)) for _ in range(2000)]
    assert np.mean([low <= 3.0 <= high for low, high in intervals]) == pytest.approx(
        0.95, abs=0.015
    )


def test_scores_beyond_the_best_are_not_in_an_interval(related):
    found = compare([related(number) for number in range(3)], TWO, folds=2)
    for each in found.summaries.values():
        low, high = each.score_interval
        assert low <= each.mean_score <= high <= 1.0


@pytest.mark.parametrize(
    ("selectors", "learners", "says"),
    [
        (["fisher"], [], "nothing to compare"),
        (["fisher", "fisher"], [], "given twice"),
        (["fisher:", "climb"], [], "NAME:PARAM=VALUE"),
        (["fisher:k", "climb"], [], "NAME=VALUE"),
    ],
)
def test_wrong_pipelines_are_refused(selectors, learners, says):
    with pytest.raises(UsageError, match=says):
        pipelines_of(selectors, learners)


def test_everything_is_checked_before_anything_runs(related):
    stream = [InMemorySource(related(0))]
    pipelines = pipelines_of(
        ["fisher", "fisher:nothing=1"], shared=Settings(folds=2, selector="climb")
    )
    with pytest.raises(UsageError, match="no parameter 'nothing'"):
        run(stream, pipelines)
