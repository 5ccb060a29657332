import pickle
from collections import Counter
from math import log2

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from metafs_climb import Climb
from metafs_filters import Fisher, FisherSelector, InfoGain, InfoGainSelector
from metafs_filters.hooks import metafs_measures, metafs_selectors
from metafs_filters.importance import ImportanceSelector

SELECTORS = [InfoGainSelector(), FisherSelector()]


@pytest.mark.parametrize("scale", [2.0**300, 2.0**900])
def test_importance_takes_numbers_beyond_those_of_its_trees(scale):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    plain = ImportanceSelector(2, n_trees=20).fit(X, X[:, 1] > 0)
    X[:, 1] *= scale
    scaled = ImportanceSelector(2, n_trees=20).fit(X, X[:, 1] > 0)
    assert scaled.get_support()[1] and plain.get_support()[1]


def slow_gain(column, y):
    n = len(y)
    both, values, classes = Counter(zip(column, y, strict=True)), Counter(column), Counter(y)
    return sum(c / n * log2(c * n / (values[v] * classes[k])) for (v, k), c in both.items())


def slow_fisher(column, y):
    between = within = 0.0
    for c in np.unique(y):
        x_c = column[y == c]
        between += len(x_c) * (x_c.mean() - column.mean()) ** 2
        within += len(x_c) * x_c.var()
    return between / within if within > 1e-20 else (0.0 if between < 1e-20 else 1 / 2**-52)


BINS = "bins of equal frequency are made of rows, whatever their weights"
EQUIVALENCE = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


@parametrize_with_checks(
    SELECTORS,
    expected_failed_checks=lambda selector: (
        dict.fromkeys(EQUIVALENCE, BINS) if isinstance(selector, InfoGainSelector) else {}
    ),
)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


tables = st.integers(2, 30).flatmap(
    lambda n: st.tuples(
        arrays(np.float64, (n, 4), elements=st.sampled_from([0.0, 0.0, 1.0, 0.1, -2.5])),
        arrays(np.int64, (n,), elements=st.integers(0, 2)),
    )
)


@settings(max_examples=150, deadline=None)
@given(tables)
def test_infogain_is_the_definition(table):
    X, y = table
    expected = [slow_gain(column.tolist(), y.tolist()) for column in X.T]
    np.testing.assert_allclose(InfoGain()(X, y), expected, atol=1e-12)
    np.testing.assert_array_equal(InfoGain()(X, y), InfoGain()(csr_array(X), y))


@settings(max_examples=150, deadline=None)
@given(tables)
def test_fisher_is_the_definition_dense_and_sparse(table):
    X, y = table
    expected = [slow_fisher(column, y) for column in X.T]
    np.testing.assert_allclose(Fisher()(X, y), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(Fisher()(csr_array(X), y), expected, rtol=1e-9, atol=1e-12)


def test_fisher_in_pieces_is_fisher_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(1e6, 1.0, size=(101, 7)), rng.integers(0, 3, 101)
    whole = Fisher()(X, y)
    monkeypatch.setattr("metafs_filters.fisher._ROWS", 50)
    np.testing.assert_allclose(Fisher()(X, y), whole)
    np.testing.assert_allclose(whole, [slow_fisher(column, y) for column in X.T], rtol=1e-6)


def test_fisher_puts_a_clean_split_first_and_a_constant_last():
    X = np.array([[0.1, 0.1, 0.0], [0.1, 0.1, 1.0], [0.1, 0.7, 2.0], [0.1, 0.7, 9.0]])
    selector = FisherSelector(1).fit(X, [0, 0, 1, 1])
    assert selector.ranking_.tolist() == [3, 1, 2]
    assert selector.scores_[0] == 0 and np.isfinite(selector.scores_).all()


def test_infogain_takes_missing_as_a_value_and_fisher_refuses_it():
    X = np.array([[np.nan, 1.0], [np.nan, 1.0], [1.0, 1.0], [1.0, 2.0]])
    np.testing.assert_allclose(InfoGain()(X, [0, 0, 1, 1])[0], 1.0)
    for fisher in (Fisher(), FisherSelector().fit):
        with pytest.raises(ValueError, match="NaN"):
            fisher(X, [0, 0, 1, 1])


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
def test_the_order_of_columns_the_form_of_the_table_and_pickling_change_nothing(selector):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, (50, 8)).astype(float), rng.choice(["a", "b"], 50)
    order = rng.permutation(8)
    scores = clone(selector).fit(X, y).scores_
    np.testing.assert_allclose(clone(selector).fit(X[:, order], y).scores_, scores[order])
    np.testing.assert_allclose(clone(selector).fit(csr_matrix(X), y).scores_, scores)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(8)])
    fitted = clone(selector).set_params(n_features_to_select=2).fit(frame, y)
    assert set(fitted.get_feature_names_out()) == {f"f{j}" for j in np.argsort(-scores)[:2]}
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).ranking_, fitted.ranking_)


def test_a_numeric_target_is_discretised():
    x = np.linspace(0, 1, 200)
    noise = np.random.default_rng(0).normal(size=200)
    for measure in (InfoGain(), Fisher()):
        scores = measure(np.column_stack([noise, x]), x**2)
        assert scores[1] > 3 * scores[0]
    assert InfoGain()(x[:, None], x)[0] == pytest.approx(2.0)


def test_the_package_offers_each_measure_twice_and_they_pickle():
    assert metafs_measures().keys() == {"infogain", "fisher"}
    assert metafs_selectors().keys() == {"infogain", "fisher", "importance", "shrunk"}
    for measure in metafs_measures().values():
        assert pickle.loads(pickle.dumps(measure)) == measure


def test_codes_of_categories_are_not_binned_as_amounts():
    """Seven categories, of which every second one goes with the class."""
    codes = np.arange(140) % 7
    X = np.column_stack([codes, np.random.default_rng(0).permutation(codes)]).astype(float)
    y = codes % 2
    with_categories = InfoGainSelector(categorical_features=[0, 1]).fit(X, y).scores_
    binned = InfoGainSelector().fit(X, y).scores_
    assert with_categories[0] > 0.98 > binned[0]
    climbed = Climb(categorical_features=[0, 1], random_state=0).fit(X, y)
    np.testing.assert_array_equal(climbed.get_support(), [True, False])
    assert climbed.fitness_ > Climb(random_state=0).fit(X, y).fitness_
