"""Nearest neighbours that make do with fewer rows than neighbours."""

from typing import Any

from sklearn.neighbors import KNeighborsRegressor


class UpToKNeighbors(KNeighborsRegressor):  # type: ignore[misc]  # scikit-learn has no types
    """scikit-learn's regression by nearest neighbours, of which there may be fewer than asked for.

    Examples
    --------
    >>> UpToKNeighbors(n_neighbors=5).fit([[0.0], [1.0]], [2.0, 4.0]).predict([[9.0]])
    array([3.])
    """

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the neighbours of each row, at most all rows there are."""
        wanted = self.n_neighbors if n_neighbors is None else n_neighbors
        there_are = getattr(self, "n_samples_fit_", wanted) - (X is None)
        return super().kneighbors(X, min(wanted, there_are), return_distance)
