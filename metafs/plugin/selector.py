"""The common half of every selector: what it takes, how that is validated, its tags.

A subclass supplies ``_fit(X, y, prior)``, which sets ``support_`` unless the subclass has a
``_get_support_mask()`` of its own; one that scores features by their properties supplies
``_fit_described(X, y, prior, meta_features)`` instead; one with parameters of its own says in
``check_parameters()`` which values make no sense.
`metafs.plugin.ranking` has the base of those that rank; a selector that searches derives from
`BaseSelector` itself.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from metafs.data.checks import check_known, checked_meta_features
from metafs.data.parameters import check_common
from metafs.data.target import settled
from metafs.data.typing import Array, Matrix
from metafs.plugin.prior import Prior, as_prior


class BaseSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base of selectors that take dense, sparse and data frames, and a prior.

    ``_allow_nan`` says whether missing values are taken as they are or refused.
    """

    _allow_nan: ClassVar[bool] = False

    def check_parameters(self) -> None:
        """Refuse, by a `UsageError`, parameters that are wrong whatever the data.

        It is asked before a stream of problems begins, and by ``fit``. What is wrong for some
        tables only is for ``fit`` to refuse.
        """
        check_common(self.get_params(deep=False))

    @abstractmethod
    def _fit(self, X: Matrix, y: Array, prior: Prior | None) -> None:
        """Select; X is float64, an ndarray or a csr_array.

        y holds codes of classes, as int64, or numbers, as float64. The mask of what was selected
        goes to ``support_``.
        """

    def _fit_described(
        self, X: Matrix, y: Array, prior: Prior | None, meta_features: Array | None
    ) -> None:
        """Select, knowing properties of the features: float64 (n_features, k), NaN for unknown."""
        self._fit(X, y, prior)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        prior: Prior | ArrayLike | None = None,
        meta_features: Any = None,
        task: str = "auto",
    ) -> Self:
        """Select features of X that are relevant to y.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,)
            The target: classes, or numbers, which are discretised.
        prior : Prior or array-like of shape (n_features,), default=None
            What is expected of each feature; None is the method as published.
        meta_features : array-like of shape (n_features, k), default=None
            Properties of the features, NaN where unknown; only methods that score features by
            their properties look at them.
        task : {"auto", "classes", "numbers"}, default="auto"
            What y holds; `metafs.data.target` decides it for "auto".
        """
        self.check_parameters()
        with np.errstate(invalid="ignore"):  # scikit-learn's sum of the largest numbers there are
            X, y = validate_data(
                self, X, y, accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan"
            )
        if not self._allow_nan:
            check_known(X, type(self).__name__)
        described, _ = checked_meta_features(meta_features, (), X.shape[1], type(self).__name__)
        table = csr_array(X) if issparse(X) else X
        y = settled(y, task, where=type(self).__name__)
        self._fit_described(table, y, as_prior(prior, X.shape[1]), described)
        return self

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        mask: Array = self.support_
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allow_nan
        tags.target_tags.required = True
        return tags
