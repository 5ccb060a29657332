"""Settings: their digest, and the plan that they resolve to."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression

from metafs.data.problem import Problem
from metafs.errors import UsageError
from metafs.pipeline.settings import Settings, regressor_named
from metafs.plugin.registry import Registry
from metafs.transfer.expectation import TRANSFERS

REGISTRY = Registry()
X = np.random.default_rng(0).normal(size=(20, 3))
CLASSES = Problem.of(X, ["a", "b"] * 10, feature_names=["u", "v", "w"], name="p")
NUMBERS = Problem.of(X, X[:, 0] + 0.5, feature_names=["u", "v", "w"], name="p")


def test_every_setting_is_part_of_the_digest():
    others = {
        "selector": "infogain",
        "params": {"max_edits": 3},
        "learner": "forest",
        "size": 3,
        "max_features": 9,
        "distance": "jsd-rows",
        "project": 5,
        "whole_below": 0.9,
        "transfer": "none",
        "regressor": "ridge",
        "neighbours": 4,
        "threshold": 0.2,
        "c": 0.5,
        "quality": "selector",
        "prefilter": 0.1,
        "budget": 7,
        "seconds": 1.5,
        "scoring": "accuracy",
        "keep": ("u",),
        "folds": 3,
        "seed": 1,
    }
    digests = {Settings(**{name: value}).digest() for name, value in others.items()}
    assert len(digests | {Settings(selector="climb").digest()}) == len(others) + 1
    assert set(others) == set(vars(Settings(selector="climb")))


def test_the_digest_goes_by_the_content_of_objects():
    one, two = (Settings(selector=SelectKBest(f_classif, k=2)) for _ in range(2))
    assert one.digest() == two.digest()
    assert one.digest() != Settings(selector=SelectKBest(f_classif, k=3)).digest()
    assert (
        Settings(params={"a": 1, "b": 2}, selector="climb").digest()
        == Settings(params={"b": 2, "a": 1}, selector="climb").digest()
    )


def test_the_digest_for_a_problem_covers_what_its_fingerprint_does_not():
    described = replace(CLASSES, meta_features=np.eye(3), meta_feature_names=("m", "n", "o"))
    unlabelled = replace(CLASSES, X_unlabelled=X[:4])
    settings = Settings(selector="climb")
    assert settings.digest_for(CLASSES) == settings.digest()
    digests = {settings.digest_for(each) for each in (CLASSES, described, unlabelled)}
    assert len(digests) == 3
    for each in (described, unlabelled):
        assert settings.digest_for(each.columns([2, 0, 1])) == settings.digest_for(each)


def test_groups_times_and_weights_change_the_digest_and_a_problem_without_keeps_it():
    settings = Settings(selector="climb")
    assert settings.digest_for(CLASSES) == settings.digest()
    n = CLASSES.n_samples
    some, others = np.arange(n) // 2, np.arange(n) // 3
    told = [
        replace(CLASSES, **{field: values.astype(kind)})
        for field, kind in (("groups", int), ("time", float), ("sample_weight", float))
        for values in (some, others)
    ]
    digests = {settings.digest_for(each) for each in (CLASSES, *told)}
    assert len(digests) == 7
    assert {each.fingerprint for each in told} == {CLASSES.fingerprint}
    for each in told:
        assert settings.digest_for(each.columns([2, 0, 1])) == settings.digest_for(each)


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
