import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification, make_regression
from sklearn.feature_selection import RFE, SelectKBest, SelectorMixin, VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import validate_data

from metafs.data.problem import Problem
from metafs.errors import UsageError
from metafs.pipeline.engines.opening import open_engine
from metafs.pipeline.fitting.selection import Selection
from metafs.stability import (
    Resampling,
    Stability,
    jaccard,
    jensen_shannon,
    kuncheva,
    resampling,
    stability_of,
)
from metafs.stability.resampling import tied_ranks
from metafs_climb import Climb
from metafs_filters import FisherSelector
from metafs_metadb import MetaDB, MetaDBError


def easy(n_samples=80, n_features=12):
    return make_classification(
        n_samples, n_features, n_informative=3, n_redundant=0, shuffle=False, random_state=0
    )


def same(one: Stability, other: Stability) -> bool:
    return (
        (one.jensen_shannon, one.jaccard, one.kuncheva)
        == (other.jensen_shannon, other.jaccard, other.kuncheva)
        and np.array_equal(one.rankings, other.rankings)
        and np.array_equal(one.share_selected, other.share_selected)
    )


class Chance(SelectorMixin, BaseEstimator):
    """Select at random, whatever the data."""

    def __init__(self, random_state=None, k=4):
        self.random_state = random_state
        self.k = k

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        rng = np.random.default_rng(self.random_state)
        self.scores_ = rng.random(X.shape[1])
        return self

    def _get_support_mask(self):
        return self.scores_ >= np.sort(self.scores_)[-self.k]


