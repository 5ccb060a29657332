r"""Large tables: which rows a problem is described by, compared on, and learnt from.

A choice among pipelines needs a score to within some thousandths, for which some thousand rows are
enough. Of more rows a sample is taken,

.. math:: n = \min(n_{most}, \max(n_{least}, \lfloor V / \nu \rfloor)),

with V values in all and :math:`\nu` of them stored in a row: of each class its share, but at least
twenty rows if there are, and groups of rows as a whole. What is chosen then learns from all rows,
or from as many as its learner is expected to learn in some seconds. How many rows these are follows
from the table and the seed alone, so the answer does not depend on the machine.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from metafs.data.problem import Problem
from metafs.data.row_values import OF_ROWS
from metafs.data.typing import Array, Matrix
from metafs.pipeline.choice.candidates import Candidate
from metafs.pipeline.choice.costs import seconds_to_learn
from metafs.plugin.protocols import SupportsCost

MOST_ROWS = 10_000
"""A table of more rows is described by a sample, and pipelines are compared on it."""
LEAST_ROWS = 5_000
"""A sample has at least so many rows, however wide the table."""
MOST_VALUES = 4_000_000
"""Values that a sample holds if it has more than the least rows."""
LEAST_OF_CLASS = 20
"""Rows of a class that are taken, if it has so many."""
MOST_SECONDS_AT_LAST = 10.0
"""What the last fit is expected to take at most."""
MOST_ROWS_UNKNOWN = 100_000
"""Rows for the last fit of a learner of which it is not known how long it takes."""


def sample_size(X: Matrix) -> int:
    """Return how many rows of a table are taken; all of a table that is small.

    Examples
    --------
    >>> sample_size(np.zeros((300, 7))), sample_size(np.zeros((20_000, 500)))
    (300, 8000)
    """
    n_rows = int(X.shape[0])
    in_a_row = X.nnz / n_rows if issparse(X) else X.shape[1]
    limit = max(LEAST_ROWS, int(MOST_VALUES / max(in_a_row, 1)))
    return min(n_rows, MOST_ROWS, limit)


def sampled(problem: Problem, seed: int | None = 0) -> Problem:
    """Return the problem with a sample of its rows, or the problem itself if it is small."""
    n_wanted = sample_size(problem.X)
    unlabelled = _unlabelled(problem, seed)
    if n_wanted == problem.n_samples:
        if unlabelled is problem.X_unlabelled:
            return problem
        return replace(problem, X_unlabelled=unlabelled)
    return replace(of_rows(problem, some_rows(problem, n_wanted, seed)), X_unlabelled=unlabelled)


def of_rows(problem: Problem, rows: Array) -> Problem:
    """Return the problem with some of its labelled rows."""
    known = {name: getattr(problem, name) for name in ("X", "y", *OF_ROWS)}
    return replace(problem, **{n: v[rows] for n, v in known.items() if v is not None})


def some_rows(problem: Problem, n_wanted: int, seed: int | None = 0) -> Array:
    """Return a sample of the rows, ascending.

    Of groups the first in a random order are taken as a whole, until there are enough rows; the
    classes of a table without groups are taken by their shares.
    """
    rng = np.random.default_rng(seed or 0)
    if problem.groups is not None:
        groups, of_row = np.unique(problem.groups, return_inverse=True)
        order = rng.permutation(len(groups))
        until = np.searchsorted(np.cumsum(np.bincount(of_row)[order]), n_wanted)
        return np.flatnonzero(np.isin(of_row, order[: until + 1]))
    if not problem.is_classification:
        return np.sort(rng.permutation(problem.n_samples)[:n_wanted])
    chosen = []
    for code, count in enumerate(np.bincount(problem.y)):
        share = round(count * n_wanted / problem.n_samples)
        rows = rng.permutation(np.flatnonzero(problem.y == code))
        chosen.append(rows[: max(share, LEAST_OF_CLASS)])
    return np.sort(np.concatenate(chosen))


def _unlabelled(problem: Problem, seed: int | None) -> Matrix | None:
    X = problem.X_unlabelled
    if X is None or (n_wanted := sample_size(X)) == X.shape[0]:
        return X
    return X[np.sort(np.random.default_rng(seed or 0).permutation(X.shape[0])[:n_wanted])]


def rows_at_last(
    problem: Problem,
    candidate: Candidate,
    learners: Mapping[str, Any],
    n_compared: int,
    most_seconds: float = MOST_SECONDS_AT_LAST,
) -> int:
    """Return how many rows the chosen pipeline learns from, at least those it was compared on."""
    if not isinstance(learners[candidate.learner], SupportsCost):
        return max(n_compared, min(problem.n_samples, MOST_ROWS_UNKNOWN))

    def quick(n_rows: int) -> bool:
        return seconds_to_learn(problem, candidate, learners, n_rows) <= most_seconds

    low, high = n_compared, problem.n_samples
    if quick(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if quick(middle) else (low, middle)
    return low


def at_last(
    problem: Problem,
    seen: Problem,
    candidate: Candidate | None,
    learners: Mapping[str, Any],
    seed: int | None,
    most_seconds: float = MOST_SECONDS_AT_LAST,
) -> tuple[Problem, tuple[str, ...]]:
    """Return the rows that the chosen pipeline learns from, and a note if not all rows did all."""
    if seen.n_samples == problem.n_samples:
        return problem, ()
    learnt_from = seen
    if candidate is not None:
        n_rows = rows_at_last(problem, candidate, learners, seen.n_samples, most_seconds)
        if n_rows == problem.n_samples:
            learnt_from = problem
        elif n_rows > seen.n_samples:
            learnt_from = of_rows(problem, some_rows(problem, n_rows, seed))
    model = "all rows" if learnt_from is problem else f"{learnt_from.n_samples:,} rows"
    return learnt_from, (
        f"of {problem.n_samples:,} rows, {seen.n_samples:,} chose the pipeline and its columns and "
        f"gave the scores; the model learnt from {model}",
    )
