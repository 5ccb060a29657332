"""Distances: the paper's worked example, and a count of everything written out."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from metafs.data.problem import Problem
from metafs.memory.memory import Memory
from metafs.memory.projection import Described
from metafs.plugin.registry import Registry
from metafs.plugin.signature import MAX_KEYS
from metafs_distances import JsdFeatures, JsdLabelled, JsdRows
from metafs_metadb import MetaDB, RunRow, SelectionRows, SqlSearch

WORDS = ("word1", "word2")
D1 = Problem.of([[0, 0], [0, 1], [0, 0], [1, 0]], [1, 1, 1, 0], feature_names=WORDS, name="D1")
D2 = Problem.of([[1, 1], [1, 1], [1, 0], [0, 0]], [1, 1, 1, 0], feature_names=WORDS, name="D2")
D3 = Problem.of([[1, 1], [0, 1], [1, 0], [0, 0]], [1, 1, 1, 0], feature_names=WORDS, name="D3")

TABLES = arrays(np.int64, (8, 3), elements=st.integers(0, 2)).map(lambda X: X.astype(float))
CLASSES = arrays(np.int64, 8, elements=st.integers(0, 1)).filter(lambda y: len(set(y)) == 2)


def problem(X, y, names=("a", "b", "c")):
    return Problem.of(X, y, feature_names=names)


def divergence(P, Q):
    """Jensen-Shannon divergence of two counters, from its definition."""
    total_p, total_q = sum(P.values()), sum(Q.values())
    total = 0.0
    for key in P.keys() | Q.keys():
        p, q = P[key] / total_p, Q[key] / total_q
        m = (p + q) / 2
        total += sum(0.5 * x * np.log2(x / m) for x in (p, q) if x > 0)
    return max(total, 0.0)  # rounding may leave less than nothing of equal ones


def distance(jsd, a, b):
    return jsd.distance(jsd.signature(a), jsd.signature(b))


def test_the_papers_worked_example_by_the_plugin():
    assert distance(JsdRows(), D1, D2) == 1.0
    assert round(distance(JsdRows(), D2, D3), 4) == 0.3945


@pytest.mark.parametrize("stream_length", [1, 100], ids=["sql", "index"])
def test_the_papers_worked_example_by_the_metadb(tmp_path, stream_length):
    from datetime import datetime

    jsd = JsdRows()
    memory = Memory(MetaDB(tmp_path / "m.duckdb"), jsd, stream_length)
    run = RunRow("climb", "none", datetime(2026, 1, 1), "0", distance="jsd-rows")
    for each in (D1, D3):
        memory.record(
            each,
            run,
            Described("jsd-rows", jsd.signature(each)),
            selections=SelectionRows(),
            candidates=(),
            neighbours=(),
        )
    found = memory.near.recall(D2, Described("jsd-rows", jsd.signature(D2)), k=5)
    assert [(each.name, round(each.distance, 4)) for each in found] == [("D3", 0.3945)]
    assert isinstance(memory.near._search("jsd-rows", "default"), SqlSearch) == (stream_length == 1)


@given(TABLES, CLASSES, TABLES, CLASSES)
def test_rows_agree_with_counting_rows(X1, y1, X2, y2):
    counts = [
        Counter((*map(float, row), int(c)) for row, c in zip(X, y, strict=True))
        for X, y in ((X1, y1), (X2, y2))
    ]
    expected = np.sqrt(divergence(*counts))
    assert distance(JsdRows(), problem(X1, y1), problem(X2, y2)) == pytest.approx(
        expected, abs=2e-6
    )


def test_all_rows_count_and_the_target_is_a_bit():
    rng = np.random.default_rng(0)
    X = (rng.random((2000, 12)) < 0.5).astype(float)
    y = X[:, 0].astype(int)
    names = tuple("abcdefghijkl")
    one = problem(X[:1500], np.array(["no", "yes"])[y[:1500]], names)
    two = problem(X[500:], np.array(["a", "b"])[y[500:]], names)
    counts = [
        Counter((*map(float, row), int(c)) for row, c in zip(X[part], y[part], strict=True))
        for part in (slice(1500), slice(500, None))
    ]
    assert min(map(len, counts)) > MAX_KEYS
    found = distance(Registry().distances["jsd-all-rows"], one, two)
    assert found == pytest.approx(np.sqrt(divergence(*counts)), abs=2e-6)
    assert distance(JsdRows(), one, two) == 1.0, "classes go by name there"
    cut = distance(JsdRows(named_classes=False), one, two)
    assert found < cut < 1.0, "a cut never makes problems nearer"


def chi_square_by_value(X, y):
    """The part of each present value in the chi-square statistic, times the share of its class."""
    mass = Counter()
    for j, value in product(range(3), np.unique(X[X != 0]).tolist()):
        has = X[:, j] == value
        if has.any():
            for c in (0, 1):
                expected = has.sum() * np.mean(y == c)
                mass[j, value] += (np.sum(has & (y == c)) - expected) ** 2 / has.sum()
    return Counter({key: m for key, m in mass.items() if m > 1e-9})


@given(TABLES, CLASSES, TABLES, CLASSES)
def test_features_agree_with_the_statistic_of_present_values(X1, y1, X2, y2):
    masses = [chi_square_by_value(X1, y1), chi_square_by_value(X2, y2)]
    if all(masses):
        expected = np.sqrt(max(0.0, divergence(*masses)))  # rounding may leave less than 0
        found = distance(JsdFeatures(), problem(X1, y1), problem(X2, y2))
        assert found == pytest.approx(expected, abs=2e-6)


@given(TABLES, arrays(np.int64, 8, elements=st.integers(0, 2)), st.permutations("uvw"))
def test_what_classes_are_called_does_not_matter_to_features(X, y, names):
    if len(set(y.tolist())) > 1:
        one = JsdFeatures().signature(problem(X, np.array(["a", "b", "c"])[y]))
        other = JsdFeatures().signature(problem(X, np.array(names)[y]))
        np.testing.assert_array_equal(one.keys, other.keys)
        np.testing.assert_allclose(one.p, other.p, rtol=1e-12)


def test_what_matters_brings_problems_nearer_than_what_occurs():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 3)).astype(float)
    by_a, by_a_too, by_b = (
        problem(np.column_stack([rng.permutation(X[:, :2]), X[:, 2]])[:, order], X[:, 2])
        for order in ([2, 0, 1], [2, 1, 0], [0, 2, 1])
    )
    assert distance(JsdFeatures(), by_a, by_a_too) < distance(JsdFeatures(), by_a, by_b)


@given(TABLES, CLASSES, TABLES, CLASSES)
def test_labelled_features_agree_with_counting_present_values(X1, y1, X2, y2):
    counts = [
        Counter((j, X[i, j], int(y[i])) for i, j in product(range(8), range(3)) if X[i, j] != 0)
        for X, y in ((X1, y1), (X2, y2))
    ]
    if all(counts):
        expected = np.sqrt(divergence(*counts))
        found = distance(JsdLabelled(), problem(X1, y1), problem(X2, y2))
        assert found == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("jsd", [JsdRows(), JsdFeatures()], ids=["rows", "features"])
@given(X=TABLES, y=CLASSES)
def test_neither_column_order_nor_storage_matters(jsd, X, y):
    one = jsd.signature(problem(X, y))
    turned = jsd.signature(problem(X[:, ::-1], y, names=("c", "b", "a")))
    sparse = jsd.signature(problem(csr_array(X), y))
    for other in (turned, sparse):
        np.testing.assert_array_equal(one.keys, other.keys)
        np.testing.assert_allclose(one.p, other.p)


def test_a_shared_class_brings_problems_nearer():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 3)).astype(float)
    y = np.repeat(["x", "y"], 20)
    shared = distance(JsdLabelled(), problem(X, y), problem(X, np.where(y == "y", "z", y)))
    none = distance(JsdLabelled(), problem(X, y), problem(X, np.where(y == "y", "z", "w")))
    assert shared < none == 1.0


def test_a_projection_looks_at_its_features_only():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    noisy = np.column_stack([X, np.arange(4.0)])
    y = [0, 1, 0, 1]
    plain, wide = problem(X, y, ("a", "b")), problem(noisy, y, ("a", "b", "noise"))
    assert distance(JsdRows(), plain, wide) > 0.5
    assert distance(JsdRows(features=("a", "b")), plain, wide) == 0.0


def test_a_table_of_zeros_and_a_numeric_target_can_be_described():
    zeros = Problem.of(np.zeros((6, 2)), [0, 1] * 3, feature_names=("a", "b"))
    numbers = Problem.of(
        np.arange(12.0).reshape(6, 2), [0.1, 0.2, 0.3, 1.5, 1.6, 1.7], feature_names=("a", "b")
    )
    for jsd, each in product((JsdRows(), JsdFeatures()), (zeros, numbers)):
        assert distance(jsd, each, each) == 0.0
