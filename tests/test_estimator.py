"""MetaSelector as a scikit-learn estimator, with and without memory."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from metafs import MetaSelector, solve
from metafs.errors import UsageError
from metafs_metadb import MetaDB

EQUIVALENCE = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
WARNING = ("check_sample_weights_shape", "check_sample_weights_not_overwritten")


def not_kept(estimator):
    """Return the laws of weights that a selector breaks which takes none."""
    if estimator.selector == "fisher":
        return {}
    broken = dict.fromkeys(EQUIVALENCE, f"{estimator.selector} takes no weights")
    if estimator.selector != "climb":
        broken |= dict.fromkeys(WARNING, "SelectKBest warns of features constant in a class")
    return broken


@parametrize_with_checks(
    [MetaSelector(), MetaSelector("fisher"), MetaSelector(SelectKBest(k=1))],
    expected_failed_checks=not_kept,
)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


@pytest.fixture
def frame(related):
    """Return a problem's table as a data frame, and its target."""
    pandas = pytest.importorskip("pandas")

    def make(number, n_samples=60):
        problem = related(number, n_samples)
        labels = np.array(problem.classes)[problem.y]
        return pandas.DataFrame(problem.X, columns=problem.feature_names), labels

    return make


def test_it_is_an_ordinary_selector_without_a_db(frame, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = frame(0)
    fitted = MetaSelector(random_state=0).fit(X, y)
    assert fitted.neighbours_ == []
    assert fitted.prior_ is None
    assert fitted.n_evaluations_ > 0
    assert list(tmp_path.iterdir()) == []


def test_it_remembers_across_calls_when_given_a_db(frame, db):
    for number in range(3):
        fitted = MetaSelector(db=db, name=f"problem {number}", random_state=0).fit(*frame(number))
    assert {name for name, _ in fitted.neighbours_} == {"problem 0", "problem 1"}
    assert fitted.prior_.contributions(int(np.argmax(fitted.prior_.expected)))
    assert len(MetaDB(db).problems().rows) == 3
    assert MetaDB(db).check() == []
    MetaSelector(db=db, name="problem 2", random_state=0).fit(*frame(2))
    assert len(MetaDB(db).runs().rows) == 3, "the same fit is not recorded twice"


def test_what_it_recorded_helps_the_command_and_the_other_way_round(frame, related, db):
    from metafs import solve

    MetaSelector(db=db, name="fitted", random_state=0).fit(*frame(0))
    (results,) = solve(related(1), db=db, budget=100, folds=2, selector="climb")
    assert [name for name, _ in results.neighbours] == ["fitted"]
    fitted = MetaSelector(db=db, name="next", random_state=0).fit(*frame(2))
    assert {name for name, _ in fitted.neighbours_} == {"fitted", "problem 1"}


def test_folds_of_one_problem_do_not_learn_from_each_other(frame, db):
    X, y = frame(0, n_samples=90)
    pipeline = make_pipeline(
        MetaSelector(db=db, name="crossed", random_state=0), LogisticRegression()
    )
    found = cross_validate(pipeline, X, y, cv=3, return_estimator=True, error_score="raise")
    assert found["test_score"].mean() > 0.8
    assert all(each[0].neighbours_ == [] for each in found["estimator"])
    assert len(MetaDB(db).problems().rows) == 1
    pipeline.fit(X, y)
    assert MetaDB(db).problems().column("n_samples") == [90], "the final fit takes the fold's place"
    assert MetaDB(db).check() == []


def test_folds_fitted_side_by_side_leave_one_problem(frame, db):
    X, y = frame(0, n_samples=90)
    selector = MetaSelector("infogain", db=db, name="crossed")
    MetaSelector("infogain", db=db, name="other").fit(*frame(1))
    cross_validate(make_pipeline(selector, LogisticRegression()), X, y, cv=5, n_jobs=2)
    assert MetaDB(db).problems().column("name") == ["other", "crossed"]
    assert MetaDB(db).check() == []


def test_a_fit_leaves_what_was_solved_under_its_name(frame, related, db):
    from metafs import solve

    list(solve(related(0), db=db, selector="infogain", folds=2))
    MetaSelector("infogain", db=db, name="problem 0").fit(*frame(0, n_samples=90))
    assert MetaDB(db).problems().column("n_samples") == [60, 90]


def test_columns_without_names_leave_one_problem_for_a_name(frame, db):
    X, y = frame(0, n_samples=90)
    for n in (50, 40, 60):
        MetaSelector("infogain", db=db, name="bare").fit(X.to_numpy()[:n], y[:n])
    assert MetaDB(db).problems().column("n_samples") == [60]


def test_fits_without_a_name_recall_and_are_not_remembered(frame, db):
    MetaSelector(db=db, name="named", random_state=0).fit(*frame(2))
    for number in range(2):
        fitted = MetaSelector(db=db, random_state=0).fit(*frame(number))
    assert [name for name, _ in fitted.neighbours_] == ["named"]
    assert MetaDB(db).problems().column("name") == ["named"]


def test_it_fits_into_a_pipeline_with_names(frame):
    X, y = frame(0)
    selector = MetaSelector(random_state=0).set_output(transform="pandas")
    pipeline = make_pipeline(selector, LogisticRegression()).fit(X, y)
    chosen = pipeline[:-1].transform(X)
    assert list(chosen.columns) == list(pipeline[0].get_feature_names_out())
    assert set(chosen.columns) < set(X.columns)


def test_clone_and_pickle(frame, db):
    X, y = frame(0)
    fitted = MetaSelector(db=db, name="one", random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.get_support(), fitted.get_support())
    assert clone(fitted).get_params() == fitted.get_params()


def test_a_registry_given_by_hand_survives_cloning(frame):
    from metafs import Registry

    X, y = frame(0)
    model = make_pipeline(MetaSelector(registry=Registry(), random_state=0), LogisticRegression())
    assert cross_validate(model, X, y, cv=2, error_score="raise")["test_score"].mean() > 0.7
    pickle.loads(pickle.dumps(model.fit(X, y)))


def test_columns_are_kept_by_name_and_by_position(frame):
    X, y = frame(0)
    named = MetaSelector("infogain", params={"n_features_to_select": 1}, keep=["w11"]).fit(X, y)
    placed = MetaSelector("infogain", params={"n_features_to_select": 1}, keep=[11])
    assert named.get_support()[11]
    assert placed.fit(X.to_numpy(), y).get_support().sum() == named.get_support().sum() == 2
    with pytest.raises(UsageError, match="no column 'nope' to keep"):
        MetaSelector(keep=["nope"]).fit(X, y)


def test_a_wrong_parameter_is_refused_before_anything_is_remembered(frame, db):
    X, y = frame(0)
    selector = MetaSelector("relieff", params={"n_neighbors": 0}, db=db, name="wrong")
    with pytest.raises(UsageError, match="n_neighbors must be at least 1, not 0"):
        make_pipeline(selector, LogisticRegression()).fit(X, y)
    assert not db.exists()


def test_any_selector_object_will_do(frame, db):
    X, y = frame(0)
    theirs = SelectKBest(f_classif, k=3)
    fitted = MetaSelector(theirs, db=db, name="theirs").fit(X, y)
    np.testing.assert_array_equal(fitted.get_support(), clone(theirs).fit(X, y).get_support())
    assert MetaDB(db).runs().rows[0][MetaDB(db).runs().columns.index("selector")] == "SelectKBest"


def test_a_prior_given_by_hand_is_used(frame):
    X, y = frame(0)
    expected = np.zeros(X.shape[1])
    expected[:2] = 0.9
    fitted = MetaSelector(random_state=0, max_evaluations=1).fit(X, y, prior=expected)
    assert fitted.get_support()[:2].all()


def mixed_frame(n=60):
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], n)
    y = np.where((colour == "red") ^ (rng.random(n) < 0.05), "yes", "no")
    frame = pd.DataFrame(
        {
            "colour": colour,
            "gap": np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
            "when": pd.date_range("2020-01-01", periods=n),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n)),
            "flag": rng.random(n) < 0.5,
            "empty": np.full(n, np.nan),
        }
    )
    return frame, y


