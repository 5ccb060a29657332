"""Settings: their digest."""

from dataclasses import replace

import numpy as np
from sklearn.feature_selection import SelectKBest, f_classif

from metafs.data.problem import Problem
from metafs.pipeline.settings import Settings

X = np.random.default_rng(0).normal(size=(20, 3))
CLASSES = Problem.of(X, ["a", "b"] * 10, feature_names=["u", "v", "w"], name="p")


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
