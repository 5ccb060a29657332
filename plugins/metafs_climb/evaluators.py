"""The evaluator of a measure on one problem: its own, or one that calls it set by set."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np

from metafs.data.typing import Array, Matrix
from metafs.plugin.protocols import (
    SetEvaluator,
    SetMeasure,
    SupportsBind,
)


class SetBySet:
    """Evaluates a measure that has no `bind`, set by set; the empty set is worse than any other."""

    def __init__(self, measure: Any, X: Matrix, y: Array) -> None:
        self.measure, self.X, self.y = measure, X, y

    def of_sets(self, base: Array, edits: Array) -> Array:
        """Return the measure of base after each row of edits."""
        sets = (np.setxor1d(base, edit) for edit in edits)
        return np.array(
            [self.measure.of_set(self.X, self.y, s) if len(s) else -np.inf for s in sets]
        )

    def of_each(self) -> Array:
        """Return the measure of every single feature."""
        return np.asarray(self.measure(self.X, self.y))


def bound(
    measure: SetMeasure,
    X: Matrix,
    y: Array,
    categories: Mapping[int, tuple[str, ...]],
    groups: Array | None = None,
) -> SetEvaluator:
    """Return the measure's own evaluator on one problem, or one that calls it set by set.

    Groups are for measures that divide rows into folds.
    """
    if not isinstance(measure, SupportsBind):
        return SetBySet(measure, X, y)
    known: dict[str, Any] = {"categories": categories} if categories else {}
    if groups is not None and "groups" in signature(measure.bind).parameters:
        known["groups"] = groups
    return measure.bind(X, y, **known)
