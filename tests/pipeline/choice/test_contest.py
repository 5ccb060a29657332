"""Who takes part in the choice of a pipeline: plugins that say what they cost."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression

from metafs import Problem
from metafs.memory import MetaDB
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.contest import contest_of
from metafs.pipeline.choice.costs import UNKNOWN, seconds_on
from metafs.pipeline.loop import solve
from metafs.plugin import hookimpl
from metafs.plugin.protocols import SupportsCost
from metafs.plugin.registry import Registry


class CostedRanking(SelectKBest):
    """A ranking of a stranger, with a cost and sizes of its own."""

    def __init__(self, n_features_to_select=2):
        super().__init__(k=n_features_to_select)
        self.n_features_to_select = n_features_to_select

    def fit(self, X, y):
        self.k = min(self.n_features_to_select, X.shape[1])
        return super().fit(X, y)

    def expected_seconds(self, n_samples, n_features, n_outputs):
        return 1e-8 * n_samples * n_features

    def sizes(self, n_features):
        return [3, 5]


class CostedLearner(LogisticRegression):
    """A learner of a stranger, whose cost grows with the outputs."""

    def expected_seconds(self, n_samples, n_features, n_outputs):
        return 0.01 * n_outputs


class Plugin:
    """What a stranger offers: two that take part, two that do not say what they cost."""

    @hookimpl
    def metafs_selectors(self):
        return {"anova": CostedRanking(), "quiet": SelectKBest(k=2)}

    @hookimpl
    def metafs_learners(self):
        return {"plain": CostedLearner(), "silent": LogisticRegression()}


@pytest.fixture(scope="module")
def registry():
    return Registry([Plugin()])


def table(n_rows=90, n_classes=2):
    X = np.random.default_rng(0).normal(size=(n_rows, 12))
    y = np.digitize(X[:, 1] + X[:, 4], np.linspace(-1, 1, n_classes - 1))
    return Problem.of(X, y, space="here", leave_out="nothing")


def test_a_plugin_that_says_what_it_costs_takes_part(registry):
    contest = contest_of(registry, selector=None, learner=None)
    assert {"anova", "infogain", "projected"} <= set(contest.selectors)
    assert "quiet" not in contest.selectors
    assert {"plain", "remembered"} <= set(contest.learners)
    assert not {"silent", "logistic"} & set(contest.learners)
    found = contest.candidates(table())
    assert found[0] == Candidate("remembered")
    assert {each.size for each in found if each.selector == "anova"} == {3, 5}
    assert {each.size for each in found if each.selector == "infogain"} == {1, 2, 4, 8}


def test_the_choice_tries_the_pipelines_of_a_plugin(registry, tmp_path):
    db = tmp_path / "m.duckdb"
    asked = {"db": db, "learner": "plain", "selector": "auto", "folds": 3, "transfer": "none"}
    (found,) = solve(table(), registry=registry, **asked)
    assert found.status == "solved"
    sql = "select distinct selector, size from trial where learner = 'plain'"
    _, rows = MetaDB(db).sql(sql)
    assert {("anova", 3), ("anova", 5)} & set(map(tuple, rows))


def test_costs_add_up_and_count_outputs(registry):
    fitted = {"anova": registry.selectors["anova"], "quiet": registry.selectors["quiet"]}
    learners = dict(registry.learners)
    for n_classes, n_outputs in ((2, 1), (4, 4)):
        problem = table(n_classes=n_classes)
        ranking = 1e-8 * 90 * 12
        one = seconds_on(problem, Candidate("plain", "anova", 3), fitted, learners)
        assert one == pytest.approx(0.01 * n_outputs + ranking)
        assert seconds_on(problem, Candidate("plain"), fitted, learners) == 0.01 * n_outputs
    both = seconds_on(table(), Candidate("silent", "quiet", 2), fitted, learners)
    assert both == 2 * UNKNOWN


def test_what_takes_part_of_ours_expects_more_seconds_of_more_rows(registry):
    contest = contest_of(registry, selector=None, learner=None)
    for each in [*contest.selectors.values(), *contest.learners.values()]:
        assert isinstance(each, SupportsCost)
        few, many = (each.expected_seconds(n, 50, 1) for n in (100, 100_000))
        assert 0 <= few <= many


class BrokenRanking(CostedRanking):
    """A ranking that fails on every table."""

    def fit(self, X, y):
        raise RuntimeError("no ranking today")


class BrokenLearner(CostedLearner):
    """A learner that fails on every table."""

    def fit(self, X, y, sample_weight=None):
        raise RuntimeError("no lesson today")


class WrongCost(CostedLearner):
    """A learner whose cost is no number."""

    def expected_seconds(self, n_samples, n_features, n_outputs):
        return float("nan")


class BrokenPlugin:
    """What a stranger offers that fails."""

    @hookimpl
    def metafs_selectors(self):
        return {"broken-ranking": BrokenRanking()}

    @hookimpl
    def metafs_learners(self):
        return {"broken-learner": BrokenLearner(), "free": WrongCost()}


def test_a_plugin_that_fails_is_left_out_with_a_note_and_the_rest_is_chosen_from():
    asked = {"db": None, "selector": "auto", "folds": 3}
    with pytest.warns(UserWarning, match="'free' takes no part.*nan"):
        (found,) = solve(table(), registry=Registry([BrokenPlugin()]), engine="inline", **asked)
    assert found.status == "solved"
    assert "broken" not in str(found.pipeline)
    notes = [each for each in found.notes if "was left out" in each]
    kinds = {"selector 'broken-ranking'": "no ranking", "learner 'broken-learner'": "no lesson"}
    assert len(notes) >= 1
    for note in notes:
        (reason,) = [reason for name, reason in kinds.items() if note.startswith(name)]
        assert reason in note


def test_a_learner_that_was_asked_for_and_fails_is_named():
    asked = {"db": None, "selector": "auto", "folds": 3, "learner": "broken-learner"}
    registry = Registry([BrokenPlugin()])
    (found,) = solve(table(), registry=registry, engine="inline", **asked)
    assert found.status == "failed"
    assert found.error.startswith("learner 'broken-learner' failed on")