class Echo(SelectorMixin, BaseEstimator):
    """Select nothing in particular, but remember the rows."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        Echo.seen.append((X[:, 0].astype(int), y))
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self):
        return np.ones(self.n_features_in_, bool)


def test_a_selector_that_ignores_the_rows_is_stable_and_one_of_chance_is_not():
    X, y = easy()
    never_changes = stability_of(VarianceThreshold(), X, y, random_state=0)
    assert (never_changes.jaccard, never_changes.kuncheva) == (1, 1)
    random = stability_of(Chance(), X, y, n_resamples=200, random_state=0)
    assert abs(random.kuncheva) < 0.05
    assert random.jensen_shannon < 0.05
    assert random.rankings.shape == (200, 12)
    np.testing.assert_allclose(random.share_selected, 1 / 3, atol=0.12)


def test_the_figures_are_those_of_the_selections():
    X, y = easy()
    found = stability_of(FisherSelector(3), X, y, n_resamples=7, random_state=1)
    selected = found.rankings <= 3
    assert found.jaccard == jaccard(selected)
    assert found.kuncheva == kuncheva(selected)
    assert found.jensen_shannon == jensen_shannon(found.rankings)
    np.testing.assert_allclose(found.share_selected, selected.mean(axis=0))
    five = stability_of(FisherSelector(3), X, y, n_resamples=7, random_state=1, top=5)
    assert five.jensen_shannon == jensen_shannon(found.rankings, 5)
    assert five.kuncheva == kuncheva(found.rankings <= 5)
    assert five.share_selected.sum() == pytest.approx(5)


def test_the_same_seed_gives_the_same_answer_for_any_number_of_jobs():
    X, y = easy()
    for selector in (Chance(), Climb(max_evaluations=50), FisherSelector()):
        one = stability_of(selector, X, y, n_resamples=4, random_state=3)
        assert same(one, stability_of(selector, X, y, n_resamples=4, random_state=3))
        assert same(one, stability_of(selector, X, y, n_resamples=4, random_state=3, n_jobs=2))
    other = stability_of(Chance(), X, y, n_resamples=4, random_state=4)
    assert not same(stability_of(Chance(), X, y, n_resamples=4, random_state=3), other)
    generator = np.random.RandomState(3)
    assert same(one, stability_of(selector, X, y, n_resamples=4, random_state=generator))


def test_a_seed_of_the_selectors_own_is_kept():
    X, y = easy()
    assert stability_of(Chance(random_state=1), X, y, random_state=0).jensen_shannon == 1


def test_any_selector_and_any_form_of_table():
    X, y = easy()
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(12)])
    words = np.array(["no", "yes"])[y]
    dense = stability_of(SelectKBest(k=3), X, y, random_state=0, n_resamples=5)
    for table, target in ((csr_array(X), y), (frame, words), (X.tolist(), y.tolist())):
        again = stability_of(SelectKBest(k=3), table, target, random_state=0, n_resamples=5)
        assert again.jensen_shannon == pytest.approx(dense.jensen_shannon)
    problem = Problem.of(frame, words)
    assert same(dense, stability_of(SelectKBest(k=3), problem, random_state=0, n_resamples=5))
    rfe = RFE(LogisticRegression(), n_features_to_select=3)
    found = stability_of(rfe, X, y, random_state=0, n_resamples=3, top=3)
    assert found.share_selected.sum() == pytest.approx(3)


def test_by_name_with_parameters():
    X, y = easy()
    named = stability_of("fisher", X, y, params={"n_features_to_select": 3}, random_state=0)
    assert same(named, stability_of(FisherSelector(3), X, y, random_state=0))
    given = stability_of(FisherSelector(), X, y, params={"n_features_to_select": 3}, random_state=0)
    assert same(named, given)
    with pytest.raises(UsageError, match="no selector named 'fish': did you mean fisher"):
        stability_of("fish", X, y)
    with pytest.raises(UsageError, match=r"refuses its parameters.*Got -1"):
        stability_of(SelectKBest(k=-1), X, y)
    with pytest.raises(UsageError, match="has no parameter 'nope'"):
        stability_of("fisher", X, y, params={"nope": 1})


def test_rows_are_drawn_of_every_class_alike():
    y = np.repeat([0, 1, 2], [60, 30, 1])
    problem = Problem.of(np.arange(91.0)[:, None], y)
    rng = np.random.default_rng(0)
    rows = Resampling(0.5).rows(problem, rng)
    assert np.bincount(y[rows]).tolist() == [30, 15, 1]
    assert len(set(rows)) == len(rows)
    twice = Resampling(1.0, bootstrap=True).rows(problem, rng)
    assert np.bincount(y[twice]).tolist() == [60, 30, 1]
    assert len(set(twice)) < len(twice)
    assert Resampling(1.0).rows(problem, rng).tolist() == list(range(91))


def test_each_selection_sees_other_rows_with_their_own_targets(monkeypatch):
    Echo.seen.clear()  # which holds what this process has seen
    monkeypatch.setattr(resampling, "open_engine", lambda jobs: open_engine("inline"))
    X = np.arange(40.0)[:, None]
    stability_of(Echo(), X, X[:, 0] ** 2, n_resamples=5, share=0.5, random_state=0)
    assert len(Echo.seen) == 5
    assert all(len(rows) == 20 and np.array_equal(rows**2, y) for rows, y in Echo.seen)
    assert len({tuple(rows) for rows, _ in Echo.seen}) == 5


def test_a_numeric_target_and_categories():
    X, y = make_regression(60, 6, n_informative=2, random_state=0)
    assert stability_of("infogain", X, y, random_state=0, n_resamples=4).jensen_shannon > 0.3
    rng = np.random.default_rng(0)
    letters = rng.integers(0, 8, (90, 3))
    frame = pd.DataFrame(np.array(list("abcdefgh"))[letters], columns=["u", "v", "w"])
    found = stability_of("infogain", frame, letters[:, 0] % 2, random_state=0, top=1)
    assert found.share_selected.tolist() == [1, 0, 0]


def test_what_a_selector_does_not_tell_apart_is_equal():
    selected = np.array([True, False, True, False])
    only_chosen = Selection(selected, selected.astype(float), np.array([1, 3, 2, 4]))
    assert tied_ranks(only_chosen).tolist() == [1, 3, 1, 3]
    scores = np.array([0.5, np.nan, 0.5, np.nan])
    assert tied_ranks(Selection(selected, scores, np.array([2, 3, 1, 4]))).tolist() == [1, 3, 1, 3]
    unlike = Selection(~selected, np.full(4, 0.5), np.array([3, 1, 4, 2]))
    assert tied_ranks(unlike).tolist() == [3, 1, 3, 1]
    clear = Selection(selected, np.array([4.0, 1.0, 3.0, 2.0]), np.array([1, 4, 2, 3]))
    assert tied_ranks(clear).tolist() == [1, 4, 2, 3]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_resamples": 1}, "n_resamples must be at least 2"),
        ({"n_resamples": 2.5}, "n_resamples must be at least 2"),
        ({"share": 0}, "share must be above 0"),
        ({"share": "half"}, "share must be above 0"),
        ({"share": 1.1}, "share must be above 0 and at most 1"),
        ({"top": 0}, "top must lie between 1 and 12"),
        ({"top": 1.5}, "top must lie between 1 and 12"),
        ({"top": 13}, "top must lie between 1 and 12"),
        ({"n_jobs": -3}, "jobs must be at least 1"),
    ],
)
def test_wrong_arguments_are_reported_in_a_sentence(wrong, message):
    with pytest.raises(UsageError, match=message):
        stability_of(FisherSelector(), *easy(), **wrong)


def test_nothing_is_recorded_unless_asked_for_and_every_measurement_is_a_row(db, related):
    problem = related(1)
    stability_of("fisher", problem, n_resamples=3, random_state=5)
    assert not db.exists()
    options = {"n_resamples": 3, "random_state": 5, "top": 2, "bootstrap": True, "share": 0.8}
    for where in (db, MetaDB(db)):
        found = stability_of("fisher", problem, db=where, **options)
    columns, rows = MetaDB(db).sql(
        "select s.*, p.name, p.space from stability s join problem p using (problem_id)"
    )
    first, second = (dict(zip(columns, row, strict=True)) for row in rows)
    assert (first["stability_id"], second["stability_id"]) == (1, 2)
    expected = {
        "name": "problem 1",
        "selector": "fisher",
        "n_resamples": 3,
        "share": 0.8,
        "bootstrap": True,
        "top": 2,
        "seed": 5,
        "jensen_shannon": found.jensen_shannon,
        "by_chance": found.by_chance,
        "jaccard": found.jaccard,
        "kuncheva": found.kuncheva,
    }
    assert expected.items() <= second.items()
    assert '"n_bins": 4' in second["params"]
    stability_of(SelectKBest(k=2), problem, db=db, n_resamples=2)
    columns, rows = MetaDB(db).sql("select selector, seed from stability where stability_id = 3")
    assert list(rows) == [("SelectKBest", None)]
    assert MetaDB(db).check() == []


def test_a_file_that_cannot_be_written_is_reported_before_the_work(tmp_path):
    Echo.seen.clear()
    with pytest.raises(MetaDBError, match="is a folder"):
        stability_of(Echo(), *easy(), db=tmp_path)
    assert Echo.seen == []


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000))
def test_more_rows_in_common_more_stable(seed):
    X, y = easy(60)
    much = stability_of("fisher", X, y, share=0.95, n_resamples=15, random_state=seed)
    little = stability_of("fisher", X, y, share=0.2, n_resamples=15, random_state=seed)
    assert much.jensen_shannon > little.jensen_shannon
