"""The common half of every selector that scores each feature and keeps the best.

A subclass of `RankingSelector` supplies ``_score(X, y)``, one of `RankingFromPrior`, where a prior
does more than decide between equals, ``_score_from(X, y, prior)``; ties and the number of features
to keep are here.
"""

from abc import abstractmethod
from numbers import Integral

import numpy as np
from sklearn.utils.validation import check_is_fitted

from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.plugin.prior import Prior
from metafs.plugin.reference_view import as_reference_sees
from metafs.plugin.selector import BaseSelector


def ranking(scores: Array, *, first: Array | None = None, expected: Array | None = None) -> Array:
    """Return the rank of each feature, 1 for the best.

    Features marked in ``first`` come before all others, then the larger score, then the
    larger expectation, then the earlier column.

    Examples
    --------
    >>> ranking(np.array([0.1, 0.7, 0.7]))
    array([3, 1, 2])
    >>> ranking(np.array([0.1, 0.7, 0.7]), expected=np.array([0.0, 0.2, 0.9]))
    array([3, 2, 1])
    """
    nothing = np.zeros(len(scores))
    later = nothing if first is None else ~first
    order = np.lexsort((-(nothing if expected is None else expected), -scores, later))
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[order] = np.arange(1, len(scores) + 1)
    return ranks


def n_to_keep(n_features_to_select: float | None, n_features: int) -> int:
    """Return how many features to keep: half of them, a number, or a share.

    Examples
    --------
    >>> n_to_keep(None, 7), n_to_keep(5, 7), n_to_keep(0.3, 7)
    (3, 5, 2)
    """
    if n_features_to_select is None:
        return max(1, n_features // 2)
    if isinstance(n_features_to_select, Integral) and n_features_to_select >= 1:
        return min(int(n_features_to_select), n_features)
    if isinstance(n_features_to_select, float | np.floating) and 0 < n_features_to_select <= 1:
        return max(1, int(n_features_to_select * n_features))
    raise UsageError(
        f"n_features_to_select is {n_features_to_select!r}; give a whole number from 1, "
        "a share above 0 and up to 1.0, or None for half."
    )


class RankingFromPrior(BaseSelector):
    """Base of selectors that keep the features with the best scores, and can start from a prior.

    A prior decides between features of equal score, besides what the method makes of it.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Larger is better.
    ranking_ : ndarray of shape (n_features,)
        1 for the best.
    n_evaluations_ : int
        The number of features, each scored once, unless the method says otherwise.
    stopped_ : str
        Why the search ended.
    """

    _sees_reference = False
    """Whether columns are scaled by what remembered models say of their weights."""

    def __init__(self, n_features_to_select: float | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        n_to_keep(self.n_features_to_select, 1)

    @abstractmethod
    def _score_from(self, X: Matrix, y: Array, prior: Prior | None) -> Array:
        """Return one score per feature; X is float64, an ndarray or a csr_array.

        A method whose work is not one evaluation per feature sets ``n_evaluations_`` and
        ``stopped_`` here.
        """

    def _fit(self, X: Matrix, y: Array, prior: Prior | None) -> None:
        self.n_evaluations_ = X.shape[1]
        self.stopped_ = "ranked every feature"
        table = as_reference_sees(X, y, prior) if self._sees_reference else X
        self.scores_ = self._score_from(table, y, prior)
        self.ranking_ = ranking(self.scores_, expected=None if prior is None else prior.expected)

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        keep = n_to_keep(self.n_features_to_select, self.n_features_in_)
        mask: Array = self.ranking_ <= keep
        return mask


class RankingSelector(RankingFromPrior):
    """Base of selectors whose scores owe nothing to a prior: it only decides between equals."""

    @abstractmethod
    def _score(self, X: Matrix, y: Array) -> Array:
        """Return one score per feature; X is float64, an ndarray or a csr_array."""

    def _score_from(self, X: Matrix, y: Array, prior: Prior | None) -> Array:
        return self._score(X, y)
