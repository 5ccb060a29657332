r"""newplugin: keep the features of which the target explains the largest share of variance.

.. math:: S_j = \sum_c n_c (\mu_{cj} - \mu_j)^2 \big/ \sum_i (x_{ij} - \mu_j)^2

for classes c, and the squared correlation for a numeric target. This is a working example: write
your own formula here and in `explained_shares`, and keep the rest. A selector that scores features
starting from what memory expects derives from `metafs.plugin.RankingFromPrior` instead, and one
that searches sets from `metafs.plugin.BaseSelector`.
"""

import numpy as np

from metafs.data.target import holds_classes
from metafs.data.typing import Array, Matrix
from metafs.plugin import RankingSelector, Selector, hookimpl

METAFS_API = 1


def explained_shares(X: Matrix, y: Array) -> Array:
    """Return S for each column of X, dense or CSR; a constant column scores zero.

    Examples
    --------
    >>> explained_shares(np.array([[0.0, 5.0], [0.0, 4.0], [1.0, 5.0]]), np.array([0, 0, 1]))
    array([1.  , 0.25])
    """
    mean = X.mean(axis=0)
    variance = np.clip((X**2).mean(axis=0) - mean**2, 0.0, None)
    if holds_classes(y):
        explained = np.zeros(X.shape[1])
        for c in np.unique(y):
            explained += np.mean(y == c) * (X[y == c].mean(axis=0) - mean) ** 2
    else:
        covariance = X.T @ (y - y.mean()) / len(y)
        explained = covariance**2 / max(float(y.var()), 1e-300)
    varies = variance > 1e-12 * mean**2
    shares: Array = np.where(varies, explained / np.where(varies, variance, 1.0), 0.0)
    return shares


class NewPluginSelector(RankingSelector):
    """Keep the features of which the target explains most.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half.
    """

    def _score(self, X: Matrix, y: Array) -> Array:
        return explained_shares(X, y)


@hookimpl
def metafs_selectors() -> dict[str, Selector]:
    """Offer the selector under its public name."""
    return {"newplugin": NewPluginSelector()}
