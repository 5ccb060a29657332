"""Scaling to unit variance that centres dense columns and keeps sparse ones sparse."""

from typing import Any, Self

from scipy.sparse import issparse
from sklearn.preprocessing import StandardScaler

from metafs.data.typing import Array


class Standardise(StandardScaler):  # type: ignore[misc]  # scikit-learn has no types
    """Scale columns to unit variance; columns of a dense matrix are centred too.

    Years or dates in seconds are far from zero beside their spread. Solvers of linear models that
    are given them as they are end before the intercept has made up for it. What is done with the
    rows that it is fitted to is done with later ones, sparse or dense.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> Standardise().fit_transform([[2024.0], [2026.0]]).tolist()
    [[-1.0], [1.0]]
    >>> Standardise().fit_transform(csr_array([[0.0], [2.0]])).toarray().tolist()
    [[0.0], [2.0]]
    """

    def __init__(self) -> None:
        super().__init__(with_mean=False)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn means and spreads, and whether columns are to be centred."""
        self.centres_ = not issparse(X)
        super().partial_fit(X, y, sample_weight)
        return self

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """Return the columns per standard deviation, from their mean if they are centred."""
        if not self.centres_:
            return super().transform(X, copy)
        values: Array = super().transform(X.toarray() if issparse(X) else X, copy)
        return values - (self.mean_ / self.scale_).astype(values.dtype)
