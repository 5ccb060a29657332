"""The common half of every selector that scores each feature and keeps the best.

A subclass supplies ``_score(X, y)``; validation, ties, the number of features to keep and the
selector contract are here.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from metafs.errors import UsageError
from metafs.prior import Prior, as_prior
from metafs.typing import Array, Matrix


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
    whole = not isinstance(n_features_to_select, float | np.floating)
    if whole and n_features_to_select >= 1:
        return min(int(n_features_to_select), n_features)
    if not whole and 0 < n_features_to_select <= 1:
        return max(1, int(n_features_to_select * n_features))
    raise UsageError(
        f"n_features_to_select is {n_features_to_select!r}; give a whole number from 1, "
        "a share above 0 and up to 1.0, or None for half."
    )


class RankingSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of selectors that keep the features with the best scores.

    A prior decides between features of equal score, and nothing else.

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
        The number of features, each scored once.
    stopped_ : str
        Why the search ended.
    """

    _allow_nan: ClassVar[bool] = False

    def __init__(self, n_features_to_select: float | None = None) -> None:
        self.n_features_to_select = n_features_to_select

    @abstractmethod
    def _score(self, X: Matrix, y: Array) -> Array:
        """Return one score per feature; X is float64, an ndarray or a csr_array."""

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        prior: Prior | ArrayLike | None = None,
        meta_features: Any = None,
    ) -> Self:
        """Score every feature of X against y.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,)
            The target.
        prior : Prior or array-like of shape (n_features,), default=None
            What is expected of each feature; decides between equal scores.
        meta_features : ignored
            Part of the selector contract.
        """
        finite = "allow-nan" if self._allow_nan else True
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite
        )
        n_to_keep(self.n_features_to_select, X.shape[1])
        expectation = as_prior(prior, X.shape[1])
        self.scores_ = self._score(csr_array(X) if issparse(X) else X, y)
        expected = None if expectation is None else expectation.expected
        self.ranking_ = ranking(self.scores_, expected=expected)
        self.n_evaluations_ = X.shape[1]
        self.stopped_ = "ranked every feature"
        return self

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        keep = n_to_keep(self.n_features_to_select, self.n_features_in_)
        mask: Array = self.ranking_ <= keep
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allow_nan
        tags.target_tags.required = True
        return tags
