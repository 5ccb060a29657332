from collections import Counter
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

import metafs.stats.information
from metafs.stats.information import (
    SetInformation,
    entropy,
    group_rows,
    phi_table,
)
from metafs.stats.partition_counts import by_stored_codes


def slow_information(codes, y, features):
    """From the definition, counting whole rows."""
    n = len(y)
    rows = [tuple(row) for row in codes[:, list(features)].tolist()]
    both, alone, classes = Counter(zip(rows, y.tolist(), strict=True)), Counter(rows), Counter(y)
    return sum(c / n * log2(c * n / (alone[g] * classes[k])) for (g, k), c in both.items())


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, f = draw(st.integers(1, 60)), draw(st.integers(1, 9))
    codes = rng.integers(0, draw(st.integers(1, 6)), (n, f))
    codes *= rng.random((n, f)) < draw(st.sampled_from([0.05, 0.3, 1.0]))
    y = rng.integers(0, draw(st.integers(1, 4)), n)
    base = np.flatnonzero(rng.random(f) < draw(st.sampled_from([0.0, 0.3, 1.0])))
    d = draw(st.integers(0, min(f, 4)))
    h = draw(st.integers(0, 12))
    edits = np.array([rng.permutation(f)[:d] for _ in range(h)], dtype=np.int64)
    return codes.astype(np.uint8), y, base, edits.reshape(h, d)


@settings(max_examples=400, deadline=None)
@given(problems(), st.sampled_from([1, 100, 1_000_000]))
def test_all_neighbours_at_once_are_the_definition_one_by_one(problem, chunk):
    codes, y, base, edits = problem
    normal, metafs.stats.information._CHUNK = metafs.stats.information._CHUNK, chunk
    try:
        information = SetInformation(csc_array(codes), y)
        found = information.of_sets(base, edits)
    finally:
        metafs.stats.information._CHUNK = normal
    sets = [np.setxor1d(base, edit).astype(int) for edit in edits]
    expected = [slow_information(codes, y, features) for features in sets]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found, [information.of_set(s) for s in sets])
    np.testing.assert_array_equal(
        information.of_each(), [information.of_set([j]) for j in range(codes.shape[1])]
    )


def test_tables_and_sorting_count_alike(monkeypatch):
    rng = np.random.default_rng(5)
    information = SetInformation(csc_array(rng.integers(0, 3, (400, 12))), rng.integers(0, 3, 400))
    edits = np.arange(2, 12)[:, None]
    by_table = information.of_sets([0, 1], edits)

    def sorting_instead(phi, n_gy, key, n_patterns):
        return by_stored_codes(phi, n_gy, np.arange(len(n_gy)), key, n_patterns)

    monkeypatch.setattr(metafs.stats.information, "by_table", sorting_instead)
    np.testing.assert_array_equal(information.of_sets([0, 1], edits), by_table)


def test_edits_too_wide_for_one_number_are_evaluated_set_by_set():
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 20, (50, 40)).astype(np.uint8)
    y = rng.integers(0, 2, 50)
    edits = np.arange(40)[None]
    found = SetInformation(csc_array(codes), y).of_sets([3], edits)
    assert found[0] == pytest.approx(slow_information(codes, y, np.setxor1d([3], edits[0])))


def test_equal_partitions_have_equal_information_to_the_last_bit():
    rng = np.random.default_rng(7)
    column = rng.integers(0, 2, (999, 1))
    others = rng.integers(0, 2, (999, 3))
    information = SetInformation(
        csc_array(np.hstack([column, column, 2 * column, others])), others @ [1, 1, 2]
    )
    found = information.of_sets([3, 4], np.array([[0], [1], [2]]))
    assert found[0] == found[1] == found[2]


def test_groups_are_the_distinct_rows():
    codes = np.random.default_rng(8).integers(0, 3, (200, 6))
    features = np.array([0, 2, 3, 5])
    left_out = np.array([[False] * 4, [False, True, False, False], [True] * 4])
    groups, _ = group_rows(csc_array(codes), features, left_out)
    for found, gone in zip(groups, left_out, strict=True):
        rows = codes[:, features[~gone]]
        expected = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
        np.testing.assert_array_equal(found, expected)


def test_the_table_of_phi_is_accurate_and_cannot_overflow():
    for n in (0, 1, 2, 300, 20_000, 1_000_000):
        phi, scale = phi_table(n)
        counts = np.arange(n + 1)
        exact = counts * np.log2(np.maximum(counts, 1))
        np.testing.assert_allclose(phi / scale, exact, rtol=1e-15, atol=1 / scale)
        assert 0 <= phi[-1] <= 2**62


def test_entropy_of_small_cases():
    assert entropy(np.array([1, 1, 1, 1])) == 2.0
    assert entropy(np.array([5])) == entropy(np.array([])) == 0.0
