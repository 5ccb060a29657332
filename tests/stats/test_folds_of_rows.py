"""Folds of rows that are not independent: groups stay whole, and tests are later."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from metafs.data.problem import Problem
from metafs.errors import NoScore
from metafs.stats.folds import folds, folds_of, n_independent

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def grouped(draw, *, numbers=None):
    """Return a target and groups of 4 to 60 rows."""
    n = draw(st.integers(4, 60))
    n_groups = draw(st.integers(2, 20))
    groups = np.array(draw(st.lists(st.integers(0, n_groups), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), dtype=np.int64)
    of_numbers = draw(st.booleans()) if numbers is None else numbers
    return (y.astype(np.float64) if of_numbers else y), groups


def cut(*args, **options):
    """Return folds; discard examples that have none."""
    try:
        return folds_of(*args, **options)
    except NoScore:
        assume(False)


@given(grouped(), st.integers(2, 6), SEEDS)
def test_no_group_is_on_both_sides_and_every_row_is_tested_once(data, n_folds, seed):
    y, groups = data
    found = cut(y, n_folds, seed, groups=groups)
    assert 2 <= len(found) <= n_folds
    for train, test in found:
        assert not set(groups[train]) & set(groups[test])
        assert len(train) + len(test) == len(y)
        if y.dtype.kind != "f":
            assert set(y[train]) == set(y[test]) == set(y)
    assert sorted(np.concatenate([test for _, test in found]).tolist()) == list(range(len(y)))


@given(grouped(), SEEDS, st.randoms())
def test_folds_of_groups_depend_on_the_seed_alone_and_not_on_the_order_of_rows(data, seed, random):
    y, groups = data
    found = cut(y, 3, seed, groups=groups)
    again = folds_of(y, 3, seed, groups=groups)
    for one, other in zip(found, again, strict=True):
        np.testing.assert_array_equal(one[1], other[1])
    order = np.array(random.sample(range(len(y)), len(y)))
    elsewhere = folds_of(y[order], 3, seed, groups=groups[order])
    tested = [sorted(set(groups[test])) for _, test in found]
    assert tested == [sorted(set(groups[order][test])) for _, test in elsewhere]


@given(
    grouped(),
    st.lists(st.integers(0, 30), min_size=60, max_size=60),
    st.integers(2, 6),
    st.booleans(),
)
def test_each_fold_is_tested_on_later_rows_than_it_learns_from(data, moments, n_folds, both):
    y, groups = data
    time = np.array(moments[: len(y)], dtype=np.float64)
    found = cut(y, n_folds, 0, time=time, groups=groups if both else None)
    assert 2 <= len(found) <= n_folds
    for train, test in found:
        assert time[train].max() < time[test].min()
        assert len(train) >= 2 and len(test) >= 2
        if both:
            assert not set(groups[train]) & set(groups[test])
    for (earlier, tested), (later, _) in pairwise(found):
        if not both:  # the window expands by what was tested
            assert set(later) == set(earlier) | set(tested)


@given(grouped(numbers=False), SEEDS)
def test_a_group_for_each_row_divides_rows_into_as_many_folds_as_without_groups(data, seed):
    y, _ = data
    assume(np.unique(y, return_counts=True)[1].min() >= 2 and len(np.unique(y)) > 1)
    alone = folds_of(y, 4, seed, groups=np.arange(len(y)))
    assert len(alone) <= len(folds_of(y, 4, seed))


def test_seeds_divide_groups_of_numbers_differently():
    groups, y = np.repeat(np.arange(12), 3), np.arange(36.0)
    found = {str([test.tolist() for _, test in folds_of(y, 3, s, groups=groups)]) for s in range(9)}
    assert len(found) > 1


@pytest.mark.parametrize(
    ("y", "of_rows", "said"),
    [
        ([0, 0, 1, 1], {"groups": [0, 1, 2, 2]}, "class '1' is in 1 group"),
        ([0.5, 1.0, 2.0], {"groups": [4, 4, 4]}, "all rows are of one group"),
        ([0, 1, 0, 1, 0, 1], {"time": [1, 1, 1, 2, 2, 2]}, "2 different times"),
        ([0, 1] * 3, {"time": [1] * 6}, "1 different time,"),
        ([0, 0, 0, 0, 0, 1, 1, 1], {"time": range(8)}, "class '1' is missing from the training"),
        ([0.5, 1.0, 2.0], {"time": [1, 2, 3]}, "3 rows are too few"),
        ([0, 1, 0, 1, 0, 1], {"time": range(6), "groups": [0, 1] * 3}, "fewer than 2 rows"),
    ],
)
def test_rows_that_cannot_be_divided_are_refused_by_a_sentence(y, of_rows, said):
    given_rows = {name: np.array(values) for name, values in of_rows.items()}
    with pytest.raises(NoScore, match=said):
        folds_of(np.array(y), 5, 0, **given_rows)


def test_a_problem_brings_its_groups_to_its_folds():
    problem = Problem.of(np.eye(8), [0, 1] * 4, groups=list("aabbccdd"))
    for train, test in folds(problem, 4, 0):
        assert not set(problem.groups[train]) & set(problem.groups[test])


def test_rows_are_worth_their_groups_and_unequal_weights_less():
    X, y = np.eye(6), [0, 1] * 3
    assert n_independent(Problem.of(X, y)) == 6
    assert n_independent(Problem.of(X, y, groups=list("aaabbc"))) == 3
    assert n_independent(Problem.of(X, y, sample_weight=[2.0] * 6)) == pytest.approx(6)
    assert n_independent(Problem.of(X, y, sample_weight=[1e-9] * 5 + [1])) == pytest.approx(1)
    both = Problem.of(X, y, groups=list("aabbcc"), sample_weight=[1.0, 1, 2, 2, 1, 1])
    assert n_independent(both) == pytest.approx(16 / 6)
