"""Every selector takes missing values and categories: what cannot is given numbers for them."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.feature_selection import RFE, SelectKBest, VarianceThreshold
from sklearn.linear_model import LogisticRegression

from metafs.data.problem import Problem
from metafs.pipeline.fitting.selection import configured, select
from metafs.pipeline.loop import solve
from metafs.plugin.registry import Registry
from metafs.stats.category_numbers import category_numbers

REGISTRY = Registry()


def table(seed=0, n=60):
    """Return a table with gaps, in which a category and a number tell the class, and the class."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, 5))
    X[:, 0] = np.where(rng.random(n) < 0.9, np.where(y, 3, rng.choice([0, 1, 2, 4], n)), 5)
    X[:, 1] += 2 * y
    X[rng.random((n, 5)) < 0.1] = np.nan
    return X, y


@pytest.mark.parametrize("name", sorted(REGISTRY.selectors))
def test_every_selector_takes_missing_values_and_categories(name):
    X, y = table()
    before = X.copy()
    selector = configured(REGISTRY.selectors[name], {"random_state": 0, "max_seconds": 2})
    results = select(selector, X, y, categorical=[0], meta_features=np.arange(5.0)[:, None])
    assert results.selected.any()
    assert np.array_equal(X, before, equal_nan=True)


@pytest.mark.parametrize(
    "selector", [SelectKBest(k=2), RFE(LogisticRegression(), n_features_to_select=2)]
)
def test_a_third_party_selector_finds_category_and_number(selector):
    X, y = table()
    assert select(selector, X, y, categorical=[0]).selected.tolist() == [True, True] + [False] * 3


def test_a_measure_that_takes_no_missing_values_is_given_others():
    X, y = table()
    climb = configured(REGISTRY.selectors["climb"], {"measure": REGISTRY.measures["margin"]})
    assert select(climb, X, y).selected.any()


class Remembers(BaseEstimator):
    """A selector that keeps what it was given."""

    def fit(self, X, y):
        Remembers.seen = X
        self.support_ = np.ones(X.shape[1], dtype=bool)
        return self


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_medians_are_those_of_the_rows_that_the_selector_sees(kind):
    X = np.array([[1.0], [3.0], [np.nan], [3.0], [5.0]])
    select(Remembers(), kind(X), np.array([0, 1, 0, 1, 0]))
    seen = Remembers.seen if kind is np.asarray else Remembers.seen.toarray()
    assert seen.ravel().tolist() == [1, 3, 3, 3, 5]


def test_a_selector_that_says_it_takes_missing_values_gets_them():
    X = np.array([[1.0, 0.0], [3.0, 0.0], [np.nan, 1.0], [3.0, 1.0]])
    assert select(VarianceThreshold(), X, np.array([0, 1, 0, 1])).selected.tolist() == [True, True]


def test_a_name_for_every_row_tells_nothing_and_a_useful_category_much():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    unique = category_numbers(np.arange(400.0), y)
    assert abs(np.corrcoef(unique, y)[0, 1]) < 0.1
    constant = category_numbers(np.zeros(400), y)
    assert abs(np.corrcoef(constant, y)[0, 1]) < 0.2 and constant.std() < 0.01
    noise = category_numbers(rng.integers(0, 100, 400).astype(float), y)
    assert abs(np.corrcoef(noise, y)[0, 1]) < 0.2
    useful = category_numbers(np.where(rng.random(400) < 0.9, y, np.nan), y)
    assert np.corrcoef(useful, y)[0, 1] > 0.9


def test_several_classes_and_numbers_have_their_numbers_too():
    rng = np.random.default_rng(2)
    kind = rng.integers(0, 3, 300)
    numbers = category_numbers(kind.astype(float), kind)
    assert len(np.unique(numbers.round(1))) >= 2
    amounts = category_numbers(kind.astype(float), kind * 10.0 + rng.normal(size=300) + 0.5)
    assert np.corrcoef(amounts, kind)[0, 1] > 0.99


def test_a_problem_with_gaps_and_text_is_solved_and_scored():
    X, y = table()
    rows = [["abcdef"[int(a)] if a == a else None, *rest] for a, *rest in X.tolist()]
    problem = Problem.of(np.array(rows, dtype=object), y, name="gaps")
    (results,) = solve(problem, db=None, folds=2, selector="fisher")
    assert (results.status, results.error) == ("solved", None)
    assert results.score > 0.7
