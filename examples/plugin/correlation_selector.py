r"""Correlation: how closely a feature follows the target.

.. math:: r_j = |cov(X_j, Y)| / (\sigma_{X_j} \sigma_Y)
"""

import numpy as np

from metafs.data.typing import Array, Matrix
from metafs.plugin import Measure, RankingSelector, Selector, hookimpl

METAFS_API = 1


def absolute_correlations(X: Matrix, y: Array) -> Array:
    """Return |r| for each column of X, dense or sparse; a constant column scores zero."""
    y = np.unique(y, return_inverse=True)[1] if y.dtype.kind not in "fiu" else y
    y = y - y.mean()
    means = X.mean(axis=0)
    variances = np.clip((X**2).mean(axis=0) - means**2, 0.0, None)
    scale = np.sqrt(variances * (y**2).mean())
    covariances = np.abs(X.T @ y) / len(y)
    constant = scale < 1e-12
    correlations: Array = np.where(constant, 0.0, covariances / np.where(constant, 1.0, scale))
    return correlations


class CorrelationSelector(RankingSelector):
    """Keep the features most correlated with the target."""

    def _score(self, X: Matrix, y: Array) -> Array:
        return absolute_correlations(X, y)

    def expected_seconds(self, n_samples: int, n_features: int, n_outputs: int) -> float:
        """Return what a fit takes, roughly: so the automatic choice tries this ranking too."""
        return 1e-8 * n_samples * n_features


@hookimpl
def metafs_selectors() -> dict[str, Selector]:
    """Offer the selector under its public name."""
    return {"correlation": CorrelationSelector()}


@hookimpl
def metafs_measures() -> dict[str, Measure]:
    """Offer the measure as well: a function of X and y."""
    return {"correlation": absolute_correlations}
