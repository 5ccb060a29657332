"""What a plan holds for the names in settings, and what it answers for a problem."""

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression

from metafs.data.problem import Problem
from metafs.errors import UsageError
from metafs.pipeline.plan import regressor_named
from metafs.pipeline.settings import Settings
from metafs.plugin.registry import Registry
from metafs.transfer.expectation import TRANSFERS

REGISTRY = Registry()
X = np.random.default_rng(0).normal(size=(20, 3))
CLASSES = Problem.of(X, ["a", "b"] * 10, feature_names=["u", "v", "w"], name="p")
NUMBERS = Problem.of(X, X[:, 0] + 0.5, feature_names=["u", "v", "w"], name="p")


def test_a_plan_holds_what_the_names_stand_for():
    plan = Settings(budget=9, seconds=2.0, seed=4, transfer="paper", selector="climb").resolve(
        REGISTRY
    )
    params = plan.selector.get_params()
    assert (params["max_evaluations"], params["max_seconds"]) == (9, 2.0)
    assert params["random_state"] == 4
    assert plan.transfer is TRANSFERS["paper"]
    assert REGISTRY.selectors["climb"].get_params()["random_state"] is None, "a clone was changed"
    own = Settings(params={"max_evaluations": 3}, budget=9, selector="climb").resolve(REGISTRY)
    assert own.selector.max_evaluations == 3, "a parameter goes before the budget"
    assert Settings(transfer="none", selector="climb").resolve(REGISTRY).transfer is None


def test_a_measure_that_wraps_a_learner_wraps_the_one_asked_for():
    settings = Settings(
        params={"measure": "cv-accuracy"}, learner=LogisticRegression(C=7.0), selector="climb"
    )
    assert settings.resolve(REGISTRY).selector.measure.learner.C == 7.0


def test_the_learner_and_the_scoring_suit_the_target():
    plan = Settings(selector="climb").resolve(REGISTRY)
    assert [plan.learner_for(each)[0] for each in (CLASSES, NUMBERS)] == ["logistic", "ridge"]
    assert [plan.scoring_for(each) for each in (CLASSES, NUMBERS)] == ["balanced_accuracy", "r2"]
    with pytest.raises(UsageError, match="'logistic' predicts classes, but the target"):
        Settings(learner="logistic", selector="climb").resolve(REGISTRY).learner_for(NUMBERS)


def test_columns_are_passed_only_to_selectors_that_have_parameters_for_them():
    plan = Settings(selector="climb").resolve(REGISTRY)
    selector = plan.selector_for({1: ("x", "y")}, [2])
    assert (selector.categorical_features, selector.keep_features) == ([1], [2])
    plain = Settings(selector=SelectKBest(k=2)).resolve(REGISTRY).selector_for({1: ("x",)}, [2])
    assert plain.get_params() == SelectKBest(k=2).get_params()


def test_keeping_other_columns_changes_the_settings_only_if_they_differ():
    plan = Settings(keep=("u",), selector="climb").resolve(REGISTRY)
    assert plan.keeping(("u",)) is plan
    assert plan.keeping(("v",)).settings.keep == ("v",)


def test_without_a_plugin_there_is_no_default_regressor():
    none = Registry(disabled=["metafs_regressors"])
    assert regressor_named(None, none) is None
    with pytest.raises(UsageError, match="no regressor named 'forest'"):
        regressor_named("forest", none)
