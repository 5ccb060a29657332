"""The note on rows that repeat: where it is due, and that ordinary data do not get it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets

from metafs.data.problem import Problem
from metafs.stats.repeated_rows import repeated_rows


def patients(noise, *, n=100, rows=20, d=10, seed=0):
    """Return rows of patients whose labels say nothing of them."""
    rng = np.random.default_rng(seed)
    who = rng.permutation(np.repeat(np.arange(n), rows))
    X = rng.normal(size=(n, d))[who] + noise * rng.normal(size=(n * rows, d))
    return X, rng.permutation(np.arange(n) % 2)[who], who


@pytest.mark.parametrize(
    ("noise", "said"), [(0.0, "100 % of the rows equal"), (0.02, "nearly equal"), (0.1, "nearly")]
)
def test_rows_of_patients_are_seen_in_any_order(noise, said):
    X, y, who = patients(noise)
    assert said in repeated_rows(Problem.of(X, y))
    assert "--groups" in repeated_rows(Problem.of(X, y))
    assert repeated_rows(Problem.of(X, y, groups=who)) is None


@pytest.mark.parametrize("d", [5, 8, 30])
@pytest.mark.parametrize("rows", [2, 5, 20])
def test_rows_of_patients_are_seen_with_few_columns_and_many(d, rows):
    X, y, _ = patients(0.02, n=800 // rows, rows=rows, d=d, seed=1)
    assert "nearly equal" in repeated_rows(Problem.of(X, y))


def test_a_number_that_repeats_with_its_rows_is_seen_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 6)), rng.normal(size=40)
    again = np.repeat(np.arange(40), 5)
    near = X[again] + 0.01 * rng.normal(size=(200, 6))
    assert "nearly equal" in repeated_rows(Problem.of(near, y[again]))
    assert repeated_rows(Problem.of(near, rng.normal(size=200))) is None  # targets differ


@pytest.mark.parametrize(
    "name", ["patient_id", "PatientID", "subject#", "user", "Customer No", "household.id", "id"]
)
def test_a_column_called_like_an_id_is_named(name):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.repeat(np.arange(20), 5), rng.normal(size=(100, 3))])
    problem = Problem.of(X, rng.integers(0, 2, 100), feature_names=[name, "p", "q", "r"])
    assert f"give --groups {name}" in repeated_rows(problem)


@pytest.mark.parametrize("name", ["idle", "acid", "width", "user_age_years", "patients", "humid"])
def test_other_names_are_no_ids(name):
    rng = np.random.default_rng(0)
    X = np.column_stack([np.repeat(np.arange(20), 5), rng.normal(size=(100, 3))])
    problem = Problem.of(X, rng.integers(0, 2, 100), feature_names=[name, "p", "q", "r"])
    assert repeated_rows(problem) is None


def test_an_id_that_differs_in_every_row_groups_nothing():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(100), rng.normal(size=(100, 3))])
    names = ["patient_id", "p", "q", "r"]
    assert repeated_rows(Problem.of(X, rng.integers(0, 2, 100), feature_names=names)) is None


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_ordinary_tables_get_no_note(name):
    table = getattr(datasets, f"load_{name}")()
    names = [str(feature) for feature in table.feature_names]
    assert repeated_rows(Problem.of(table.data, table.target, feature_names=names)) is None


@given(
    n=st.integers(20, 300),
    d=st.integers(1, 12),
    n_values=st.sampled_from([2, 3, 6, 20, None]),
    seed=st.integers(0, 10**6),
)
@settings(max_examples=60, deadline=None)
def test_independent_rows_get_no_note(n, d, n_values, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) if n_values is None else rng.integers(0, n_values, (n, d))
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)  # so that near rows have equal targets
    y[:2] = 0, 1
    assert repeated_rows(Problem.of(X.astype(float), y, leave_out="nothing")) is None
