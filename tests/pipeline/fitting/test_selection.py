"""Reading what any selector found, ours or one of scikit-learn's making."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.feature_selection import RFE, SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression

from metafs.errors import UsageError
from metafs.pipeline.fitting.selection import check_parameters, configured, evaluations_to, select
from metafs.plugin.registry import Registry

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
X = RNG.normal(size=(40, 4))
X[:, 2] += 3 * Y


class Found(BaseEstimator):
    """A selector whose fitted attributes are given to it."""

    def __init__(self, **found):
        self.found = found

    def get_params(self, deep=True):
        return dict(self.found)

    def fit(self, X, y):
        vars(self).update({f"{name}_": value for name, value in self.found.items()})
        return self


def test_scores_and_ranking_are_read_from_whatever_there_is():
    support = np.array([True, False, False, True])
    chosen = select(Found(support=support), X, Y)
    assert chosen.scores.tolist() == [1, 0, 0, 1]
    assert set(chosen.ranking[support]) == {1, 2}, "the selected features come first"
    ranked = select(Found(support=support, ranking=[1, 3, 4, 2]), X, Y)
    assert ranked.scores.tolist() == [-1, -3, -4, -2] and ranked.ranking.tolist() == [1, 3, 4, 2]
    scored = select(Found(support=support, scores=[0.2, np.nan, 0.1, 0.9]), X, Y)
    assert scored.ranking.tolist() == [2, 4, 3, 1], "an unknown score ranks last"


def test_kept_columns_are_selected_whatever_the_selector_says():
    found = select(SelectKBest(f_classif, k=1), X, Y, keep=[0])
    assert found.selected.tolist() == [True, False, True, False]


def test_what_a_search_reports_is_kept_as_plain_values():
    found = select(
        Found(
            support=[True] * 4,
            n_evaluations=np.int64(7),
            fitness=np.float32(0.5),
            stopped="budget",
            candidates=[(np.int64(3), np.array([0, 2]), np.float64(0.25))],
        ),
        X,
        Y,
    )
    assert (found.n_evaluations, found.fitness, found.stopped) == (7, 0.5, "budget")
    assert found.candidates == ((3, (0, 2), 0.25),)
    assert type(found.n_evaluations) is int and type(found.candidates[0][1][0]) is int
    nothing = select(SelectKBest(k=2), X, Y)
    assert (nothing.n_evaluations, nothing.fitness, nothing.candidates) == (None, None, ())


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"support": [True] * 3}, "its support has shape"),
        ({"support": [True] * 4, "scores": [1.0]}, "its scores has shape"),
        ({"support": [True] * 4, "ranking": [1, 2]}, "its scores has shape"),
        ({"support": [True] * 4, "candidates": [(1, (4,), 0.5)]}, "a feature that does not exist"),
    ],
)
def test_an_answer_that_does_not_fit_the_table_is_refused(found, words):
    with pytest.raises(ValueError, match=words):
        select(Found(**found), X, Y)


def test_what_selects_nothing_is_no_selector():
    with pytest.raises(UsageError, match="LogisticRegression is not a selector"):
        select(LogisticRegression(), X, Y)


def test_the_selector_itself_is_left_unfitted():
    selector = RFE(LogisticRegression(), n_features_to_select=2)
    select(selector, X, Y)
    assert not hasattr(selector, "support_")


def test_configured_sets_what_a_selector_has_and_nothing_else():
    selector = SelectKBest(k=3)
    changed = configured(selector, {"k": 2, "random_state": 0})
    assert changed.k == 2 and selector.k == 3


@pytest.mark.parametrize("selector", [SelectKBest(k="many"), Registry().selectors["climb"]])
def test_wrong_parameters_are_refused_by_sklearns_rules_and_by_ours(selector):
    if not isinstance(selector, SelectKBest):
        check_parameters(selector, "it")
        selector = configured(selector, {"max_evaluations": 0})
    with pytest.raises(UsageError):
        check_parameters(selector, "it")


@given(
    st.lists(st.tuples(st.integers(1, 50), st.floats(0, 1)), max_size=8),
    st.floats(0, 1),
)
def test_evaluations_to_a_target_are_those_of_the_first_set_that_reaches_it(tried, target):
    candidates = [(step, (0,), fitness) for step, fitness in tried]
    found, reached = evaluations_to(target, candidates, 60)
    good = [step for step, fitness in tried if fitness >= target - 1e-12]
    assert reached == bool(good) and found == min(good, default=60)
