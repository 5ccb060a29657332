from itertools import combinations
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from metafs.errors import UsageError
from metafs.stability import (
    jaccard,
    jensen_shannon,
    jensen_shannon_by_chance,
    jensen_shannon_of_sets,
    kuncheva,
    rank_weights,
)


def slow_jensen_shannon(rankings, k):
    """The definition, feature by feature, for rankings without ties."""
    n_features = len(rankings[0])
    q = [
        [
            (1 + sum(1 / i for i in range(rank, k + 1))) / (2 * k) if rank <= k else 0.0
            for rank in ranking
        ]
        for ranking in rankings
    ]
    mean = [sum(column) / len(q) for column in zip(*q, strict=True)]

    def divergence(p, other):
        return sum(a * log(a / b) for a, b in zip(p, other, strict=True) if a > 0)

    between = sum(divergence(p, mean) for p in q) / len(q)
    random = divergence(q[0], [1 / n_features] * n_features)
    return 1 - between / random


def slow_kuncheva(sets, n_features):
    """The mean over pairs, for sets of one size."""
    k = len(sets[0])
    pairs = [
        (len(a & b) * n_features - k * k) / (k * (n_features - k)) for a, b in combinations(sets, 2)
    ]
    return sum(pairs) / len(pairs)


def slow_jaccard(sets):
    pairs = [len(a & b) / len(a | b) if a | b else 1.0 for a, b in combinations(sets, 2)]
    return sum(pairs) / len(pairs)


def as_sets(selected):
    return [set(np.flatnonzero(row).tolist()) for row in selected]


permutations = st.integers(2, 9).flatmap(
    lambda n: st.lists(st.permutations(range(1, n + 1)), min_size=2, max_size=6)
)
sets = st.tuples(st.integers(2, 6), st.integers(1, 9)).flatmap(lambda shape: arrays(bool, shape))


@given(permutations, st.data())
def test_jensen_shannon_is_the_definition(rankings, data):
    k = data.draw(st.integers(1, len(rankings[0])))
    assert jensen_shannon(rankings, k) == pytest.approx(slow_jensen_shannon(rankings, k), abs=1e-9)
    if k == len(rankings[0]):
        assert jensen_shannon(rankings) == jensen_shannon(rankings, k)


@given(sets)
def test_jaccard_is_the_definition(selected):
    assert jaccard(selected) == pytest.approx(slow_jaccard(as_sets(selected)))


@given(permutations, st.data())
def test_kuncheva_is_the_definition_for_sets_of_one_size(rankings, data):
    n_features = len(rankings[0])
    k = data.draw(st.integers(1, n_features - 1))
    selected = np.array(rankings) <= k
    expected = slow_kuncheva(as_sets(selected), n_features)
    assert kuncheva(selected) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("n_rankings", "n_features", "k"), [(2, 60, 60), (5, 40, 6), (20, 90, 3)])
def test_by_chance_is_the_index_of_random_rankings(n_rankings, n_features, k):
    rng = np.random.default_rng(1)
    draws = [[rng.permutation(n_features) + 1 for _ in range(n_rankings)] for _ in range(40)]
    mean = np.mean([slow_jensen_shannon(rankings, k) for rankings in draws])
    assert jensen_shannon_by_chance(n_rankings, n_features, k) == pytest.approx(mean, abs=0.03)


@given(sets)
def test_jensen_shannon_of_sets_is_that_of_features_tied_for_the_first_places(selected):
    sizes = selected.sum(axis=1)
    if len(set(sizes)) == 1 and sizes[0] > 0:
        tied = np.where(selected, 1, 2)
        expected = jensen_shannon(tied, int(sizes[0]))
        assert jensen_shannon_of_sets(selected) == pytest.approx(expected)


@given(permutations, sets, st.randoms())
def test_the_order_of_runs_and_features_does_not_matter(rankings, selected, random):
    for index, table in (
        (jensen_shannon, np.array(rankings)),
        (jensen_shannon_of_sets, selected),
        (jaccard, selected),
        (kuncheva, selected),
    ):
        rows, columns = list(range(len(table))), list(range(table.shape[1]))
        random.shuffle(rows)
        random.shuffle(columns)
        assert index(table[rows][:, columns]) == pytest.approx(index(table), abs=1e-12)


