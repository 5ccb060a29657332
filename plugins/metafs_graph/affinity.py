r"""The graph of features: edges are weighted by the spread of two features and their difference.

.. math:: a_{ij} = \alpha \max(\sigma_i, \sigma_j) + (1 - \alpha) (1 - |\rho_{ij}|)

with sigma the standard deviation over the largest one in the table, and rho Spearman's rank
correlation. The edge of a feature to itself has weight :math:`\alpha \sigma_i`. A constant feature
has no rank correlation and is not a node of the graph.
"""

from collections.abc import Callable

import numpy as np

from metafs.data.typing import Array
from metafs_graph.correlations import KEPT_BYTES, Correlations
from metafs_graph.paths import Paths, path_energies, times_larger
from metafs_graph.ranks import ranks_of


class Affinity:
    """The weights between the features of a table, for any alpha.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The table, without missing values.
    n_jobs : int, default=None
        Threads that rank columns.
    kept_bytes : int, default=KEPT_BYTES
        See `metafs_graph.correlations`.

    Attributes
    ----------
    is_node : ndarray of shape (n_features,)
        Whether a column is in the graph, that is, not constant.
    spread : ndarray, an item for each node
        Standard deviation over the largest one.
    correlations : Correlations
        Of the nodes.

    Examples
    --------
    >>> affinity = Affinity(np.array([[0.0, 3.0, 7.0], [2.0, 2.0, 7.0], [1.0, 1.0, 7.0]]))
    >>> affinity.is_node
    array([ True,  True, False])
    >>> affinity.times(0.5)(np.array([0.0, 1.0]))
    array([0.75, 0.5 ])
    """

    def __init__(
        self, X: Array, *, n_jobs: int | None = None, kept_bytes: int = KEPT_BYTES
    ) -> None:
        ranks = ranks_of(X, n_jobs=n_jobs)
        self.is_node = ranks.varies
        self.spread = ranks.spread[self.is_node]
        unit = ranks.unit if self.is_node.all() else ranks.unit[self.is_node]
        self.correlations = Correlations(unit, kept_bytes=kept_bytes)

    def times(self, alpha: float) -> Callable[[Array], Array]:
        """Return how to multiply the adjacency matrix by a vector."""
        larger_spread = times_larger(self.spread)

        def product(v: Array) -> Array:
            difference = v.sum() - self.correlations @ v
            mixed: Array = alpha * larger_spread(v) + (1 - alpha) * difference
            return mixed

        return product

    def paths(self, alpha: float, v: Array, *, decay: float = 0.9) -> Paths:
        """Return the energies of all paths from each node; one that ends in node j counts v_j."""
        if not len(self.spread):
            return Paths(np.zeros(0), 0.0, 0)
        precision = self.correlations.precision
        return path_energies(self.times(alpha), v, decay=decay, precision=precision)