@pytest.mark.parametrize("selector", ["climb", "fisher", "svm-rfe", SelectKBest(k=2)])
@pytest.mark.parametrize("remembering", [False, True])
@pytest.mark.filterwarnings("ignore:Features .* are constant")
@pytest.mark.filterwarnings("ignore:invalid value encountered in divide")
def test_text_categories_dates_and_gaps_are_taken(tmp_path, selector, remembering):
    frame, y = mixed_frame()
    db = tmp_path / "m.duckdb" if remembering else None
    fitted = MetaSelector(selector, db=db, name="mixed").fit(frame, y)
    chosen = fitted.get_feature_names_out().tolist()
    assert "colour" in chosen
    assert fitted.transform(frame).shape == (60, len(chosen))
    assert fitted.set_output(transform="pandas").transform(frame).columns.tolist() == chosen
    unlabelled = frame.assign(colour="violet")[:5]
    again = MetaSelector(selector, name="mixed").fit(frame, y, X_unlabelled=unlabelled)
    assert again.get_feature_names_out().tolist() == chosen


def test_text_in_arrays_and_lists_is_taken():
    frame, y = mixed_frame()
    rows = frame[["colour", "gap"]].to_numpy(dtype=object)
    for X in (rows, rows.tolist(), rows[:, :1].astype(str)):
        assert MetaSelector("climb").fit(X, y).get_support()[0]


def test_solve_takes_data_frames(tmp_path):
    frame, y = mixed_frame()
    frame = frame.assign(y=y, z=np.arange(60.0))
    options = {"db": tmp_path / "m.duckdb", "folds": 2, "budget": 50, "drop": "when"}
    (results,) = solve(frame, target="y", **options)
    assert (results.problem, results.status) == ("frame", "solved")
    assert "colour" in results.features and "when" not in results.features
    empty, *suspicious = results.notes
    assert empty == "left out 1 column without any value: 'empty'"
    assert [note.split()[1] for note in suspicious] == ["'colour'", "'z'"]  # a leak, an identifier
    both = list(solve([frame, pl.from_pandas(frame)], target=["y", "z"], **options))
    assert [each.problem for each in both] == ["frame 1:y", "frame 1:z", "frame 2:y", "frame 2:z"]
    assert [each.status for each in both] == ["solved", "solved", "skipped", "skipped"]
    for wrong in ({"target": "yy"}, {"target": "y", "keep": "w"}, {}):
        with pytest.raises(UsageError, match=r"did you mean 'y'|'w' \(to keep\)|say with target"):
            solve(frame, db=None, **wrong)