@given(permutations, sets)
def test_all_lie_in_their_range_and_only_equals_reach_1(rankings, selected):
    assert 0 <= jensen_shannon(rankings) <= 1
    assert 0 <= jensen_shannon_of_sets(selected) <= 1
    assert 0 <= jaccard(selected) <= 1
    assert -1 / (len(selected) - 1) - 1e-9 <= kuncheva(selected) <= 1
    assert (jensen_shannon(rankings) == 1) == (len(set(map(tuple, rankings))) == 1)
    same = len(np.unique(selected, axis=0)) == 1
    assert (jaccard(selected) == 1) == same
    if same:
        assert kuncheva(selected) == jensen_shannon_of_sets(selected) == 1


def test_random_rankings_and_sets_are_about_0():
    rng = np.random.default_rng(0)
    rankings = np.argsort(rng.random((2000, 30)), axis=1) + 1
    for k in (3, 10, 30):
        assert jensen_shannon(rankings, k) < 0.01
        assert jensen_shannon_by_chance(*rankings.shape, k) < 0.01
    assert jensen_shannon_of_sets(rankings <= 5) < 0.01
    assert abs(kuncheva(rankings <= 5)) < 0.01
    assert abs(kuncheva(rng.random((2000, 30)) < 0.3)) < 0.01
    assert jaccard(rankings <= 15) == pytest.approx(1 / 3, abs=0.02)


def test_a_change_at_the_top_counts_more_than_one_at_the_bottom():
    ranks = np.arange(1, 11)
    indices = []
    for place in range(9):
        changed = ranks.copy()
        changed[[place, place + 1]] = changed[[place + 1, place]]
        indices.append(jensen_shannon([ranks, changed]))
    assert np.all(np.diff(indices) > 0)


def test_the_weights_are_a_distribution():
    for k in (1, 2, 7, 1000):
        assert rank_weights(k).sum() == pytest.approx(1)
        assert np.all(np.diff(rank_weights(k)) < 0)
    np.testing.assert_allclose(rank_weights(3), [(1 + 11 / 6) / 6, (1 + 5 / 6) / 6, (4 / 3) / 6])


def test_equal_ranks_share_their_weights():
    tied = jensen_shannon([[1, 1, 3], [1, 1, 3]])
    assert tied == 1
    q = np.array([[1 / 3, 1 / 3, 1 / 3], rank_weights(3)])
    mean = q.mean(axis=0)
    expected = 1 - np.sum(q * np.log(q / mean)) / np.sum(q * np.log(q * 3))
    assert jensen_shannon([[1, 1, 1], [1, 2, 3]]) == pytest.approx(expected)
    assert jensen_shannon([[1, 1, 1], [1, 1, 1]]) == 1


def test_where_nothing_can_differ_the_index_is_1():
    assert jensen_shannon([[1], [1]]) == 1
    for everything in (np.ones((3, 4), bool), np.zeros((3, 4), bool)):
        assert jaccard(everything) == kuncheva(everything) == 1
        assert jensen_shannon_of_sets(everything) == 1


def test_wrong_tables_are_refused():
    for index in (jensen_shannon, jensen_shannon_of_sets, jaccard, kuncheva):
        for wrong in ([[1, 2]], [1, 2], [], [[1, 0], [1]]):
            with pytest.raises(UsageError, match="at least two"):
                index(wrong)
    for index in (jensen_shannon_of_sets, jaccard, kuncheva):
        with pytest.raises(UsageError, match="a row of True and False"):
            index([[0, 4], [1, 4]])
    for k in (0, 3, 1.5):
        with pytest.raises(UsageError, match=f"the first {k} of 2 features"):
            jensen_shannon([[1, 2], [2, 1]], k)


# --- stability_of -------------------------------------------------------------------------------
