r"""Rows that repeat: several of one patient, say, which folds should not divide.

A score is too high if a test row is all but in the training rows too. Three signs are looked for,
the surest first.

A column named like an id (patient_id, subject, user) that holds whole numbers or categories, most
of them in several rows.

Rows that are equal, with equal targets, far more often than columns of such values would be equal
by chance: with :math:`p_{jv}` the share of value v in column j, two rows are expected to be equal
with a probability of about :math:`\prod_j \sum_v p_{jv}^2`, and columns depend on each other, so
that only half of its logarithm is relied on.

Rows that are nearly equal. With N(r) the pairs of rows within a distance r, ordinary rows in D
dimensions have :math:`N(2r) / N(r) \approx 2^D`: there are always many more pairs a little farther
apart. Rows of one patient are within some distance, and hardly any are between it and its double.
So there is a distance r within which most rows have a neighbour, of the same target, and
:math:`N(2r) < 1.25 \, N(r)`.

Of a large table, blocks of rows that follow each other are looked at.
"""

import re
from collections.abc import Iterator

import numpy as np
from scipy.sparse import issparse

from metafs.data.problem import Problem
from metafs.data.typing import Array

ID_NAME = re.compile(
    r"(?:^|[^a-z])(?:id|subject|patient|person|participant|user|customer|client|household|family|"
    r"animal|donor|speaker|writer|student|employee|respondent)(?:[^a-z]*(?:id|no|nr|number|code|key))?"
    r"[^a-z]*$"
)
"""How columns are called that say whom or what a row is about."""

MOST_ROWS, MOST_COLUMNS, ASKED = 1000, 100, 100
BLOCK = 50
"""Rows of a large table that follow each other."""
REPEATED = 0.5
"""The share of rows that must have one like them."""
ADVICE = "a score may be too high, because rows like those of a test are learnt from"


def repeated_rows(problem: Problem) -> str | None:
    """Return a note if rows seem to repeat, None if not, or if groups or times are given.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(30, 5)), rng.integers(0, 2, 30)
    >>> repeated_rows(Problem.of(X, y))
    >>> repeated_rows(Problem.of(np.repeat(X, 5, axis=0), np.repeat(y, 5)))[:41]
    '100 % of the rows equal another one, with'
    """
    if problem.groups is not None or problem.n_samples < 20:
        return None
    for column in _ids(problem):
        name = problem.feature_names[column]
        return (
            f"rows repeat: {name!r} has the same value in several rows; if these belong together, "
            f"give --groups {name}, for {ADVICE}"
        )
    rows = _some_rows(problem)
    X, y = _standardised(problem, rows), problem.y[rows]
    row = _numbered(X)
    share = _share_equal(X, y, row)
    if share is not None:
        what = f"{share:.0%} of the rows equal another one".replace("%", " %")
    else:
        distinct = np.unique(row, return_index=True)[1]
        share = _share_near(X[distinct], y[distinct])
        if share is None:
            return None
        what = f"{share:.0%} of the rows nearly equal another one".replace("%", " %")
    return (
        f"{what}, with the same target; if several rows are of one patient, customer or other "
        f"unit, give its column with --groups, for {ADVICE}"
    )


def _ids(problem: Problem) -> Iterator[int]:
    """Yield columns that are called like an id and hold whole numbers or labels that repeat."""
    for column, name in enumerate(problem.feature_names):
        words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        if not ID_NAME.search(words):
            continue
        values = problem.X[:, [column]]
        values = np.asarray(values.toarray() if issparse(values) else values).ravel()
        known = values[~np.isnan(values)]
        if not len(known) or (known != np.floor(known)).any():
            continue
        distinct, counts = np.unique(known, return_counts=True)
        if len(distinct) >= 5 and counts[counts > 1].sum() >= REPEATED * len(known):
            yield column


def _some_rows(problem: Problem) -> Array:
    """Return all rows of a small table, and blocks of rows of a large one."""
    n = problem.n_samples
    if n <= MOST_ROWS:
        return np.arange(n)
    starts = np.linspace(0, n - BLOCK, MOST_ROWS // BLOCK).astype(np.int64)
    return np.unique(starts[:, None] + np.arange(BLOCK))


def _standardised(problem: Problem, rows: Array) -> Array:
    """Return some rows with some columns of unit spread, missing values at the mean."""
    columns = np.arange(problem.n_features)
    if problem.n_features > MOST_COLUMNS:
        columns = np.linspace(0, problem.n_features - 1, MOST_COLUMNS).astype(np.int64)
    X = problem.X[rows][:, columns]
    X = np.asarray(X.toarray() if issparse(X) else X)
    missing = np.isnan(X)
    X = np.where(missing, 0.0, X)
    n_known = np.maximum((~missing).sum(axis=0), 1)
    X = np.where(missing, 0.0, X - X.sum(axis=0) / n_known)
    spread = np.sqrt((X**2).sum(axis=0) / n_known)
    used = spread > 0
    return np.asarray(X[:, used] / spread[used])


def _numbered(X: Array) -> Array:
    """Return a number for each row, the same for equal rows."""
    mixed = X * np.random.default_rng(0).normal(size=X.shape[1])
    return np.asarray(np.unique(mixed.sum(axis=1), return_inverse=True)[1])


def _share_equal(X: Array, y: Array, row: Array) -> float | None:
    """Return the share of rows equal to another in columns and target, if that is no chance."""
    counts = np.bincount(row)
    pairs = float((counts * (counts - 1)).sum()) / 2
    if not pairs:
        return None
    n = len(X)
    by_chance = 0.0
    for column in X.T:
        _, of_value = np.unique(column, return_counts=True)
        by_chance += np.log(((of_value / n) ** 2).sum())
    _, both = np.unique(np.column_stack([row, y]), axis=0, return_counts=True)
    alike = float((both * (both - 1)).sum()) / 2
    if alike < 0.9 * pairs or pairs < 10 * np.exp(by_chance / 2) * n * n / 2:
        return None
    share = float(both[both > 1].sum()) / n
    return share if share >= REPEATED else None


def _share_near(X: Array, y: Array) -> float | None:
    """Return the share of rows with a near neighbour, if there is a gap around those.

    No two of these rows are equal: how often equal values repeat says nothing of near ones.
    """
    if X.shape[1] < 2 or len(X) < 20:
        return None
    length = np.einsum("ij,ij->i", X, X)
    asked = np.linspace(0, len(X) - 1, min(ASKED, len(X))).astype(np.int64)
    square = length[asked, None] + length - 2 * X[asked] @ X.T
    square[np.arange(len(asked)), asked] = np.inf
    distance = np.sqrt(np.maximum(square, 1e-12 * length.mean()))
    nearest = distance.min(axis=1)
    usual = np.median(distance)
    for r in np.quantile(nearest, [REPEATED, 0.7, 0.9]):
        for width in (1.0, 1.5, 2.2, 3.3):
            within = distance <= r * width
            n_within, n_double = within.sum(), (distance <= 2 * r * width).sum()
            own = y[asked][:, None] == y[None, :]
            if (
                r * width <= usual / 4
                and n_double < 1.25 * n_within
                and n_within <= len(asked) * len(X) / 8
                and own[within].mean() >= 0.95
            ):
                return float((nearest <= r * width).mean())
    return None
