"""What goes wrong in the loop: plugins and sources that fail, requests that are refused."""

import os
import re
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest

from metafs.data.problem import Problem
from metafs.errors import ProblemError, UsageError
from metafs.memory.memory import Memory
from metafs.pipeline.loop import solve
from metafs.plugin.hookspecs import hookimpl
from metafs.plugin.registry import Registry
from metafs_metadb import MetaDB

QUICK = {"selector": "climb", "budget": 200, "folds": 2}


class Fails(BaseEstimator):
    """A selector that cannot."""

    def fit(self, X, y):
        raise RuntimeError("no can do")


class Plugin:
    @hookimpl
    def metafs_selectors(self):
        return {"fails": Fails()}


class Unreadable:
    name, origin = "torn", "torn.csv"

    def read(self):
        raise ProblemError("torn.csv is torn: fix it.")


def test_a_failing_plugin_is_recorded_and_the_stream_goes_on(db, related, ask):
    registry = Registry([Plugin()])
    results = list(
        solve([related(0), Unreadable(), related(1)], db=db, registry=registry, selector="fails")
    )
    assert [each.status for each in results] == ["failed"] * 3
    assert results[0].error == "selector 'fails' failed on 'problem 0': RuntimeError: no can do"
    assert "no can do" in results[0].details
    recorded = ask("select status, error from run order by run_id")
    assert [status for status, _ in recorded] == ["failed"] * 2  # one could not even be read
    for number, (_, error) in enumerate(recorded):
        stored = rf"selector 'fails' failed on 'problem {number}': RuntimeError in .*\.py, line \d+"
        assert re.fullmatch(stored, error)
    fixed = list(solve([related(0), related(1)], db=db, **QUICK))
    assert [each.status for each in fixed] == ["solved", "solved"]
    assert MetaDB(db).check() == []


class Odd(BaseEstimator):
    """A selector that misbehaves in one of many ways."""

    def __init__(self, way="none"):
        self.way = way

    def fit(self, X, y):
        self.support_ = np.ones(X.shape[1] + (self.way == "too long"), dtype=bool)
        if self.way == "leaves":
            sys.exit(9)
        if self.way == "dies":
            os._exit(3)
        if self.way == "counts in words":
            self.n_evaluations_ = "many"
        if self.way == "invents features":
            self.candidates_ = [(1, (99,), 0.5)]
        return self


@pytest.mark.parametrize("way", ["too long", "leaves", "counts in words", "invents features"])
def test_a_misbehaving_selector_fails_its_problem_only(db, related, way):
    results = list(solve([related(0), related(1)], db=db, selector=Odd(way)))
    assert [each.status for each in results] == ["failed", "failed"]
    assert all(each.error.startswith("selector 'Odd' failed on") for each in results)
    assert MetaDB(db).check() == []


def test_a_dying_process_fails_its_problem_and_the_stream_goes_on(db, related, ask):
    stream = [related(number) for number in range(4)]
    results = list(solve(stream, db=db, selector=Odd("dies"), batch=2, jobs=2))
    assert [each.status for each in results] == ["failed"] * 4
    assert ask("select count(*) from run where status = 'failed'") == [(4,)]


def test_one_unreadable_problem_does_not_stop_the_others(db, related, ask):
    results = list(solve([related(0), Unreadable(), related(1)], db=db, **QUICK))
    assert [each.status for each in results] == ["solved", "failed", "solved"]
    assert results[1].error == "torn.csv is torn: fix it."
    list(solve([Unreadable()], db=db, **QUICK))
    assert ask("select name from problem order by name") == [("problem 0",), ("problem 1",)]


