"""Folds: every row tested once, every class in all training and test rows, or a reason why not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metafs.errors import NoScore
from metafs.stats.folds import folds_of, require_every_class


@given(st.lists(st.integers(0, 3), max_size=40), st.integers(2, 7), st.integers(0, 5))
def test_every_class_is_learnt_and_tested_in_every_fold_or_there_are_none(labels, n_folds, seed):
    y = np.array(labels, dtype=np.int64)
    counts = np.unique(y, return_counts=True)[1]
    if len(counts) < 2 or counts.min() < 2:
        with pytest.raises(NoScore):
            folds_of(y, n_folds, seed)
        return
    found = folds_of(y, n_folds, seed)
    assert len(found) == min(n_folds, len(y) // 2, counts.min())
    for train, test in found:
        assert set(y[train]) == set(y[test]) == set(y)
    assert_each_row_is_tested_once(found, len(y))


@given(st.integers(4, 30), st.integers(2, 7))
def test_numbers_are_cut_into_folds_of_two_or_more(n_samples, n_folds):
    found = folds_of(np.arange(n_samples, dtype=float), n_folds, seed=0)
    assert len(found) == min(n_folds, n_samples // 2)
    assert min(len(test) for _, test in found) >= 2
    assert_each_row_is_tested_once(found, n_samples)


def assert_each_row_is_tested_once(found, n_samples):
    assert sorted(np.concatenate([test for _, test in found])) == list(range(n_samples))
    for train, test in found:
        assert sorted([*train, *test]) == list(range(n_samples))


def test_folds_of_any_origin_are_refused_where_a_class_is_missing():
    y = np.array([0, 0, 1, 1, 2, 2])
    first, second = np.array([0, 2, 4]), np.array([1, 3, 5])
    require_every_class(y, [(first, second), (second, first)])
    with pytest.raises(NoScore, match="'blue' is missing from the test rows"):
        require_every_class(y, [(first, second[:2])], classes=("red", "green", "blue"))
