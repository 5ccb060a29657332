r"""Mutual information weighted by confidence: informative sets of few features.

.. math:: q(S) = MI(S)^{2-r} \cdot c(S)^r, \qquad c(S) = \frac{N}{N + b\,n}

MI(S) is the mutual information, in bits, of the set S with the target, N the number of rows
and n the number of features in S. The larger b or r, the smaller the best set. The paper has r = 1
and varies b alone.

Two things may be put in their place. With ``confidence="interval"`` c(S) is what the paper would
have wished for: the probability that MI(S) stays within an interval when there are more rows
(`metafs.stats.information_interval`). With ``adjusted=True`` MI(S) is what exceeds the mean
information that such a set has if the classes are dealt at random,

.. math:: \max(0, MI(S) - E[MI(S)])

(`metafs.stats.chance_information`). A set of many features parts the rows into many groups, and
these have information about anything. A search takes the best of many sets, which is above this
mean by luck: ``sigmas`` standard deviations of information by chance, :math:`\sqrt{(r-1)(s-1)/2} /
N \ln 2` for r groups and s classes, are subtracted as well.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021,
sections 3.4.2 and 3.4.3.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.stats.chance_information import ChanceInformation
from metafs.stats.confidence import Confidence
from metafs.stats.discretise import discretise, discretise_target
from metafs.stats.information import SetInformation
from metafs.stats.information_interval import IntervalConfidence, information
from metafs_climb.contingency import Contingency, TableEvaluator

CONFIDENCES = ("size", "interval")


class MIConfidenceEvaluator:
    """`MIConfidence` on one problem: discretised once, then many sets at a time."""

    def __init__(self, information: SetInformation, confidence: Confidence) -> None:
        self.information = information
        self.confidence = confidence

    def of_sets(self, base: Sequence[int] | Array, edits: Array) -> Array:
        """Return the fitness of ``base`` after each row of edits, features that join or leave."""
        base = np.unique(np.asarray(base, dtype=np.int64))
        inside = np.zeros(self.information.n_features, dtype=bool)
        inside[base] = True
        n_features = len(base) + np.where(inside[edits], -1, 1).sum(axis=1)
        found = self.information.of_sets(base, edits)
        return self._fitness(found, n_features)

    def of_each(self) -> Array:
        """Return the fitness of every single feature."""
        return self._fitness(self.information.of_each(), 1)

    def of_set(self, features: Sequence[int] | Array) -> float:
        """Return the fitness of one set of features."""
        features = np.unique(np.asarray(features, dtype=np.int64))
        return float(self._fitness(self.information.of_set(features), len(features)))

    def _fitness(self, information: Array | float, n_features: Array | int) -> Array:
        return self.confidence.of(information, n_features, self.information.n_samples)


@dataclass(frozen=True)
class MIConfidence:
    """Quality of a set of features: mutual information with the target, times confidence.

    Parameters
    ----------
    b : float, default=5.0
        Penalty of a feature: with b rows for each feature, confidence is one half.
    r : float, default=1.0
        Weight of confidence against information, from 0 up to, but not including, 2.
    n_bins : int, default=4
        Number of bins for real-valued features and targets.
    categories : mapping of int to tuple of str
        Labels of the values 0, 1, ... of each categorical column.
    confidence : {"size", "interval"}, default="size"
        Whether c(S) goes by the number of features, or is the probability that MI(S) stays within
        an interval.
    width : float, default=0.1
        Half the width of that interval, as a share of MI(S).
    more : float, default=1.0
        How many more rows are thought of for it, as a share of the rows there are.
    adjusted : bool, default=False
        Whether information that a set has by chance is subtracted.
    sigmas : float, default=0.0
        How many standard deviations of information by chance are subtracted besides its mean.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> MIConfidence(b=1.0)(X, np.array([0, 0, 1, 1]))
    array([0.8, 0. ])
    >>> round(MIConfidence(b=1.0).of_set(X, np.array([0, 1, 1, 0]), [0, 1]), 4)
    0.6667
    """

    b: float = 5.0
    r: float = 1.0
    n_bins: int = 4
    categories: Mapping[int, tuple[str, ...]] = field(default_factory=dict, hash=False)
    confidence: str = "size"
    width: float = 0.1
    more: float = 1.0
    adjusted: bool = False
    sigmas: float = 0.0

    def __post_init__(self) -> None:
        _ = self.confidence_parameters, self._interval  # refuse what is wrong at once
        if self.confidence not in CONFIDENCES:
            raise UsageError(
                f"confidence of mi-confidence is {self.confidence!r}; give size or interval."
            )
        if not self.sigmas >= 0:
            raise UsageError(f"sigmas of mi-confidence is {self.sigmas}; give 0 or more.")

    @property
    def confidence_parameters(self) -> Confidence:
        """How b and r weigh information; the quality of features is recorded by the same."""
        return Confidence(self.b, self.r)

    @property
    def _interval(self) -> IntervalConfidence:
        return IntervalConfidence(self.width, self.more)

    def __call__(self, X: Matrix, y: Array) -> Array:
        """Return the quality of every single feature."""
        return self.bind(X, y).of_each()

    def of_set(self, X: Matrix, y: Array, features: Sequence[int] | Array) -> float:
        """Return the quality of one set of features."""
        return self.bind(X, y).of_set(features)

    def bind(
        self, X: Any, y: Any, *, categories: Mapping[int, tuple[str, ...]] | None = None
    ) -> MIConfidenceEvaluator | TableEvaluator:
        """Return an evaluator of many sets on one problem."""
        X = csr_array(X) if issparse(X) else np.asarray(X, dtype=np.float64)
        categories = self.categories if categories is None else categories
        codes = discretise(X, n_bins=self.n_bins, categories=categories).matrix
        classes = discretise_target(np.asarray(y), n_bins=self.n_bins)
        if self.confidence == "size" and not self.adjusted:
            return MIConfidenceEvaluator(SetInformation(codes, classes), self.confidence_parameters)
        tables = Contingency(codes, classes)
        return TableEvaluator(tables, self._value_of(tables.of_class))

    def _value_of(self, of_class: Array) -> Callable[[Array, int], float]:
        """Return the function that values a table of a set of so many features."""
        chance, n_samples = ChanceInformation(of_class), int(of_class.sum())

        def value(table: Array, n_features: int) -> float:
            found = information(table)
            if self.adjusted:
                found -= chance.of(table.sum(axis=1))
                freedom = (len(table) - 1) * (table.shape[1] - 1)
                found -= self.sigmas * np.sqrt(freedom / 2) / (n_samples * np.log(2))
            if found <= 0 or not n_features:
                return 0.0
            if self.confidence == "size":
                return float(self.confidence_parameters.of(found, n_features, n_samples))
            sure = self._interval.of(table)
            return float(found ** (2 - self.r) * sure**self.r)

        return value
