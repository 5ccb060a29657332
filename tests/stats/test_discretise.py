from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.sparse import csr_array, random_array

import metafs.stats.value_runs
from metafs.data.columns import number_text
from metafs.data.problem import Problem
from metafs.errors import UsageError
from metafs.stats import discretise as module
from metafs.stats.discretise import codes_kept, codes_of, discretise, discretise_target


def slow_labels(column, n_bins, categories=None):
    """The label of every row, straight from the rules."""
    known = [v for v in column if not np.isnan(v)]
    counts = Counter(known)
    if categories is not None:
        ranked = sorted(counts, key=lambda v: (-counts[v], v))
        kept = ranked if len(ranked) <= 16 else ranked[:15]
        label = {v: f"={categories[int(v)]}" if v in kept else "other" for v in counts}
    elif len(counts) <= n_bins:
        label = {v: number_text(v) for v in counts}
    else:
        label = {}
        zero_apart = counts[0.0] * n_bins >= len(column)
        if zero_apart:
            label[0.0] = "0"
        rest = sorted(v for v in counts if v not in label)
        quantiles = n_bins - zero_apart
        total, before = sum(counts[v] for v in rest), 0
        for v in rest:
            label[v] = f"q{(2 * before + counts[v]) * quantiles // (2 * total) + 1}"
            before += counts[v]
    return ["missing" if np.isnan(v) else label[v] for v in column]


def decoded(codes):
    dense = codes.matrix.toarray()
    return [[codes.labels[j][c] for c in dense[:, j].tolist()] for j in range(dense.shape[1])]


values = st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.0, -1.0, 2.5, 7.0, 1e20, np.nan])
matrices = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=15), elements=values)


@settings(max_examples=300, deadline=None)
@given(matrices, st.integers(2, 5), st.sampled_from([1, 20, 1000]))
def test_dense_and_sparse_follow_the_rules(X, n_bins, block):
    normal = metafs.stats.value_runs._BLOCK
    metafs.stats.value_runs._BLOCK = block
    try:
        dense, sparse = discretise(X, n_bins=n_bins), discretise(csr_array(X), n_bins=n_bins)
    finally:
        metafs.stats.value_runs._BLOCK = normal
    assert decoded(dense) == [slow_labels(column, n_bins) for column in X.T]
    assert dense.labels == sparse.labels
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(dense.matrix, part), getattr(sparse.matrix, part))
    assert dense.matrix.has_canonical_format and np.all(dense.matrix.data > 0)
    for column in dense.matrix.toarray().T:
        counts = np.bincount(column)
        assert counts[0] == counts.max() and counts.min() > 0


@settings(max_examples=100, deadline=None)
@given(
    arrays(
        np.float64, (60, 2), elements=st.sampled_from([*map(float, [*range(20), 0, 0, 1]), np.nan])
    )
)
def test_categories_keep_their_names_and_rare_ones_share_other(X):
    names = tuple(f"c{i:02}" for i in range(20))
    for matrix in (X, csr_array(X)):
        codes = discretise(matrix, categories={1: names})
        assert decoded(codes)[1] == slow_labels(X[:, 1], 4, names)
        assert decoded(codes)[0] == slow_labels(X[:, 0], 4)
        assert len(set(codes.labels[1]) - {"missing"}) <= 16


def test_a_category_is_never_taken_for_a_number_or_a_bin():
    names = ("0", "missing", "other", "q1")
    X = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan]])
    (labels,) = discretise(X, categories={0: names}).labels
    assert labels == ("=0", "=missing", "=other", "=q1", "missing")


def test_long_and_short_columns_are_binned_alike():
    X = np.random.default_rng(0).normal(size=(2000, 3)).round(1)
    X[::7, 1] = np.nan
    together = discretise(X).matrix.toarray()
    assert decoded(discretise(X)) == [slow_labels(column, 4) for column in X.T]
    narrow = discretise(np.hstack([X, np.zeros((2000, 20))])).matrix.toarray()
    np.testing.assert_array_equal(together, narrow[:, :3])


def test_codes_of_sparse_data_stay_sparse():
    X = random_array((500, 400), density=0.02, random_state=np.random.default_rng(1), format="csr")
    codes = discretise(X)
    assert codes.matrix.nnz == X.nnz and codes.matrix.dtype == np.uint8


def test_explicit_zeros_and_the_input_are_left_alone():
    X = csr_array((np.array([0.0, 3.0, 3.0]), np.array([0, 1, 0]), np.array([0, 2, 3, 3])))
    codes = discretise(X)
    assert codes.labels == (("0", "3"), ("0", "3"))
    assert X.nnz == 3 and codes.matrix.nnz == 2


def test_too_few_bins_is_a_sentence():
    with pytest.raises(UsageError, match="from 2 to 250"):
        discretise(np.zeros((2, 2)), n_bins=1)


def test_an_integer_target_keeps_its_classes_and_numbers_are_binned():
    assert discretise_target(np.arange(30)).max() == 29
    assert discretise_target(np.array([1.0, 3.0, 3.0])).tolist() == [0, 1, 1]
    assert np.bincount(discretise_target(np.arange(12.0))).tolist() == [3, 3, 3, 3]
    assert np.bincount(discretise_target(np.arange(40.0))).tolist() == [10, 10, 10, 10]
    halves = discretise_target(np.array([0.5] * 7 + [1.5, 2.5, 3.5, 4.5]))
    assert len(set(halves[:7].tolist())) == 1 and halves.max() == len(set(halves.tolist())) - 1


def test_the_table_of_a_problem_is_discretised_once_and_no_other_is_mistaken_for_it(monkeypatch):
    rng = np.random.default_rng(0)
    problem = Problem.of(rng.normal(size=(30, 4)), ["a", "b"] * 15)
    computed = []
    original = module._discretise
    monkeypatch.setattr(module, "_discretise", lambda *a: computed.append(a) or original(*a))
    with codes_kept(problem):
        first, again = discretise(problem.X), discretise(problem.X.view())
        assert again is first and len(computed) == 1
        assert codes_of(problem, [2, 0]).toarray().tolist() == (
            first.matrix[:, [2, 0]].toarray().tolist()
        )
        assert len(computed) == 1
        assert discretise(problem.X, n_bins=3) is not first
        assert discretise(problem.X[:, ::-1]).labels == first.labels[::-1]
        assert discretise(problem.X.copy()) is not first
        assert len(computed) == 4
    assert discretise(problem.X) is not first
    assert len(computed) == 5
    with codes_kept(problem):
        assert discretise(problem.X) is first


def test_codes_of_sparse_columns_are_those_of_the_whole_table():
    X = random_array((40, 30), density=0.2, rng=np.random.default_rng(1), format="csr")
    problem = Problem.of(X, ["a", "b"] * 20)
    apart = codes_of(problem, [5, 3]).toarray()
    with codes_kept(problem):
        discretise(problem.X)
        np.testing.assert_array_equal(codes_of(problem, [5, 3]).toarray(), apart)
