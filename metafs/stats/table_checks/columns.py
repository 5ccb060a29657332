"""Columns that are no features as they are: identifiers, free text, dates and amounts as text."""

import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy.sparse import issparse

from metafs.data.checks import dropping, listing
from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.stats.repeated_rows import ID_NAME
from metafs.stats.table_checks.thresholds import (
    ALL_DIFFERENT,
    FREE_SHARE,
    ID_ROWS,
    LEAST_LENGTH,
    LEAST_ROWS,
    LEAST_TEXTS,
    LEAST_WORDS,
    LIKE_A_DATE,
    MOST_GAPS,
    MOST_TEXTS,
)

MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
TIME = r"([ ,T]+\d{1,2}:\d\d(:\d\d(\.\d+)?)?( ?[ap]\.?m\.?)?)?"
DATE = re.compile(
    rf"\s*(\d{{1,2}}[./-]\d{{1,2}}[./-](\d{{4}}|\d\d)|\d{{4}}[./-]\d{{1,2}}[./-]\d{{1,2}}"
    rf"|\d{{1,2}}[ .-]+{MONTH}[ ,-]+(\d{{4}}|\d\d)|{MONTH} \d{{1,2}},? \d{{4}}){TIME}\s*",
    re.IGNORECASE,
)
"""12/31/2020, 31.12.20, 2020/12/31, 3 Jan 2020, Jan 3, 2020, each with a time or without."""

UNIT = r"([$€£¥₹]|[A-Z]{3}|US\$|kr|zł|Fr\.)"
NUMBER = r"[-+]?(\d{1,3}([,.' ]\d{3})+|\d+)([.,]\d+)?"
AMOUNT = re.compile(rf"\s*\(?(-?{UNIT} ?{NUMBER}|{NUMBER} ?({UNIT}|%|[kKM]))\)?\s*")
"""1,200.50 EUR, $5, -3 %, (12.00 USD)."""


def identifiers(problem: Problem) -> Iterator[str]:
    """Yield a note for each column that names rows: text all different, or consecutive numbers.

    Sparse tables are not looked at: most of their values are 0.

    Examples
    --------
    >>> problem = Problem.of([[j] for j in range(20)], [0, 1] * 10, feature_names=["row"])
    >>> list(identifiers(problem))
    ["column 'row' looks like an identifier: all its values differ; leave it out with --drop row"]
    """
    if issparse(problem.X) or problem.n_samples < LEAST_ROWS:
        return
    others = {*_free_text_columns(problem), *(column for column, *_ in _as_text(problem))}
    for column in _all_different(problem.X):
        if column in others:
            continue
        values = problem.X[:, column]
        known = values[~np.isnan(values)]
        if len(known) < LEAST_ROWS:
            continue
        n_distinct = len(np.unique(known))
        name = problem.feature_names[column]
        if column in problem.categories:
            found = n_distinct >= ALL_DIFFERENT * len(known)
        else:
            extent = float(known.max() - known.min()) + 1
            found = n_distinct == len(known) and (
                extent <= MOST_GAPS * len(known) or _is_called_id(name)
            )
        if found:
            differ = "all" if n_distinct == len(known) else "nearly all"
            yield (
                f"column {listing([name])} looks like an identifier: {differ} its values differ; "
                f"leave it out with {dropping(name)}"
            )


def _all_different(X: Array) -> Array:
    """Return columns of whole numbers (or codes) whose first rows hardly repeat a value."""
    first = X[np.linspace(0, len(X) - 1, min(ID_ROWS, len(X))).astype(np.int64)]
    few = np.flatnonzero((np.isnan(first) | (first == np.floor(first))).all(axis=0))
    ascending = np.sort(first[:, few], axis=0)  # NaN at the end, different from each other
    repeats = (ascending[1:] == ascending[:-1]).sum(axis=0)
    found = few[repeats <= (1 - ALL_DIFFERENT) * len(first)]
    values = X[:, found]
    return np.asarray(found[(np.isnan(values) | (values == np.floor(values))).all(axis=0)])


def _is_called_id(name: str) -> bool:
    return ID_NAME.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()) is not None


def free_text(problem: Problem) -> Iterator[str]:
    """Yield a note for each column of sentences, which as categories say nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> said = [f"it broke down after {j} days and nobody came" for j in range(20)]
    >>> list(free_text(Problem.of(pd.DataFrame({"said": said}), [0, 1] * 10)))[0][:37]
    "column 'said' holds free text, which "
    """
    for column in _free_text_columns(problem):
        name = problem.feature_names[column]
        yield (
            f"column {listing([name])} holds free text, which as categories tells nothing of new "
            f"rows: turn it into columns (of words, say), or leave it out with {dropping(name)}"
        )


def _free_text_columns(problem: Problem) -> Iterator[int]:
    if problem.n_samples < LEAST_ROWS:
        return
    for column, labels in problem.categories.items():
        if len(labels) < max(LEAST_ROWS / 2, FREE_SHARE * problem.n_samples):
            continue
        some = _some(labels)
        n_words = np.mean([len(text.split()) for text in some])
        if n_words >= LEAST_WORDS and np.mean([len(text) for text in some]) >= LEAST_LENGTH:
            yield column


def dates_and_amounts(problem: Problem) -> Iterator[str]:
    """Yield a note for each column of dates or amounts that were read as categories.

    Examples
    --------
    >>> import pandas as pd
    >>> paid = pd.DataFrame({"paid": ["1,200.50 EUR", "3.00 EUR", "7 EUR", "3.00 EUR"]})
    >>> list(dates_and_amounts(Problem.of(paid, [0, 1, 0, 1])))[0][:56]
    "column 'paid' holds amounts or shares as text, which wer"
    """
    for column, what, remedy in _as_text(problem):
        name = problem.feature_names[column]
        yield (
            f"column {listing([name])} holds {what} as text, which were taken for "
            f"categories: {remedy}, or leave it out with {dropping(name)}"
        )


def _as_text(problem: Problem) -> Iterator[tuple[int, str, str]]:
    """Yield the columns of dates or amounts, with what they hold and what to do."""
    for column, labels in problem.categories.items():
        for what, is_one, remedy in KINDS:
            if _mostly(labels, is_one):
                yield column, what, remedy
                break


KINDS: Sequence[tuple[str, Callable[[str], object], str]] = (
    ("dates", DATE.fullmatch, "write them as 2020-12-31"),
    ("amounts or shares", AMOUNT.fullmatch, "write bare numbers such as 1200.50"),
)


def _mostly(labels: Sequence[str], is_one: Callable[[str], object]) -> bool:
    if len(labels) < LEAST_TEXTS:
        return False
    some = _some(labels)
    return sum(is_one(text) is not None for text in some) >= LIKE_A_DATE * len(some)


def _some(labels: Sequence[str]) -> Sequence[str]:
    return labels[:: max(1, len(labels) // MOST_TEXTS)]
