r"""Correlation: how closely a feature follows the target.

.. math:: r_j = |cov(X_j, Y)| / (\sigma_{X_j} \sigma_Y)
"""

import numpy as np

from metafs.plugin.hookspecs import hookimpl
from metafs.plugin.ranking import RankingSelector


def absolute_correlations(X, y):
    """Return |r| for each column of X, dense or sparse; a constant column scores zero."""
    y = np.unique(y, return_inverse=True)[1] if y.dtype.kind not in "fiu" else y
    y = y - y.mean()
    means = X.mean(axis=0)
    variances = np.clip((X**2).mean(axis=0) - means**2, 0.0, None)
    scale = np.sqrt(variances * (y**2).mean())
    covariances = np.abs(X.T @ y) / len(y)
    return np.divide(covariances, scale, out=np.zeros_like(scale), where=scale > 1e-12)


class CorrelationSelector(RankingSelector):
    """Keep the features most correlated with the target."""

    def _score(self, X, y):
        return absolute_correlations(X, y)


@hookimpl
def metafs_selectors():
    """Offer the selector under its public name."""
    return {"correlation": CorrelationSelector()}


@hookimpl
def metafs_measures():
    """Offer the measure as well: a function of X and y."""
    return {"correlation": absolute_correlations}
