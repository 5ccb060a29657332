"""The base of selectors that score each feature by rows that may have weights."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _num_samples

from metafs.data.row_values import fit_weights
from metafs.data.target import holds_classes
from metafs.data.typing import Array, Matrix
from metafs.plugin.prior import Prior
from metafs.plugin.ranking import RankingFromPrior


class WeightedRankingSelector(RankingFromPrior):
    """Base of selectors whose ``fit`` takes weights of rows; a prior decides between equals."""

    @abstractmethod
    def _score_weighted(self, X: Matrix, y: Array, sample_weight: Array | None) -> Array:
        """Return one score per feature; weights are above 0, None if all rows count alike."""

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        prior: Prior | ArrayLike | None = None,
        meta_features: Any = None,
        task: str = "auto",
        sample_weight: Any = None,
    ) -> Self:
        """Select features of X by what they tell of y.

        Parameters
        ----------
        X, y, prior, meta_features, task
            As for any selector; the prior decides between features of equal score.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; rows of weight 0 take no part.
        """
        named = type(self).__name__
        given = (
            None if sample_weight is None else fit_weights(sample_weight, _num_samples(X), named)
        )
        self._sample_weight: Array | None = given
        super().fit(X, y, prior=prior, meta_features=meta_features, task=task)
        del self._sample_weight
        return self

    def _score_from(self, X: Matrix, y: Array, prior: Prior | None) -> Array:
        weight = self._sample_weight
        if weight is not None and not weight.all():
            rows = np.flatnonzero(weight)
            X, y, weight = X[rows], y[rows], weight[rows]
            if holds_classes(y):
                y = np.unique(y, return_inverse=True)[1]
        return self._score_weighted(X, y, weight)
