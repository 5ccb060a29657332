"""What memory knows of a new problem's weights, columns and chances of transfer.

All of it is aligned with the new problem's columns. Nothing of it comes from the new problem's
own labels.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from metafs.data.typing import Array, Matrix

STRENGTHS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Grid of the strength s, the weight of past models in the prior; 0 is no memory."""

N_LABELS = (2, 5, 20)
"""Labels a class, or rows where the target is a number, at which transfer is measured."""

COHERENCE = 0
"""Recorded as the number of labels of what is no loss but the coherence of past scores."""

BASIS = "space"
"""Named instead of a past problem by a direction that belongs to the basis of a space."""


@dataclass(frozen=True, eq=False)
class Directions:
    """Weight vectors that linear models of past problems learned.

    Examples
    --------
    >>> known = Directions.of([[1.0, 0.0, -2.0]], problems=["spam"])
    >>> known.columns([2, 0]).weights
    array([[-2.,  1.]])
    """

    weights: Matrix
    """(m, n_features), in prepared units: per standard deviation of a column, and for words per
    tf-idf of a row of unit length. 0 where unknown."""
    problems: tuple[str, ...]
    """(m,) The past problem that each comes from; `BASIS` for a vector of a space's basis."""
    outputs: tuple[str | None, ...] = field(repr=False)
    """(m,) The class whose weights these are; None for a number."""
    distances: Array = field(repr=False)
    """(m,) How far that problem is; NaN for the basis."""
    n_labels: Array = field(repr=False)
    """(m,) Labelled rows that it was learned from."""

    @classmethod
    def of(
        cls,
        weights: Any,
        *,
        problems: Any = None,
        outputs: Any = None,
        distances: Any = None,
        n_labels: Any = None,
    ) -> "Directions":
        """Return directions of which not everything is known."""
        table = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        m = len(table)
        return cls(
            table,
            tuple(problems) if problems is not None else (BASIS,) * m,
            tuple(outputs) if outputs is not None else (None,) * m,
            np.asarray(distances, float) if distances is not None else np.full(m, np.nan),
            np.asarray(n_labels, float) if n_labels is not None else np.full(m, np.nan),
        )

    def __len__(self) -> int:
        return int(self.weights.shape[0])

    def columns(self, columns: Any) -> "Directions":
        """Return the same directions on some columns."""
        return replace(self, weights=self.weights[:, columns])


@dataclass(frozen=True, eq=False)
class Scales:
    """What memory knows of the columns without any label; NaN where unknown."""

    n_rows: Array
    """(n_features,) How many rows are remembered; 0 where the column is unknown."""
    document_frequency: Array
    """(n_features,) The share of rows in which the column is not zero."""
    mean: Array
    """(n_features,)"""
    spread: Array
    """(n_features,) The standard deviation."""

    def columns(self, columns: Any) -> "Scales":
        """Return the same for some columns."""
        return Scales(
            self.n_rows[columns],
            self.document_frequency[columns],
            self.mean[columns],
            self.spread[columns],
        )


@dataclass(frozen=True, eq=False)
class TransferExperience:
    """What memory was worth to past problems with few labels.

    It was measured on rows that no remembered model had seen.
    """

    n_labels: Array
    """(L,) Labels a class, or rows where the target is a number."""
    strengths: Array
    """(S,) The grid of strengths; the first is 0, which is no memory."""
    loss: Array
    """(P, L, S) The scale-free loss of each past problem; NaN where not measured."""
    weights: Array
    """(P,) How related each past problem is."""
    coherence: Array | None = None
    """(P,) How coherent past scores were on its rows (`metafs.stats.linear.coherence`); None if
    that is not known."""


@dataclass(frozen=True, eq=False)
class WeightPrior:
    """What memory knows of the weights of a new problem; None for what it does not know."""

    directions: Directions | None = None
    scales: Scales | None = None
    experience: TransferExperience | None = None
    words: Array | None = None
    """(n_features,) Which columns past models took for words, whatever a part of them looks like;
    the directions are in that unit."""
    classes: tuple[str, ...] | None = None
    """What the new problem's classes 0, 1, ... are called; None if y holds their names."""

    def names_of(self, labels: Array | None) -> tuple[str, ...] | None:
        """Return the names of the classes among the labels, in their order; None for a number."""
        if labels is None:
            return None
        if self.classes is None or not np.issubdtype(labels.dtype, np.integer):
            return tuple(str(label) for label in labels)
        return tuple(self.classes[int(label)] for label in labels)

    def columns(self, columns: Any) -> "WeightPrior":
        """Return what is known of some columns only."""
        return replace(
            self,
            directions=None if self.directions is None else self.directions.columns(columns),
            scales=None if self.scales is None else self.scales.columns(columns),
            words=None if self.words is None else self.words[columns],
        )
