"""New values of a column are read as the column was, whatever else they could mean."""

from datetime import date, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metafs.data.column_form import ColumnForm
from metafs.data.columns import convert
from metafs.data.notes import COMMAS
from metafs.errors import ProblemError


def raw(*values):
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def form_of(values, name="c"):
    column = convert(values, name=name, where="here")
    known = column.values[np.isfinite(column.values)]
    low, high = (None, None) if column.labels else (known.min(), known.max())
    return column, ColumnForm(name, column.labels, COMMAS in column.assumed, low, high)


@given(
    st.lists(st.one_of(st.none(), st.text(max_size=3), st.integers(-3, 3)), min_size=1), st.data()
)
def test_any_of_the_first_rows_are_read_as_they_were(values, data):
    try:
        column = convert(raw(*values), name="c", where="here")
    except ProblemError:
        return
    low, high = np.nanmin(np.append(column.values, np.inf)), np.nanmax(np.append(column.values, 0))
    form = ColumnForm("c", column.labels, COMMAS in column.assumed, low, high)
    rows = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=5))
    again = form.numbers(raw(*(values[row] for row in rows)), "there")
    expected = column.values[rows]
    np.testing.assert_array_equal(again, np.where(np.isinf(expected), np.nan, expected))


def test_labels_keep_their_codes():
    _, form = form_of(raw("red", "blue", "red", None))
    found = form.numbers(raw("red", "green", "", "n/a"), "there")
    np.testing.assert_array_equal(found, [1.0, 2.0, np.nan, np.nan])


def test_labels_that_are_numbers_are_known_by_their_number():
    _, form = form_of(raw("01", "02", "a", "b", "c"))
    np.testing.assert_array_equal(
        form.numbers(np.array([1.0, 2.0, np.nan]), "there"), [0, 1, np.nan]
    )
    assert form.numbers(np.array([7.0]), "there") == [5.0]


@pytest.mark.parametrize(
    "values",
    [
        raw("2024-05-01", "2024-05-02"),
        raw(date(2024, 5, 1), date(2024, 5, 2)),
        raw(datetime(2024, 5, 1), datetime(2024, 5, 2)),
        np.array(["2024-05-01", "2024-05-02"], dtype="datetime64[D]"),
        np.array([1714521600.0, 1714608000.0]),
    ],
)
def test_dates_in_any_form_are_the_same_numbers(values):
    _, form = form_of(raw("2024-05-01", "2023-01-01"))
    assert form.numbers(values, "there").tolist() == [1714521600.0, 1714608000.0]


@pytest.mark.parametrize(
    "values", [raw("true", "False"), raw(True, False), np.array([True, False])]
)
def test_truth_values_in_any_form_are_the_same_numbers(values):
    _, form = form_of(raw("true", "false", "true"))
    assert form.numbers(values, "there").tolist() == [1.0, 0.0]


def test_decimal_commas_are_known_even_where_they_could_separate_thousands():
    _, form = form_of(raw("1,5", "2,25", "3"))
    assert form.decimal_commas
    assert form.numbers(raw("1,500", "-", "4.5", "0,1"), "there").tolist()[0] == 1.5
    assert np.isnan(form.numbers(raw("-"), "there")).all()


@pytest.mark.parametrize(
    ("first", "later", "why"),
    [
        (raw(1.5, 2.5), raw("1", "lots"), "column 'c' holds text in row 2, but it held numbers"),
        (raw(1.5, 2.5), raw("1,500"), "column 'c' holds text in row 1, but it held numbers"),
        (raw(1.5, 2.5), raw("2024-05-01", None), "column 'c' holds dates, but it held numbers"),
        (raw(1.5, 2.5), np.array(["2024-05-01"], "datetime64[s]"), "holds dates"),
        (raw(1.5, 2.5), raw("true", "false"), "holds true and false, but it held numbers"),
        (raw("red", "blue"), np.array([1.0, 2.0]), "holds numbers, but it held categories"),
    ],
)
def test_another_kind_is_refused_without_quoting_a_cell(first, later, why):
    _, form = form_of(first)
    with pytest.raises(ProblemError) as raised:
        form.numbers(later, "there")
    assert why in str(raised.value)
    assert str(raised.value).startswith("there: ") and "lots" not in str(raised.value)


def test_a_form_survives_json():
    for form in (
        ColumnForm("a"),
        ColumnForm("b", ("x", "y")),
        ColumnForm("c", None, True, 0.0, 2.5),
    ):
        assert ColumnForm.of_json(form.as_json()) == form
