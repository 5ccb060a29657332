r"""Ensemble SVM-RFE: the mean rank of a feature over eliminations on bootstrap samples.

With :math:`r_j^{(t)}` the rank of feature j on bag t of T, features are ranked by

.. math:: \bar r_j = \frac1T \sum_{t=1}^{T} r_j^{(t)}

Bootstrap samples are drawn inside each class. A sample that is drawn k times is one sample of k
times the cost: the machine is the same, and smaller.

T. Abeel, T. Helleputte, Y. Van de Peer, P. Dupont, Y. Saeys, "Robust biomarker identification for
cancer diagnosis with ensemble feature selection methods", Bioinformatics 26(3), 2010. L. Yu,
Y. Han, M. E. Berens, "Stable gene selection from microarray data via sample weighting", IEEE/ACM
Transactions on Computational Biology and Bioinformatics 9(1), 2012.
"""

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils import check_random_state

from metafs.data.parameters import check_at_least
from metafs.data.typing import Array, Matrix
from metafs_svm.svm_rfe import SVMRFE, Elimination, eliminate


def bootstrap_counts(y: Array, rng: np.random.Generator) -> Array:
    """Return how often each sample is drawn, when each class is drawn from with replacement.

    Examples
    --------
    >>> y = np.array([0, 0, 0, 1])
    >>> counts = bootstrap_counts(y, np.random.default_rng(0))
    >>> counts[y == 0].sum(), counts[y == 1].sum()
    (np.int64(3), np.int64(1))
    """
    counts = np.zeros(len(y), dtype=np.int64)
    for c in np.unique(y):
        members = np.flatnonzero(y == c)
        drawn = rng.integers(0, len(members), len(members))
        counts[members] = np.bincount(drawn, minlength=len(members))
    return counts


def eliminate_in_bag(
    X: Matrix, y: Array, C: float, seed: int, step: float, expected: Array | None
) -> Elimination:
    """Drop features on one bootstrap sample."""
    counts = bootstrap_counts(y, np.random.default_rng(seed))
    drawn = np.flatnonzero(counts)
    return eliminate(X[drawn], y[drawn], C * counts[drawn], step=step, expected=expected)


class EnsembleSVMRFE(SVMRFE):
    """Keep the features that linear SVMs on bootstrap samples give up last, on average.

    Parameters
    ----------
    n_features_to_select, C, step
        As in `SVMRFE`.
    n_estimators : int, default=20
        Number of bootstrap samples.
    n_jobs : int, default=None
        Bootstrap samples worked on at once, as in joblib; it changes nothing but the time.
    random_state : int, RandomState instance or None, default=None
        Same seed, same answer.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How many features were dropped before this one, on average.
    ranking_ : ndarray of shape (n_features,)
        1 for the best. Of equal scores, the larger expectation of a prior is the better one, then
        the earlier column.
    n_evaluations_ : int
        Support vector machines trained on all bootstrap samples together.
    stopped_ : str
        Why the eliminations ended.

    Notes
    -----
    Samples are drawn within their class, so that every bootstrap sample has every class, and as
    many of it as the data. Edge cases and priors are as in `SVMRFE`.

    Examples
    --------
    >>> X = [[0, 0, 3], [1, 0, 2], [0, 2, 3], [1, 2, 2]]
    >>> EnsembleSVMRFE(1, random_state=0).fit(X, ["a", "a", "b", "b"]).get_support()
    array([False,  True, False])
    """

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        C: float = 1.0,
        step: float = 1,
        n_estimators: int = 20,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_features_to_select, C=C, step=step)
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        check_at_least("n_estimators", self.n_estimators)

    def _eliminate(self, X: Matrix, y: Array, expected: Array | None) -> list[Elimination]:
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_estimators)
        bags = Parallel(n_jobs=self.n_jobs)(
            delayed(eliminate_in_bag)(X, y, float(self.C), int(seed), self.step, expected)
            for seed in seeds
        )
        return list(bags)
