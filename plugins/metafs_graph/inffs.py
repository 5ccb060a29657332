r"""Infinite feature selection: a set of features is a path through the graph of features.

.. math:: \check s = \left( (I - rA)^{-1} - I \right) e
          = \sum_{l=1}^{\infty} r^l A^l e, \qquad r = 0.9 / \rho(A)

The score of a feature is the energy of all paths that begin at it, of any length; the graph A
is that of `metafs_graph.affinity`. Classes have no part in this. They enter only when alpha
or the number of features is left to cross-validation.

A prior personalises the sum, as in Katz' index of status and in personalised PageRank: paths
that end in an expected feature count more, the path of length zero among them,

.. math:: s = (I - rA)^{-1} v - e, \qquad v_j = (1 + p_j) \big/ \tfrac1n \textstyle\sum_i (1 + p_i)

which for equal expectations is the sum above. An expected feature counts at most twice as
much as one of which nothing is expected, so that a wrong prior cannot do away with the data.

Subtracting v instead of e would raise the features that differ from an expected one more than that
one itself.

G. Roffo, S. Melzi, M. Cristani, "Infinite Feature Selection", ICCV, 2015, procedure 1; alpha is 0.2
by default, the best mix of section 4.7. A constant feature scores 0 and ranks last: with a
correlation of 0 it would be the least redundant feature of all. PyIFS computes something else
(signed correlations, min-max spreads, alpha on the other term).
"""

from collections.abc import Iterator, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import check_cv
from sklearn.utils.validation import _num_samples, check_is_fitted

from metafs.data.matrix import dense
from metafs.data.parameters import check_between
from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.plugin.prior import Prior
from metafs.plugin.ranking import n_to_keep, ranking
from metafs.plugin.selector import BaseSelector
from metafs.stats.scorers import scorer_named
from metafs_graph.affinity import Affinity
from metafs_graph.choice import fold_scores

ALPHA = 0.2
"""The best mix of spread and difference in section 4.7 of the paper."""

ALPHAS = tuple(np.linspace(0, 1, 11).round(1).tolist())


def personalisation(expected: Array) -> Array:
    """Return how much a path that ends in each feature counts: positive, one on average.

    Examples
    --------
    >>> personalisation(np.array([1.0, 0.0, 0.5]))
    array([1.33333333, 0.66666667, 1.        ])
    """
    v = 1.0 + expected
    return np.asarray(v / v.mean())


def inffs_scores(
    affinity: Affinity,
    alpha: float = ALPHA,
    *,
    decay: float = 0.9,
    expected: Array | None = None,
) -> tuple[Array, float]:
    """Return the score of every feature, zero for a constant one, and the spectral radius.

    Examples
    --------
    >>> affinity = Affinity(np.array([[0.0, 1.0, 7.0], [1.0, 0.0, 7.0]]))
    >>> inffs_scores(affinity, alpha=1.0)[0]
    array([9., 9., 0.])
    """
    is_node = affinity.is_node
    v = np.ones(len(affinity.spread)) if expected is None else personalisation(expected[is_node])
    paths = affinity.paths(alpha, v, decay=decay)
    scores = np.zeros(len(is_node))
    scores[is_node] = paths.energies - 1.0
    return scores, paths.spectral_radius


