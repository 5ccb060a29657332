"""Search features in an order of their content, not in the order in which a table stores them.

A climb draws features by their numbers and settles ties by them. Numbered by content, the same
table with columns in another order is searched along the same path, and gives the same answer
unless columns are equal.
"""

from typing import Any

import numpy as np

from metafs.data.typing import Array, Matrix
from metafs.plugin import (
    Prior,
    SupportsAbandoning,
    SupportsBatches,
    SupportsHints,
    SupportsSizePrice,
)
from metafs_climb.content_folds import column_keys


class ContentOrder:
    """Numbers for the columns of a table that depend on what they hold.

    Attributes
    ----------
    columns : array of int
        The column that has each number; equal columns come as they are stored.
    """

    def __init__(self, X: Matrix, y: Array) -> None:
        self.columns: Array = np.argsort(column_keys(X, y), kind="stable")
        self._numbers = np.argsort(self.columns)

    def numbers(self, columns: Array) -> Array:
        """Return the numbers of columns, ascending."""
        return np.sort(self._numbers[columns])

    def columns_of(self, numbers: Array) -> Array:
        """Return the columns that have these numbers, ascending."""
        return np.sort(self.columns[numbers])

    def prior(self, prior: Prior | None) -> Prior | None:
        """Return what a search needs of a prior, for the columns by number."""
        if prior is None:
            return None
        return Prior(
            prior.expected[self.columns],
            starts=tuple(self.numbers(start) for start in prior.starts),
            size=prior.size,
            guides=prior.guides,
            doubtful=prior.doubtful,
        )


class Renumbered:
    """An evaluator of sets that are given by number; what else it can do it does by number too."""

    def __init__(self, evaluator: Any, order: ContentOrder) -> None:
        self._evaluator, self._order = evaluator, order
        if isinstance(evaluator, SupportsAbandoning):
            self.abandons = evaluator.abandons
        if isinstance(evaluator, SupportsSizePrice):
            self.prices_size = evaluator.prices_size
        if isinstance(evaluator, SupportsBatches):
            self.at_once = lambda base: evaluator.at_once(order.columns_of(base))
        if isinstance(evaluator, SupportsHints):
            self.hints = self._hints

    def of_sets(self, base: Array, edits: Array, **options: Any) -> Array:
        """Return the fitness of base after each row of edits."""
        base, edits = self._order.columns_of(base), self._order.columns[edits]
        return np.asarray(self._evaluator.of_sets(base, edits, **options))

    def _hints(self, base: Array) -> Array | None:
        hints = self._evaluator.hints(self._order.columns_of(base))
        return None if hints is None else np.asarray(hints)[self._order.columns]
