r"""Information gain: mutual information of a single feature with the target.

.. math:: IG_j = H(Y) - H(Y \mid X_j) = \sum_{v,y} p(v, y) \log_2 \frac{p(v, y)}{p(v)\,p(y)}

Real-valued features and targets are discretised; missing is a value like any other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from metafs.data.typing import Array, Matrix
from metafs.plugin.weighted_ranking import WeightedRankingSelector
from metafs.stats.discretise import categories_of, check_n_bins
from metafs.stats.relevance import information_of_each


@dataclass(frozen=True)
class InfoGain:
    """Mutual information of every single feature with the target, in bits.

    Parameters
    ----------
    n_bins : int, default=4
        Number of bins for real-valued features and targets.

    Examples
    --------
    >>> X = np.array([[0.0, 3.0], [0.0, 4.0], [1.0, 3.0], [1.0, 4.0]])
    >>> InfoGain()(X, np.array(["a", "a", "b", "b"]))
    array([1., 0.])
    """

    n_bins: int = 4

    def __call__(
        self,
        X: Any,
        y: Any,
        *,
        categories: Mapping[int, tuple[str, ...]] | None = None,
        sample_weight: Array | None = None,
    ) -> Array:
        """Return the information gain of every feature."""
        X = csr_array(X) if issparse(X) else np.asarray(X, dtype=np.float64)
        return information_of_each(
            X, y, categories, n_bins=self.n_bins, sample_weight=sample_weight
        )


class InfoGainSelector(WeightedRankingSelector):
    """Keep the features with the largest information gain.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half.
    n_bins : int, default=4
        Number of bins for real-valued features and targets.
    categorical_features : sequence of int, default=None
        Columns that hold codes 0, 1, ... of categories rather than amounts.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Information gain, in bits.
    ranking_ : ndarray of shape (n_features,)
        1 for the best.
    n_evaluations_ : int
        The number of features, each scored once.
    stopped_ : str
        Why the search ended.

    Examples
    --------
    >>> X = [[0, 3], [0, 4], [1, 3], [1, 4]]
    >>> InfoGainSelector().fit(X, ["a", "a", "b", "b"]).get_support()
    array([ True, False])
    """

    _allow_nan = True

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        n_bins: int = 4,
        categorical_features: Sequence[int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select)
        self.n_bins = n_bins
        self.categorical_features = categorical_features

    def expected_seconds(self, n_samples: int, n_features: int, n_outputs: int) -> float:
        """Return what a fit takes, roughly, for the automatic choice of a pipeline."""
        return 1e-7 * n_samples * n_features

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        check_n_bins(self.n_bins)

    def _score_weighted(self, X: Matrix, y: Array, sample_weight: Array | None) -> Array:
        categories = categories_of(X, self.categorical_features)
        return InfoGain(self.n_bins)(X, y, categories=categories, sample_weight=sample_weight)
