r"""Mutual information weighted by confidence: informative sets of few features.

.. math:: q(S) = MI(S)^{2-r} \cdot c(S)^r, \qquad c(S) = \frac{N}{N + b\,n}

MI(S) is the mutual information, in bits, of the set S with the target, N the number of rows
and n the number of features in S. The larger b or r, the smaller the best set. The paper has r = 1
and varies b alone.

B. Goertzel, N. Geisweiller, C. Poulin, "Meta-learning for feature selection", 2021,
sections 3.4.2 and 3.4.3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from metafs.data.typing import Array, Matrix
from metafs.stats.confidence import Confidence
from metafs.stats.discretise import discretise, discretise_target
from metafs.stats.information import SetInformation


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

    def __post_init__(self) -> None:
        _ = self.confidence  # refuses a wrong b or r at once

    @property
    def confidence(self) -> Confidence:
        """How b and r weigh information; the quality of features is recorded by the same."""
        return Confidence(self.b, self.r)

    def __call__(self, X: Matrix, y: Array) -> Array:
        """Return the quality of every single feature."""
        return self.bind(X, y).of_each()

    def of_set(self, X: Matrix, y: Array, features: Sequence[int] | Array) -> float:
        """Return the quality of one set of features."""
        return self.bind(X, y).of_set(features)

    def bind(
        self, X: Any, y: Any, *, categories: Mapping[int, tuple[str, ...]] | None = None
    ) -> MIConfidenceEvaluator:
        """Return an evaluator of many sets on one problem."""
        X = csr_array(X) if issparse(X) else np.asarray(X, dtype=np.float64)
        categories = self.categories if categories is None else categories
        codes = discretise(X, n_bins=self.n_bins, categories=categories).matrix
        classes = discretise_target(np.asarray(y), n_bins=self.n_bins)
        return MIConfidenceEvaluator(SetInformation(codes, classes), self.confidence)
