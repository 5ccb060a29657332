"""Columns are found by name in tables and by place in arrays."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from metafs.data.layout import Layout
from metafs.data.problem import Problem
from metafs.errors import ProblemError

FRAME = pd.DataFrame(
    {
        "weight": [1.0, 2.0, np.nan, 4.0],
        "empty": [None] * 4,
        "colour": ["red", "blue", "red", None],
        "seen": pd.to_datetime(["2024-01-01", "2024-01-02", None, "2024-01-04"]),
        "smokes": [True, False, True, False],
    }
)


@pytest.fixture
def layout():
    problem = Problem.of(FRAME, ["a", "b", "a", "b"]).by_name()
    return problem, Layout.of(problem, range(problem.n_features))


def test_the_first_rows_are_read_again_whatever_the_order_and_library(layout):
    problem, layout = layout
    more = FRAME.assign(other=1)[["smokes", "other", "seen", "colour", "empty", "weight"]]
    for frame in (FRAME, more, pl.from_pandas(more.drop(columns="empty"))):
        np.testing.assert_array_equal(layout.rows(frame, "there"), problem.X)


def test_a_bare_array_has_the_columns_as_they_were_given(layout):
    problem, layout = layout
    np.testing.assert_array_equal(layout.rows(FRAME.to_numpy(dtype=object), "there"), problem.X)
    with pytest.raises(ProblemError, match="the rows have 4 columns, but the model learnt from 5"):
        layout.rows(FRAME.to_numpy(dtype=object)[:, :4], "there")


def test_names_that_sort_otherwise_than_they_were_given():
    X = np.arange(48.0).reshape(4, 12)
    problem = Problem.of(X, [0, 1, 0, 1], space="s").by_name()
    assert problem.feature_names[2] == "x10"
    layout = Layout.of(problem, [2, 3])
    assert layout.rows(X, "there")[0].tolist() == [10.0, 11.0]
    assert layout.rows(csr_array(X), "there").toarray()[0].tolist() == [10.0, 11.0]


def test_missing_and_renamed_columns_are_named(layout):
    _, layout = layout
    with pytest.raises(ProblemError) as raised:
        layout.rows(FRAME.rename(columns={"weight": "Weight ", "colour": "color"}), "new.csv")
    assert str(raised.value) == (
        "new.csv: lacks 2 columns that the model needs: 'colour', 'weight'; did you mean 'color' "
        "for 'colour', 'Weight ' for 'weight'? Rename them."
    )
    with pytest.raises(ProblemError, match="its columns are 'q'"):
        layout.rows(pd.DataFrame({"q": [1]}), "new.csv")
    with pytest.raises(ProblemError, match="'weight' occurs 2 times"):
        layout.rows(pd.concat([FRAME, FRAME[["weight"]]], axis=1), "new.csv")
