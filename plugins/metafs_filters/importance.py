"""Importance in a forest: how much each feature lowers the impurity of extremely randomised trees.

It finds features that tell something only together with others, which no measure of single features
can. Importances of correlated features share what these tell together.

P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006; the trees
are scikit-learn's.
"""

import math
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import csc_array
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from metafs.data.matrix import with_short_indices
from metafs.data.parameters import check_at_least
from metafs.data.target import holds_classes
from metafs.data.typing import Array, Matrix
from metafs.plugin.weighted_ranking import WeightedRankingSelector
from metafs.stats.magnitude import of_usual_size


class ImportanceSelector(WeightedRankingSelector):
    """Keep the features of the largest importance in extremely randomised trees.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half.
    n_trees : int, default=100
    random_state : int, RandomState instance or None, default=0

    Examples
    --------
    >>> X = [[0.0, 1.0], [0.1, 0.0], [1.0, 1.0], [1.1, 0.0]]
    >>> ImportanceSelector(1).fit(X, [0, 0, 1, 1]).get_support()
    array([ True, False])
    """

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        n_trees: int = 100,
        random_state: Any = 0,
    ) -> None:
        super().__init__(n_features_to_select)
        self.n_trees = n_trees
        self.random_state = random_state

    def expected_seconds(self, n_samples: int, n_features: int, n_outputs: int) -> float:
        """Return what a fit takes, roughly, for the automatic choice of a pipeline."""
        return 0.1 + 1.5e-6 * n_samples * math.sqrt(n_features * n_outputs)

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        check_at_least("n_trees", self.n_trees, 1)

    def _score_weighted(self, X: Matrix, y: Array, sample_weight: Array | None) -> Array:
        trees = ExtraTreesClassifier if holds_classes(y) else ExtraTreesRegressor
        forest = trees(self.n_trees, max_features="sqrt", random_state=self.random_state)
        X = of_usual_size(X)
        order = _content_order(X)
        scores = np.empty(X.shape[1])
        table = with_short_indices(X[:, order])
        scores[order] = forest.fit(table, y, sample_weight=sample_weight).feature_importances_
        return scores


def _content_order(X: Matrix) -> Array:
    """Return columns in an order of what they hold: trees draw them by position."""
    columns = csc_array(X)

    def digest(column: int) -> bytes:
        held = slice(columns.indptr[column], columns.indptr[column + 1])
        rows, values = columns.indices[held].astype(np.int64), columns.data[held]
        return blake2b(rows.tobytes() + values.tobytes()).digest()

    return np.array(sorted(range(X.shape[1]), key=digest), dtype=np.int64)