class InfFS(BaseSelector):
    """Keep the features with the largest spread and the least redundancy.

    Parameters
    ----------
    n_features_to_select : int, float or "cv", default=None
        How many features to keep, or which share of them; None keeps half; "cv" keeps as many
        as let the learner score best.
    alpha : float or "cv", default=0.2
        The weight of spread against difference, from 0 to 1; "cv" takes the one from
        ``alphas`` with which the learner scores best.
    decay : float, default=0.9
        How much a path loses with each step, relative to the spectral radius; below 1.
    learner : classifier or regressor, default=None
        Used where something is left to cross-validation; None is a linear SVM behind scaling.
        One that chooses its own settings, as ``GridSearchCV`` does, chooses them in each fold.
    cv : int or splitter of scikit-learn, default=5
        The folds; fewer of them if a class has fewer samples.
    scoring : str or callable, default=None
        A scorer of scikit-learn; None is the learner's own score.
    alphas : sequence of float, default=None
        What "cv" tries as alpha; None is 0, 0.1, ..., 1.
    sizes : sequence of int or float, default=None
        What "cv" tries as number of features, or as share of them; None is ten numbers from 1
        to all features, in geometric progression.
    n_jobs : int, default=None
        Threads that rank columns; the answer does not depend on them.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Energy of all paths that begin at each feature.
    ranking_ : ndarray of shape (n_features,)
        1 for the best; constant features come last.
    alpha_ : float
        The alpha used.
    n_features_ : int
        The number of features kept.
    spectral_radius_ : float
        Of the graph; 0 where nothing joins its features.
    cv_scores_ : ndarray of shape (n_alphas, n_sizes) or None
        Mean score of the learner over the folds, where something was left to them.
    n_evaluations_ : int
        One for each feature, and one for each fit of the learner.
    stopped_ : str
        Why the search ended.

    Notes
    -----
    The ranking does not look at the target, and ``fit(X)`` is enough unless something is left
    to cross-validation. There, the ranking is made anew from the training rows of each fold,
    and a numeric target is discretised unless the learner is a regressor. Among equally good
    choices the fewest features win, then the smallest alpha.

    Spread is compared as it is: bring features of different units to one scale before.

    A constant feature has no rank correlation: it is left out of the graph, scores 0 and ranks
    below all others. Missing values are refused.

    Sparse input is made dense, as ranks are. Memory is that of the ranks and of at most 1 GB
    of correlations; see `metafs_graph.correlations`. Scores are those of the inverse to
    about ten digits, and to about seven beyond 16,000 features.

    Examples
    --------
    >>> X = [[1, 2, 9], [2, 4, 3], [3, 6, 5], [4, 8, 8], [5, 10, 1]]
    >>> selector = InfFS(1).fit(X)
    >>> selector.scores_.round(2)
    array([ 7.67,  8.4 , 10.47])
    >>> selector.get_support()
    array([False, False,  True])
    """

    def __init__(
        self,
        n_features_to_select: Any = None,
        *,
        alpha: Any = ALPHA,
        decay: float = 0.9,
        learner: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        alphas: Sequence[float] | None = None,
        sizes: Sequence[float] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.decay = decay
        self.learner = learner
        self.cv = cv
        self.scoring = scoring
        self.alphas = alphas
        self.sizes = sizes
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        prior: Prior | ArrayLike | None = None,
        meta_features: Any = None,
        task: str = "auto",
    ) -> Self:
        """Rank the features of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,), default=None
            The target, looked at only by cross-validation.
        prior : Prior or array-like of shape (n_features,), default=None
            What is expected of each feature; None is the method as published.
        meta_features : ignored
            Part of the selector contract.
        task : {"auto", "classes", "numbers"}, default="auto"
            What y holds; `metafs.data.target` decides it for "auto".
        """
        if y is None:
            if self._by_cross_validation:
                raise UsageError("inffs needs a target for cross-validation: give y to fit.")
            y = np.zeros(_num_samples(X))
        return super().fit(X, y, prior=prior, meta_features=meta_features, task=task)

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        self._candidates(1)
        check_cv(self.cv)
        if isinstance(self.scoring, str):
            scorer_named(self.scoring)

    def _fit(self, X: Matrix, y: Array, prior: Prior | None) -> None:
        alphas, sizes = self._candidates(X.shape[1])
        X = dense(X, "inffs")
        expected = None if prior is None else prior.expected
        self.n_evaluations_ = X.shape[1]
        self.stopped_ = "ranked every feature"
        self.cv_scores_ = None
        best = 0, 0
        if self._by_cross_validation:
            tried = fold_scores(
                X,
                y,
                lambda X: [ranks for ranks, *_ in self._rankings(X, alphas, expected)],
                sizes,
                learner=self.learner,
                cv=self.cv,
                scoring=self.scoring,
            )
            self.cv_scores_ = tried.mean(axis=0)
            self.n_evaluations_ += tried.size
            self.stopped_ += ", alpha and number by cross-validation"
            # Row by row of the transposed table: the fewest features, then the smallest alpha.
            best = np.unravel_index(self.cv_scores_.T.argmax(), self.cv_scores_.T.shape)
        self.n_features_, self.alpha_ = sizes[best[0]], alphas[best[1]]
        (found,) = self._rankings(X, [self.alpha_], expected)
        self.ranking_, self.scores_, self.spectral_radius_ = found

    @property
    def _by_cross_validation(self) -> bool:
        return "cv" in (self.alpha, self.n_features_to_select)

    def _rankings(
        self, X: Array, alphas: Sequence[float], expected: Array | None
    ) -> Iterator[tuple[Array, Array, float]]:
        """Yield ranking, scores and spectral radius for each alpha."""
        affinity = Affinity(X, n_jobs=self.n_jobs)
        for alpha in alphas:
            scores, radius = inffs_scores(affinity, alpha, decay=self.decay, expected=expected)
            yield ranking(scores, first=affinity.is_node, expected=expected), scores, radius

    def _candidates(self, n_features: int) -> tuple[list[float], list[int]]:
        """Return the alphas and the numbers of features to choose from, often one each."""
        alphas = [self.alpha]
        if self.alpha == "cv":
            alphas = sorted(ALPHAS if self.alphas is None else self.alphas)
        if not alphas or not all(isinstance(a, Real) and 0 <= float(a) <= 1 for a in alphas):
            raise UsageError(f"alpha is {self.alpha!r}; give a number from 0 to 1, or 'cv'.")
        check_between("decay", self.decay, 0, 1)
        if self.n_features_to_select != "cv":
            return alphas, [n_to_keep(self.n_features_to_select, n_features)]
        sizes = self.sizes
        if sizes is None:
            sizes = np.geomspace(1, n_features, 10).round().astype(int).tolist()
        if not len(sizes):
            raise UsageError("sizes is empty; give numbers of features to choose from, or None.")
        return alphas, sorted({n_to_keep(size, n_features) for size in sizes})

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        mask: Array = self.ranking_ <= self.n_features_
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags
