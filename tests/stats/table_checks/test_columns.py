"""Identifiers, free text, dates and amounts: where the checks fire, and where they do not."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metafs.data.problem import Problem
from metafs.stats.table_checks.checks import table_notes
from metafs.stats.table_checks.columns import dates_and_amounts, free_text, identifiers

N = 60
Y = np.arange(N) % 2


def problem(**columns):
    return Problem.of(pd.DataFrame(columns), Y)


@pytest.mark.parametrize(
    "values",
    [
        np.arange(N),
        np.arange(N)[::-1] + 1000,
        np.delete(np.arange(N + 3), [4, 20, 40]),  # three rows were left out
        [f"C-{j:04}" for j in range(N)],
        [f"Ms {j}" for j in range(N - 1)] + ["Ms 0"],  # one twice by mistake
        [float(j) if j else np.nan for j in range(N)],
    ],
    ids=["counted", "backwards", "gaps", "text", "one twice", "one missing"],
)
def test_an_identifier_is_noted(values):
    (note,) = identifiers(problem(a=Y, row=values))
    assert "column 'row' looks like an identifier" in note and "--drop row" in note


@pytest.mark.parametrize(
    "values",
    [
        np.arange(N) // 2,
        np.arange(N) * 7,
        np.arange(N) + 0.5,
        np.random.default_rng(0).normal(size=N),
        [f"group {j % 30}" for j in range(N)],
        [20 + j % 50 for j in range(N)],
    ],
    ids=["in pairs", "spread", "no whole numbers", "measured", "categories", "ages"],
)
def test_a_measurement_or_category_is_no_identifier(values):
    assert list(identifiers(problem(a=Y, row=values))) == []


def test_whole_numbers_that_are_called_an_id_need_not_be_consecutive():
    numbers = np.random.default_rng(0).permutation(10_000)[:N]
    assert len(list(identifiers(problem(customer_id=numbers)))) == 1
    assert list(identifiers(problem(income=numbers))) == []


@pytest.mark.parametrize("form", ["{:02}/03/2020", "{}.50 EUR"], ids=["dates", "amounts"])
def test_dates_and_amounts_that_all_differ_get_one_note(form):
    table = problem(when=[form.format(1 + j) for j in range(N)])
    assert "as text" in "".join(dates_and_amounts(table))
    assert list(identifiers(table)) == []


def test_few_rows_show_no_identifier():
    assert list(identifiers(Problem.of([[j] for j in range(19)], [0, 1] * 9 + [0]))) == []


SAID = [f"the machine number {j} stopped and was repaired on the spot" for j in range(N)]


def test_free_text_is_noted_once():
    (note,) = table_notes(problem(a=np.arange(N) // 7, said=SAID))
    assert "column 'said' holds free text" in note and "--drop said" in note


@pytest.mark.parametrize(
    "values",
    [
        [SAID[j % 4] for j in range(N)],
        [f"{j} High Street" for j in range(N)],
        ["yes", "no"] * (N // 2),
    ],
    ids=["an answer of few", "addresses", "words"],
)
def test_categories_are_no_free_text(values):
    assert list(free_text(problem(said=values))) == []


@pytest.mark.parametrize(
    "values, what",
    [
        (["12/31/2020", "01/05/2021", "03/17/2021"], "dates"),
        (["31.12.20", "5.1.21", "17.3.21"], "dates"),
        (["2020/12/31 10:15", "2021/01/05 08:00", "2021/03/17 17:30"], "dates"),
        (["3 Jan 2020", "14 February 2021", "1-Mar-2021"], "dates"),
        (["Jan 3, 2020", "Feb 14, 2021", "March 1, 2021"], "dates"),
        (["1,200.50 EUR", "3.00 EUR", "17.25 EUR"], "amounts"),
        (["$5", "$1,200", "-$17.5"], "amounts"),
        (["5 %", "12.5 %", "-3 %"], "amounts"),
        (["1.200,50 €", "3,00 €", "17,25 €"], "amounts"),
    ],
)
def test_dates_and_amounts_as_text_are_noted(values, what):
    (note,) = dates_and_amounts(problem(a=Y, when=values * (N // 3)))
    assert f"column 'when' holds {what}" in note and "--drop when" in note


@pytest.mark.parametrize(
    "values",
    [
        ["1.2.2020", "2.2.2020"],
        ["A4", "B12", "C7"],
        ["low", "mid", "high"],
        ["10-20", "20-30", "30-40"],
        ["2020-12-31", "2021-01-05", "2021-03-17"],
    ],
    ids=["two versions", "codes", "words", "ranges", "ISO dates, which are read"],
)
def test_other_texts_are_neither(values):
    assert list(dates_and_amounts(problem(when=values * (N // len(values))))) == []


WITHOUT_NUL = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=9)


@given(st.lists(WITHOUT_NUL, min_size=N, max_size=N))
def test_a_note_never_tells_what_a_cell_holds(texts):
    secret = [f"secret {text} secret" for text in texts]
    for note in table_notes(problem(a=np.arange(N) // 7, said=secret)):
        assert "secret" not in note
