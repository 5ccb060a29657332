"""Row hashes: who shares rows is told, whatever the storage, the columns' order or the target."""

import numpy as np
from scipy.sparse import csr_array

from metafs.data.problem import Problem
from metafs.data.row_hashes import ONE_APART_IN, SKETCH, row_hashes, rows_apart, sketch

NAMES = tuple(f"w{j}" for j in range(20))


def words(n, seed, names=NAMES):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.7, (n, 20)).astype(float)
    return Problem.of(X, np.arange(n) % 2, feature_names=names)


def test_shared_rows_are_found_in_any_storage_and_order_of_columns():
    one = words(300, 0)
    turned = Problem.of(
        csr_array(one.X[100:, ::-1]), one.y[100:] + 5, feature_names=one.feature_names[::-1]
    )
    assert len(row_hashes(one)) == 300
    assert len(np.intersect1d(row_hashes(one), row_hashes(turned))) == 200
    assert len(np.intersect1d(row_hashes(one), row_hashes(words(300, 1)))) == 0
    shared = np.intersect1d(sketch(row_hashes(one)), sketch(row_hashes(turned)))
    assert SKETCH // 3 < len(shared) < SKETCH


def test_every_problem_sets_the_same_rows_apart():
    one = words(300, 0)
    turned = Problem.of(
        csr_array(one.X[100:, ::-1]), one.y[100:] + 5, feature_names=one.feature_names[::-1]
    )
    apart = rows_apart(one)
    np.testing.assert_array_equal(rows_apart(turned), apart[100:])
    assert abs(apart.mean() - 1 / ONE_APART_IN) < 0.1


def test_no_rows_are_set_apart_where_others_tell_of_them():
    one = words(50, 0)
    grouped = Problem.of(one.X, one.y, feature_names=NAMES, groups=np.arange(50) // 2)
    assert rows_apart(grouped) is None
    X = np.random.default_rng(0).integers(0, 2, (200, 3))
    assert rows_apart(Problem.of(X, X[:, 0])) is None


def test_other_names_are_other_rows():
    other = words(50, 0, tuple(f"v{j}" for j in range(20)))
    assert len(np.intersect1d(row_hashes(words(50, 0)), row_hashes(other))) == 0


def test_labels_count_by_their_text_and_missing_values_are_equal():
    frame = {"a": ["x", "y", None], "b": [1.0, None, 3.0]}
    import pandas as pd

    one = Problem.of(pd.DataFrame(frame), [0, 1, 0])
    two = Problem.of(pd.DataFrame({"a": ["y", "w", None], "b": [None, 2.0, 3.0]}), [0, 1, 0])
    assert len(np.intersect1d(row_hashes(one), row_hashes(two))) == 2


def test_tables_whose_rows_repeat_by_chance_have_no_hashes():
    X = np.random.default_rng(0).integers(0, 2, (200, 3))
    assert len(row_hashes(Problem.of(X, X[:, 0]))) == 0
