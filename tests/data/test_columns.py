"""The rule that turns a raw column into numbers, without a table around it."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metafs.data.columns import convert, number_text, text_number
from metafs.data.notes import COMMAS, MARKERS
from metafs.errors import ProblemError


def column(values, **options):
    raw = np.empty(len(values), dtype=object)
    raw[:] = values
    return convert(raw, name="c", where="t.csv", **options)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_written_as_text_are_the_numbers(values):
    texts = column([repr(value) for value in values])
    assert texts.labels is None
    np.testing.assert_array_equal(texts.values, values)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_equal_numbers_have_one_text_which_reads_back(value):
    assert text_number(number_text(value)) == value
    assert number_text(value) == number_text(value + 0.0)


def test_kinds_of_values_that_mean_the_same_are_the_same():
    expected = [1.0, 0.0, np.nan]
    for values in (
        [True, False, None],
        ["true", "False", ""],
        [Decimal("1"), Decimal("0"), float("nan")],
        [b"1", b"0", b"NA"],
        [np.float32(1), np.int8(0), "?"],
        [timedelta(seconds=1), timedelta(0), None],
    ):
        np.testing.assert_array_equal(column(values).values, expected)


def test_dates_are_seconds_in_every_form_and_a_zone_counts():
    seconds = datetime(2020, 1, 2, tzinfo=UTC).timestamp()
    moment = datetime(2020, 1, 2, 2, tzinfo=None)
    assert column([date(2020, 1, 2)]).values.tolist() == [seconds]
    assert column(["2020-01-02"]).values.tolist() == [seconds]
    assert column([moment]).values.tolist() == [seconds + 7200]
    assert column(["2020-01-02T02:00:00+02:00"]).values.tolist() == [seconds]
    raw = np.array(["2020-01-02", "NaT"], dtype="datetime64[D]")
    np.testing.assert_array_equal(convert(raw, name="c", where="t").values, [seconds, np.nan])


def test_labels_are_sorted_and_missing_ones_have_no_code():
    found = column(["red", "", "blue", None, "red"])
    assert found.labels == ("blue", "red")
    np.testing.assert_array_equal(found.values, [1, np.nan, 0, np.nan, 1])


def test_a_masked_value_is_missing_whatever_stands_under_the_mask():
    numbers = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    np.testing.assert_array_equal(convert(numbers, name="c", where="t").values, [1, np.nan])
    texts = np.ma.masked_array(np.array(["a", "b"], dtype=object), mask=[True, False])
    np.testing.assert_array_equal(convert(texts, name="c", where="t").values[0], np.nan)


@pytest.mark.parametrize(
    ("values", "numbers", "assumed"),
    [
        (["1,5", "2"], [1.5, 2.0], (COMMAS,)),
        (["1", "-", "3"], [1.0, np.nan, 3.0], (MARKERS,)),
        (["1,5", "unknown"], [1.5, np.nan], (MARKERS, COMMAS)),
        (["1", "n/a"], [1.0, np.nan], (MARKERS,)),
    ],
)
def test_what_is_assumed_is_noted(values, numbers, assumed):
    found = column(values)
    np.testing.assert_array_equal(found.values, numbers)
    assert found.assumed == assumed


def test_a_marker_among_labels_is_a_label():
    assert column(["a", "unknown", "-"]).labels == ("-", "a", "unknown")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["1", "2", "secret"], "'c' holds text in row 3"),
        (["1,234", "2,345"], "or a number with separators"),
        (["a\0b"], "has a NUL character in row 1"),
        ([[1], [2]], "holds lists or other nested values"),
        ([object()], "values of the kind 'object'"),
        ([1 + 2j], "values of the kind 'complex'"),
    ],
)
def test_what_cannot_be_a_column_is_refused_without_quoting_a_cell(values, words):
    with pytest.raises(ProblemError, match=words) as raised:
        column(values)
    assert str(raised.value).startswith("t.csv: ") and "secret" not in str(raised.value)


def test_text_among_numbers_makes_labels_of_a_target():
    assert column(["1", "2", "x"], mixed=True).labels == ("1", "2", "x")