def test_an_interrupted_query_is_ctrl_c_and_no_failure(db, related, monkeypatch):
    def interrupted(*arguments):
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(Memory, "solved", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(solve(related(0), db=db, **QUICK))


class PickySelector(BaseEstimator):
    """A third party's selector that says itself which parameters make sense."""

    def __init__(self, oddity=1):
        self.oddity = oddity

    def check_parameters(self):
        if self.oddity % 2 == 0:
            raise ValueError("oddity must be odd")

    def fit(self, X, y):
        if self.oddity > X.shape[1]:
            raise UsageError(f"oddity is {self.oddity}, but there are {X.shape[1]} columns.")
        self.support_ = np.arange(X.shape[1]) < self.oddity
        return self


def test_a_parameter_that_does_not_suit_one_problem_fails_that_one_only(db, related):
    small = Problem.of(related(1).X[:, :3], related(1).y, name="small")
    results = list(solve([small, related(0)], db=db, selector=PickySelector(5), folds=2))
    assert [each.status for each in results] == ["failed", "solved"]
    assert results[0].error == "oddity is 5, but there are 3 columns."
    assert len(results[1].features) == 5


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"selector": "clim"}, "no selector named 'clim': did you mean climb"),
        ({"learner": "forrest"}, "did you mean forest"),
        ({"distance": "jsd"}, "no distance named 'jsd'"),
        ({"transfer": "gided"}, "did you mean guided"),
        ({"scoring": "acuracy"}, "did you mean accuracy"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"neighbours": 0}, "neighbours must be at least 1"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"seconds": 0.0}, "seconds must be more than 0"),
        ({"batch": 0}, "batch must be at least 1"),
        ({"jobs": 0}, "jobs must be at least 1"),
        ({"engine": "spark"}, "no engine named 'spark'"),
        ({"project": 3}, "'jsd-features' cannot be projected"),
        (
            {"selector": "climb", "params": {"measure": "infogain"}},
            "'infogain' is of single features",
        ),
        ({"selector": SelectKBest}, "is not a selector"),
        ({"selector": 5}, "is not a selector"),
        ({"threshold": 1.5}, "threshold must lie between 0 and 1"),
        ({"selector": "climb", "params": {"nope": 1}}, "selector 'climb' has no parameter 'nope'"),
        ({"selector": "climb", "params": {"measure": "infogian"}}, "did you mean infogain"),
        ({"selector": "climb", "params": {"max_edits": 0}}, "max_edits must be at least 2, not 0"),
        ({"selector": "climb", "params": {"random_state": "a"}}, "random_state cannot be 'a'"),
        (
            {"selector": "climb", "params": {"max_seconds": -1}},
            "max_seconds must be a number from 0, not -1",
        ),
        (
            {"selector": "climb", "params": {"target_score": "x"}},
            "target_score must be a number, not 'x'",
        ),
        ({"selector": "fisher", "params": {"n_bins": 1}}, "n_bins is 1"),
        ({"selector": "infogain", "params": {"n_bins": "a"}}, "n_bins is 'a'"),
        ({"selector": "infogain", "params": {"n_features_to_select": 0}}, "to_select is 0"),
        (
            {"selector": "shrunk", "params": {"noise_inflation": 0}},
            "noise_inflation must be more than 0",
        ),
        ({"selector": "shrunk", "params": {"quality": 7}}, "quality is 7"),
        ({"selector": "relief", "params": {"n_steps": 0}}, "n_steps must be at least 1"),
        ({"selector": "relieff", "params": {"n_jobs": 0}}, "n_jobs must be at least 1, or -1"),
        ({"selector": "sw-relieff", "params": {"n_neighbors": 0}}, "n_neighbors must be"),
        ({"selector": "simba", "params": {"utility": "cubic"}}, "utility is 'cubic'"),
        ({"selector": "gflip", "params": {"beta": 0}}, "beta must be more than 0"),
        ({"selector": "inffs", "params": {"alpha": 2}}, "alpha is 2"),
        ({"selector": "inffs", "params": {"cv": 1}}, "'inffs' refuses its parameters.*n_splits=1"),
        ({"selector": "inffs", "params": {"scoring": "acuracy"}}, "did you mean accuracy"),
        ({"selector": "svm-rfe", "params": {"C": 0}}, "C is 0"),
        ({"selector": "ensemble-svm-rfe", "params": {"n_estimators": 0}}, "n_estimators must be"),
        ({"selector": "sw-svm-rfe", "params": {"step": 0}}, "step is 0"),
        ({"selector": "fsv", "params": {"sparsity": 1}}, "sparsity must lie between 0 and 1"),
        ({"selector": "mf-pfs", "params": {"t": 0}}, "t must lie between 0 and 1"),
        ({"selector": "mufasa", "params": {"n_clusters": 0}}, "n_clusters must be at least 1"),
        ({"selector": SelectKBest(k=-3)}, "'SelectKBest' refuses .* Got -3 instead"),
        ({"selector": PickySelector(0)}, "'PickySelector' refuses its parameters: ValueError: odd"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_read(db, settings, words):
    with pytest.raises(UsageError, match=words):
        solve([Unreadable()], db=db, **settings)
    assert not db.exists()


@pytest.mark.parametrize("nothing", [None, 5, [5], b"x", [None]])
def test_what_is_no_problem_is_refused(nothing):
    with pytest.raises(UsageError, match="is not a problem"):
        solve(nothing, db=None, selector="climb")
