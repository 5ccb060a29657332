"""Every solved problem has a model, which is fitted when somebody asks for it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from metafs import Problem, solve
from metafs.errors import UsageError
from metafs_metadb import MetaDB

NAMED = {"selector": "infogain", "learner": "logistic", "folds": 2}


def test_a_named_learner_is_fitted_when_its_model_is_used(related, monkeypatch):
    (found,) = solve(related(0), db=None, **NAMED)
    fits = []
    original = LogisticRegression.fit

    def counting(self, *arguments, **more):
        fits.append(arguments[0].shape)
        return original(self, *arguments, **more)

    monkeypatch.setattr(LogisticRegression, "fit", counting)
    model = found.model
    assert not fits
    for _ in range(2):
        model.predict(related(1).X)
    model.predict_proba(related(1).X)
    assert fits == [(60, len(found.features))]
    assert model.lesson is None, "the rows are let go"


def test_a_model_learns_from_what_was_selected_only(related):
    problem = related(0)
    (found,) = solve(problem, db=None, **NAMED)
    changed = problem.X.copy()
    others = [j for j, name in enumerate(problem.feature_names) if name not in found.features]
    changed[:, others] = np.nan
    np.testing.assert_array_equal(found.model.predict(changed), found.model.predict(problem.X))
    assert set(found.model.features) == set(found.features)


@pytest.mark.parametrize("learner", ["logistic", "kernel-svm", "remembered", "auto"])
def test_new_rows_may_lack_values_where_none_lacked_before(learner, related, tmp_path):
    from metafs.pipeline.models.model_file import load, save

    problem = related(0)
    chosen = {"selector": "auto"} if learner == "auto" else {"selector": "infogain"}
    (found,) = solve(problem, db=None, learner=learner, folds=2, **chosen)
    places = [problem.feature_names.index(name) for name in found.features]
    lacking, medians = problem.X.copy(), problem.X.copy()
    for j in places:
        lacking[j % 7 :: 7, j] = np.nan
        medians[j % 7 :: 7, j] = np.median(problem.X[:, j])
    assert save(found.model, tmp_path / "m.metafs") == ()
    for model in (found.model, load(tmp_path / "m.metafs")):
        np.testing.assert_array_equal(model.predict(lacking), model.predict(medians))
        np.testing.assert_array_equal(model.predict_proba(lacking), model.predict_proba(medians))


@pytest.mark.parametrize("jobs", [1, 2])
def test_saved_models_are_those_of_the_solutions(related, tmp_path, jobs):
    from metafs.pipeline.models.folder import find
    from metafs.pipeline.models.model_file import load

    stream = [related(number) for number in range(2)]
    found = list(
        solve(stream, db=None, batch=2, jobs=jobs, save_models=tmp_path / "new" / "m", **NAMED)
    )
    for solution, problem in zip(found, stream, strict=True):
        again = load(find(tmp_path / "new" / "m", problem.name, problem.space))
        np.testing.assert_array_equal(
            again.predict_proba(problem.X), solution.model.predict_proba(problem.X)
        )
    assert len(list((tmp_path / "new" / "m").iterdir())) == 2


def test_machines_tell_probabilities(related):
    problem = related(0)
    for learner in ("kernel-svm", "linear-svm"):
        (found,) = solve(problem, db=None, **(NAMED | {"learner": learner}))
        p = found.model.predict_proba(problem.X)
        agree = np.asarray(found.model.classes)[p.argmax(axis=1)] == found.model.predict(problem.X)
        assert agree.mean() > 0.9


def test_too_few_rows_for_probabilities():
    X = np.random.default_rng(0).normal(size=(30, 3))
    problem = Problem.of(X, ["a"] * 29 + ["b"], name="rare")
    (found,) = solve(problem, db=None, **(NAMED | {"learner": "linear-svm"}))
    assert found.model.predict(X).shape == (30,)
    with pytest.raises(UsageError, match="gives no probabilities"):
        found.model.predict_proba(X)


def test_no_rows_at_all(related):
    (found,) = solve(related(0), db=None, **NAMED)
    nothing = pd.DataFrame(related(0).X, columns=related(0).feature_names).iloc[:0]
    assert found.model.predict(nothing).shape == (0,)
    assert found.model.predict_proba(nothing).shape == (0, 2)


def test_skipped_and_failed_problems_have_none(related, db):
    list(solve(related(0), db=db, **NAMED))
    (again,) = solve(related(0), db=db, **NAMED)
    assert (again.status, again.model) == ("skipped", None)


def test_a_problem_without_its_model_is_solved_again_to_save_one(related, db, tmp_path):
    list(solve(related(0), db=db, **NAMED))
    saving = {"db": db, "save_models": tmp_path / "m", **NAMED}
    assert [each.status for each in solve(related(0), **saving)] == ["solved"]
    assert [each.status for each in solve(related(0), **saving)] == ["skipped"]


def test_a_model_that_cannot_be_saved_costs_only_a_note(related, db, tmp_path, monkeypatch):
    import skops.io

    def refuse(*_, **__):
        raise TypeError("this object cannot be written")

    monkeypatch.setattr(skops.io, "dumps", refuse)
    (found,) = solve(related(0), db=db, save_models=tmp_path, **NAMED)
    assert found.status == "solved" and found.score is not None
    assert any("its model is not saved" in note for note in found.notes)
    assert list(tmp_path.glob("*.metafs")) == []
    assert [row[2] for row in MetaDB(db).problems().rows] == ["problem 0"]
