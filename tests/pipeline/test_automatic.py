"""`selector="auto"` through the loop: a real MetaDB, remembered trials, a model in hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from metafs import Problem
from metafs.errors import ProblemError, UsageError
from metafs.pipeline import steps
from metafs.pipeline.choice.choosing import choose
from metafs.pipeline.loop import solve
from metafs_metadb import MetaDB

AUTO = {"selector": "auto", "folds": 3, "learner": "remembered"}


@pytest.fixture
def solved(db, related):
    return list(solve([related(number) for number in range(3)], db=db, check=3, **AUTO))


def test_the_pipeline_its_baselines_and_what_was_tried_are_recorded(db, solved, ask):
    assert [each.status for each in solved] == ["solved"] * 3
    for each in solved:
        assert each.pipeline["learner"] == "remembered"
        assert each.no_skill == pytest.approx(0.5)
        assert each.score > 0.7
        assert each.all_features > 0.7
        assert each.as_json()["baseline"] == {
            "all_features": each.all_features,
            "no_skill": each.no_skill,
        }
    tried = "select count(*), count(distinct fold), min(score) > 0 from trial group by run_id"
    for (n, folds, positive), each in zip(ask(tried), solved, strict=True):
        assert (n, folds, positive) == (each.n_evaluations, 3, True)
    assert MetaDB(db).check() == []
    assert solved[2].without_memory is not None
    assert solved[0].without_memory is None


def test_run_again_it_is_skipped_with_what_was_chosen(db, solved, related):
    (again,) = solve([related(0)], db=db, **AUTO)
    assert again.status == "skipped"
    assert again.pipeline == solved[0].pipeline
    assert again.all_features == solved[0].all_features


def test_the_choice_without_memory_has_as_much_time(db, related, monkeypatch):
    given = []

    def noted(*problem, seconds, **settings):
        given.append(seconds)
        return choose(*problem, seconds=seconds, **settings)

    monkeypatch.setattr(steps, "choose", noted)
    settings = {**AUTO, "db": db, "engine": "inline", "check": 2, "seconds": 60.0}
    first, second = solve([related(0), related(1)], **settings)
    assert first.without_memory is None and second.without_memory is not None
    assert len(given) == 3
    assert given[1] == pytest.approx(given[2], abs=10) and max(given) < 60


def test_all_learners_take_part_unless_one_is_named(db, related, ask):
    (found,) = solve(related(0, n_samples=100), db=db, selector="auto", folds=2)
    tried = {name for (name,) in ask("select distinct learner from trial")}
    assert tried >= {"remembered", "kernel-svm"}
    assert found.pipeline["learner"] in tried


def test_threads_that_the_caller_used_before_do_not_stop_a_worker(related):
    boosting = HistGradientBoostingClassifier(max_iter=2)
    with threadpool_limits(limits=2, user_api="openmp"):
        boosting.fit(np.random.default_rng(0).normal(size=(300, 5)), np.arange(300) % 2)
    (found,) = solve(related(0), db=None, selector="infogain", learner="boosting", folds=2)
    assert found.status == "solved"


def test_any_number_of_jobs_gives_the_same_answer(related):
    stream = [related(number) for number in range(3)]
    one, two = (
        list(solve(stream, db=None, batch=3, jobs=jobs, **AUTO)) for jobs in (1, 2)
    )  # fmt: skip
    assert [each.features for each in one] == [each.features for each in two]
    assert [each.score for each in one] == [each.score for each in two]


def test_the_model_predicts_new_rows(related):
    (found,) = solve(related(0), db=None, **AUTO)
    new = related(1)
    model = found.model
    assert set(model.features) == set(found.features)
    labels = np.asarray(new.classes)[new.y]
    assert (model.predict(new.X) == labels).mean() > 0.8
    frame = pd.DataFrame(new.X, columns=new.feature_names)
    assert (model.predict(frame[frame.columns[::-1]]) == model.predict(new.X)).all()
    with pytest.raises(ProblemError, match="lacks 1 column"):
        model.predict(frame.drop(columns=[found.features[0]]))
    with pytest.raises(ProblemError, match="3 columns, but the model learnt from 12"):
        model.predict(new.X[:, :3])


def test_where_nothing_can_be_learnt_nothing_is_kept(db):
    rng = np.random.default_rng(0)
    noise = Problem.of(rng.normal(size=(120, 6)), rng.integers(0, 2, 120), name="noise")
    (found,) = solve(noise, db=db, **AUTO)
    assert (found.status, found.features, found.pipeline) == ("solved", (), None)
    assert "no skill" in found.notes[0]
    assert len(set(found.model.predict(noise.X))) == 1
    assert MetaDB(db).check() == []


def test_a_class_with_one_row_gets_a_model_but_no_score(db):
    X = np.random.default_rng(0).normal(size=(30, 3))
    (found,) = solve(Problem.of(X, ["a"] * 29 + ["b"], name="rare"), db=db, **AUTO)
    assert (found.status, found.score) == ("solved", None)
    assert found.notes[0].startswith("no score")
    assert found.model.predict(X).shape == (30,)


def test_a_named_selector_with_a_chosen_learner_and_the_reverse(related):
    (found,) = solve(related(0), db=None, selector="infogain", learner="auto", folds=2)
    assert found.pipeline["selector"] == "infogain"
    (found,) = solve(related(0), db=None, selector="auto", learner="naive-bayes", folds=2)
    assert found.pipeline["learner"] == "naive-bayes"


@pytest.mark.parametrize("size", [2, "all"])
def test_the_size_is_kept(related, size):
    (found,) = solve(related(0), db=None, size=size, **AUTO)
    assert len(found.features) == (12 if size == "all" else 2)


def test_a_wrong_size_is_a_sentence(related):
    with pytest.raises(UsageError, match="size must be a number, all or auto, not 'some'"):
        solve(related(0), db=None, size="some", **AUTO)
    with pytest.raises(UsageError, match="for the selector 'auto', not 'climb'"):
        solve(related(0), db=None, selector="climb", size=3)
