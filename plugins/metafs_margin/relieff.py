r"""ReliefF: good features differ between near samples of different classes, not of the same.

For each of the m samples :math:`x`, of class c, the k nearest samples of its own class are its
hits H(x), and the k nearest of every other class C its misses M_C(x):

.. math:: W_j = \frac{1}{m} \sum_x w(x) \Big[ \sum_{C \neq c} \frac{P(C)}{1 - P(c)}
          \frac{1}{k} \sum_{z \in M_C(x)} diff_j(x, z) - \frac{1}{k} \sum_{z \in H(x)} diff_j(x, z)
          \Big]

with all :math:`w(x) = 1`; sample-weighted ReliefF takes those of `metafs.stats.sample_weights`.
What diff is for numbers, categories and missing values is in `metafs_margin.differences`;
neighbours are nearest by the sum of diff over all features.

I. Kononenko, "Estimating attributes: analysis and extensions of RELIEF", ECML, 1994.
M. Robnik-Šikonja, I. Kononenko, "Theoretical and empirical analysis of ReliefF and RReliefF",
Machine Learning 53, 2003.
L. Yu, Y. Han, M. E. Berens, "Stable gene selection from microarray data via sample weighting",
IEEE/ACM Transactions on Computational Biology and Bioinformatics 9(1), 2012.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from metafs.data.matrix import dense
from metafs.data.parameters import check_at_least, column_numbers
from metafs.data.typing import Array, Matrix
from metafs.plugin.ranking import RankingSelector
from metafs.stats.discretise import discretise_target
from metafs.stats.sample_weights import sample_weights
from metafs_margin.differences import Differences
from metafs_margin.k_nearest import blocks, k_nearest

_ROWS = 512  # whose scores are one unit of work
_PAIRS = 250_000  # differences of pairs worked on at once


def relieff_scores(
    X: Array,
    y: Array,
    *,
    n_neighbors: int,
    categorical: Sequence[int] = (),
    instances: Array | None = None,
    weights: Array | None = None,
    n_jobs: int | None = None,
) -> Array:
    """Return W for each column of X; y holds classes 0, 1, ...

    The sum runs over all rows or the given instances, each with its weight.
    """
    by_class = np.argsort(y, kind="stable")
    y = y[by_class]
    differences = Differences(X[by_class], y, categorical)
    chosen = np.ones(len(y), dtype=bool)
    if instances is not None:
        chosen = np.isin(by_class, instances)
    rows = np.flatnonzero(chosen)
    w = np.ones(len(rows)) if weights is None else weights[by_class[rows]]
    neighbours = k_nearest(differences.distances, X.shape[1], y, rows, n_neighbors, n_jobs=n_jobs)
    P = np.bincount(y) / len(y)

    def contribution(at: slice) -> Array:
        c = int(y[rows[at.start]])
        total = np.zeros(X.shape[1])
        for C, near in enumerate(neighbours):
            k = np.count_nonzero(near[at.start] >= 0)
            if not k:
                continue
            share = -1.0 if C == c else P[C] / (1 - P[c])
            step = max(1, _PAIRS // (k * X.shape[1]))
            for start in range(at.start, at.stop, step):
                part = slice(start, min(start + step, at.stop))
                diff = differences.of_pairs(rows[part], c, near[part, :k], C)
                total += np.repeat(w[part] * (share / k), k) @ diff.reshape(-1, X.shape[1])
        return total

    parts = Parallel(n_jobs=n_jobs, require="sharedmem")(
        delayed(contribution)(at) for at in blocks(y[rows], _ROWS)
    )
    return np.asarray(sum(parts) / len(rows))


class ReliefF(RankingSelector):
    """Keep the features that differ between near samples of different classes.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half.
    n_neighbors : int, default=10
        Hits, and misses of every other class, that each sample is compared with.
    n_instances : int, default=None
        How many samples, picked at random and none twice, are compared with their neighbours;
        None takes all, and nothing is left to chance.
    categorical_features : sequence of int, default=None
        Columns that hold codes of categories rather than amounts.
    random_state : int, RandomState instance or None, default=None
        Same seed, same answer.
    n_jobs : int, default=None
        Threads; their number does not change the answer.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Between -1 and 1.
    ranking_ : ndarray of shape (n_features,)
        1 for the best.
    n_evaluations_ : int
        The number of features, each scored once.
    stopped_ : str
        Why the search ended.

    Notes
    -----
    A class of fewer samples than neighbours asked for supplies as many as it has. A sample
    that is alone in its class has no hits, and where there is one class only there are no
    misses; that sum is then 0. Of equally distant samples the earlier row is the nearer one.
    A feature that is constant, or of which no value is known, scores 0. A numeric target is
    discretised.

    The distances of all pairs are never held at once: it takes a few times the memory of the
    table, and once more per class that of the columns with missing values.

    Examples
    --------
    >>> X = [[0.0, 5.0], [1.0, 4.0], [8.0, 5.0], [9.0, 4.0]]
    >>> ReliefF(n_neighbors=1).fit(X, ["a", "a", "b", "b"]).scores_.round(2)
    array([ 0.78, -1.  ])
    """

    _allow_nan = True

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        n_neighbors: int = 10,
        n_instances: int | None = None,
        categorical_features: Sequence[int] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(n_features_to_select)
        self.n_neighbors = n_neighbors
        self.n_instances = n_instances
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        check_at_least("n_neighbors", self.n_neighbors)
        if self.n_instances is not None:
            check_at_least("n_instances", self.n_instances)

    def _score(self, X: Matrix, y: Array) -> Array:
        X, y = dense(X, "relieff"), discretise_target(y)
        return relieff_scores(
            X,
            y,
            n_neighbors=self.n_neighbors,
            categorical=self._categorical,
            instances=self._instances(len(y)),
            weights=self._weights(X, y),
            n_jobs=self.n_jobs,
        )

    @property
    def _categorical(self) -> list[int]:
        name = "categorical_features"
        columns = column_numbers(name, self.categorical_features, self.n_features_in_)
        return [int(column) for column in columns]

    def _instances(self, m: int) -> Array | None:
        """Return the rows to compare with their neighbours, or None for all."""
        if self.n_instances is None or self.n_instances >= m:
            return None
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        return rng.choice(m, self.n_instances, replace=False)

    def _weights(self, X: Array, y: Array) -> Array | None:
        """Return a weight for each row, or None if all weigh the same."""
        return None


class SampleWeightedReliefF(ReliefF):
    """Keep the features that differ between near samples of different classes, with sample weights.

    It is `ReliefF`, with the same parameters and attributes, in which each sample has a sample
    weight: the more its margins resemble those of the other samples, the larger its weight, which
    makes the ranking more stable under resampling. Scores are not between -1 and 1.

    Notes
    -----
    As for `ReliefF`; a missing value adds nothing to the margins that decide the weights.

    Examples
    --------
    >>> X = [[0.0, 5.0], [1.0, 4.0], [8.0, 5.0], [9.0, 4.0]]
    >>> SampleWeightedReliefF(n_neighbors=1).fit(X, ["a", "a", "b", "b"]).scores_.round(2)
    array([ 0.78, -1.  ])
    """

    def _weights(self, X: Array, y: Array) -> Array | None:
        return sample_weights(X, y, categorical_features=self._categorical)
