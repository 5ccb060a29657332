"""MetaClassifier and MetaRegressor as scikit-learn estimators, with and without memory."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from metafs import MetaClassifier, MetaRegressor, MetaSelector, solve
from metafs.errors import ProblemError
from metafs_metadb import MetaDB

BINS = "infogain makes bins of equal frequency of rows, whatever their weights"
FAILING = {
    "check_sample_weight_equivalence_on_dense_data": BINS,
    "check_sample_weight_equivalence_on_sparse_data": BINS,
}


def failing(estimator):
    return FAILING if estimator.selector == "infogain" else {}


# The automatic choice passes them too, but that takes five minutes.
@parametrize_with_checks(
    [
        MetaClassifier("fisher", "logistic", size=2, folds=2),
        MetaRegressor("infogain", "ridge", size=2, folds=2),
        MetaClassifier(VarianceThreshold(), GaussianNB(), folds=2),
    ],
    expected_failed_checks=failing,
)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


@pytest.fixture
def mixed():
    """A table of every kind of column, its target, and the same rows in another library."""
    rng = np.random.default_rng(0)
    n = 90
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], n),
            "size": rng.normal(size=n),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n), "D"),
            "smokes": rng.random(n) < 0.5,
            "grade": pd.Categorical(rng.choice(["low", "high"], n)),
        }
    )
    score = frame["size"] + 2 * (frame["colour"] == "red") + frame["smokes"]
    frame.loc[3, "colour"], frame.loc[4, "size"], frame.loc[5, "seen"] = None, np.nan, pd.NaT
    return frame, np.where(score > 1, "yes", "no"), score.to_numpy()


@pytest.mark.parametrize("selector", ["auto", "infogain"])
@pytest.mark.parametrize("learner", ["auto", "naive-bayes"])
def test_frames_come_in_as_they_are(mixed, selector, learner):
    frame, y, _ = mixed
    fitted = MetaClassifier(selector, learner, folds=2, random_state=0).fit(frame, y)
    assert (fitted.predict(frame) == y).mean() > 0.75
    unseen = frame.assign(colour="violet")
    assert set(fitted.predict(unseen)) <= {"yes", "no"}
    np.testing.assert_allclose(fitted.predict_proba(unseen).sum(axis=1), 1.0)
    few = frame.iloc[[3, 4, 5]]
    np.testing.assert_array_equal(fitted.predict(few), fitted.predict(frame)[[3, 4, 5]])
    assert fitted.transform(frame).shape == (90, fitted.get_support().sum())
    assert set(fitted.get_feature_names_out()) <= set(frame.columns)
    chosen = fitted.set_output(transform="pandas").transform(frame)
    pd.testing.assert_frame_equal(chosen, frame[list(fitted.get_feature_names_out())])


def test_polars_predicts_as_pandas_does(mixed):
    frame, y, _ = mixed
    fitted = MetaClassifier("infogain", "logistic", size=4).fit(frame, y)
    other = pl.from_pandas(frame)
    np.testing.assert_array_equal(fitted.predict(other), fitted.predict(frame))
    again = clone(fitted).fit(other, pl.Series(y))
    np.testing.assert_allclose(again.predict_proba(frame), fitted.predict_proba(frame))


def test_another_kind_of_column_is_refused_in_a_sentence(mixed):
    frame, y, _ = mixed
    fitted = MetaClassifier("infogain", "logistic", size=5, name="p").fit(frame, y)
    with pytest.raises(ProblemError, match="p: column 'size' holds text in row 1"):
        fitted.predict(frame.assign(size="large"))


def test_numbers(mixed):
    frame, _, score = mixed
    fitted = MetaRegressor("infogain", "ridge", size=4, random_state=0).fit(frame, score)
    assert fitted.score(frame, score) > 0.7
    assert fitted.score_ > 0.5 and fitted.scoring_ == "r2"
    assert not hasattr(fitted, "predict_proba")


def test_what_was_chosen_is_told():
    X, y = load_iris(return_X_y=True)
    fitted = MetaClassifier(folds=3, random_state=0).fit(X, y)
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.predict(X).dtype == y.dtype
    assert fitted.pipeline_["size"] in (None, fitted.get_support().sum())
    assert fitted.score_ > 0.85 > fitted.baseline_["no_skill"]
    assert fitted.baseline_["all_features"] > 0.8
    sizes, scores = zip(*fitted.frontier_, strict=True)
    assert list(sizes) == sorted(set(sizes)) and max(sizes) == 4
    assert max(scores) == fitted.leaderboard_[0][1]
    assert fitted.predict_proba(X).shape == (150, 3)
    assert fitted.memory_ is None


@pytest.mark.parametrize("size", [1, 2, 3, "all"])
@pytest.mark.parametrize("keep", [None, [0], [0, 1, 3]])
def test_a_size_is_kept_exactly(size, keep):
    X, y = load_iris(return_X_y=True)
    fitted = MetaClassifier(learner="naive-bayes", size=size, keep=keep, folds=2).fit(X, y)
    n_wanted = 4 if size == "all" else max(size, len(keep or ()))
    assert fitted.get_support().sum() == n_wanted
    assert fitted.get_support()[keep or []].all()
    assert [tried for tried, _ in fitted.frontier_] == [4 if size == "all" else size]


def test_a_size_that_was_asked_for_is_kept_where_nothing_beats_no_skill():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 9)), rng.integers(0, 2, 120)
    fitted = MetaClassifier(learner="logistic", size=3, folds=3, random_state=0).fit(X, y)
    assert fitted.get_support().sum() == 3
    assert any("as many features are kept as were asked for" in each for each in fitted.notes_)


def test_noise_has_no_features_and_a_model_of_no_skill():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 5)), rng.integers(0, 2, 120)
    fitted = MetaClassifier(folds=3, random_state=0).fit(X, y)
    assert fitted.get_support().sum() == 0
    assert fitted.pipeline_ == {"selector": None, "size": 0, "learner": "no skill"}
    assert len(set(fitted.predict(X))) == 1


@pytest.mark.parametrize("missing", [None, np.nan, ""])
def test_rows_without_target_are_unlabelled(missing):
    X, y = load_iris(return_X_y=True)
    labels = np.array(["a", "b", "c"], dtype=object)[y]
    labels[::3] = missing
    given = [labels, pd.Series(labels)]
    weight, groups = np.linspace(1, 2, 150), np.arange(150) // 2
    for each in given:
        fitted = MetaClassifier("infogain", "remembered", size=2, folds=2, random_state=0)
        fitted.fit(X, each, sample_weight=weight, groups=groups)
        assert fitted.classes_.tolist() == ["a", "b", "c"]
    present = np.arange(150) % 3 > 0
    apart = clone(fitted).fit(
        X[present],
        labels[present].astype(str),
        X_unlabelled=X[~present],
        sample_weight=weight[present],
        groups=groups[present],
    )
    np.testing.assert_allclose(apart.predict_proba(X), fitted.predict_proba(X))


def test_rows_of_no_weight_are_left_out():
    X, y = load_iris(return_X_y=True)
    weight = np.ones(150)
    weight[100:] = 0
    fitted = MetaClassifier("infogain", "logistic", size=2, random_state=0)
    assert fitted.fit(X, y, sample_weight=weight).classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="holds a negative"):
        fitted.fit(X, y, sample_weight=-weight)


def test_groups_and_weights_reach_the_problem(monkeypatch):
    from metafs.estimator import base

    seen = []
    original = base.prepare

    def noting(problem, *arguments, **more):
        seen.append(problem)
        return original(problem, *arguments, **more)

    monkeypatch.setattr(base, "prepare", noting)
    X, y = load_iris(return_X_y=True)
    names = np.array([f"patient {i // 5}" for i in range(150)])
    MetaClassifier("infogain", "logistic", folds=2).fit(
        X, y, groups=names, sample_weight=np.arange(1, 151)
    )
    (problem,) = seen
    assert len(np.unique(problem.groups)) == 30 and problem.groups.dtype == np.int64
    assert problem.sample_weight[0] == 1.0


def test_any_object_of_scikit_learn_and_sparse_rows():
    X, y = load_iris(return_X_y=True)
    learner = GradientBoostingClassifier(n_estimators=5, random_state=0)
    fitted = MetaClassifier(SelectKBest(k=2), learner, folds=2).fit(X, y)
    assert fitted.pipeline_ == {
        "selector": "SelectKBest", "size": 2, "learner": "GradientBoostingClassifier"
    }  # fmt: skip
    assert fitted.leaderboard_ == [(fitted.pipeline_, fitted.score_)]
    sparse = MetaClassifier(learner="logistic", folds=2).fit(csr_matrix(X), y)
    assert (sparse.predict(csr_matrix(X)) == sparse.predict(X)).all()


def test_clone_and_pickle():
    X, y = load_iris(return_X_y=True)
    fitted = MetaClassifier("infogain", "kernel-svm", size=2, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert len(pickle.dumps(fitted)) < 60_000, "the rows are not kept"


def frame_of(related, number, n_samples=60):
    problem = related(number, n_samples)
    labels = np.array(problem.classes)[problem.y]
    return pd.DataFrame(problem.X, columns=problem.feature_names), labels


def test_it_remembers_and_is_remembered(related, db):
    settings = {"db": db, "folds": 2, "random_state": 0}
    for number in range(2):
        MetaClassifier(name=f"problem {number}", **settings).fit(*frame_of(related, number))
    (found,) = solve(related(2), db=db, selector="auto", folds=2)
    assert {name for name, _ in found.neighbours} == {"problem 0", "problem 1"}
    fitted = MetaClassifier(name="next", **settings).fit(*frame_of(related, 1, 40))
    assert {name for name, _ in fitted.neighbours_} == {"problem 0", "problem 1", "problem 2"}
    assert set(fitted.memory_) == {"strength", "gain", "reason"}
    selector = MetaSelector(db=db, name="other", random_state=0).fit(*frame_of(related, 3))
    assert "next" in {name for name, _ in selector.neighbours_}
    assert MetaDB(db).check() == []


def test_the_same_fit_is_recorded_once(related, db):
    for _ in range(2):
        MetaClassifier("infogain", "logistic", db=db, name="p").fit(*frame_of(related, 0))
    MetaClassifier("fisher", "logistic", db=db, name="p").fit(*frame_of(related, 0))
    assert len(MetaDB(db).runs().rows) == 2
    assert MetaDB(db).check() == []


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_folds_of_a_cross_validation_leave_one_problem_and_learn_nothing_of_each_other(
    related, db, n_jobs
):
    X, y = frame_of(related, 0, 90)
    model = MetaClassifier("auto", "logistic", db=db, name="crossed", folds=2, random_state=0)
    found = cross_validate(
        model, X, y, cv=3, return_estimator=True, error_score="raise", n_jobs=n_jobs
    )
    assert found["test_score"].mean() > 0.8
    assert all(each.neighbours_ == [] and each.memory_ is None for each in found["estimator"])
    assert [row[2] for row in MetaDB(db).problems().rows] == ["crossed"]
    assert MetaDB(db).check() == []
    alone = clone(model).set_params(db=None).fit(X, y)
    after = clone(model).fit(X, y)
    assert after.leaderboard_ == alone.leaderboard_, "trials of the same name have no say"


def remembered(db):
    return sorted(MetaDB(db).problems().only(["name", "n_samples"]).rows)


def test_memory_keeps_the_fit_with_the_most_rows_and_none_without_a_name(related, db):
    model = MetaClassifier("infogain", "logistic", db=db, name="p", folds=2)
    for n_samples in (60, 90, 40):
        clone(model).fit(*frame_of(related, 0, n_samples))
        clone(model).set_params(name=None).fit(*frame_of(related, 1, n_samples))
    assert remembered(db) == [("p", 90)]
    assert MetaDB(db).find_problem("p")["source"] == "fit of p"
    clone(model).fit(*frame_of(related, 0, 90))
    assert len(MetaDB(db).runs().rows) == 1, "the same fit again"
    MetaSelector("infogain", db=db, name="p").fit(*frame_of(related, 0, 120))
    assert remembered(db) == [("p", 120)]
    assert MetaDB(db).check() == []


def test_a_fit_leaves_what_a_stream_solved_under_its_name(related, db):
    list(solve(related(0, 60), db=db, selector="infogain", folds=2))
    for n_samples in (60, 90):
        fitted = MetaClassifier("infogain", "logistic", db=db, name="problem 0", folds=2)
        fitted.fit(*frame_of(related, 0, n_samples))
        assert fitted.neighbours_ == []
    assert remembered(db) == [("problem 0", 60), ("problem 0", 90)]
    assert MetaDB(db).check() == []


def test_rows_of_a_group_are_never_divided(monkeypatch):
    from metafs.pipeline.fitting import scoring

    seen = []
    original = scoring.model_on

    def noting(problem, columns, learner, rows=slice(None), *arguments):
        seen.append((problem.groups, rows))
        return original(problem, columns, learner, rows, *arguments)

    monkeypatch.setattr(scoring, "model_on", noting)
    X, y = load_iris(return_X_y=True)
    groups = np.arange(150) % 30
    MetaClassifier("infogain", "logistic", size=2, folds=3).fit(X, y, groups=groups)
    assert seen
    for codes, rows in seen:
        inside = set(codes[rows].tolist())
        assert len(inside) < 30 and np.isin(codes, list(inside)).sum() == len(rows)
