r"""Shrunk quality: measured quality combined with what memory expects, for few labels.

With 5 labels a class, the features that measure best among thousands do so by chance. Memory knows
the quality of features in other problems, and the measured quality is shrunk towards what that
suggests, the noisier the more (`metafs.stats.shrinkage` has the equations). With more labels,
memory has less weight.

Here the estimate of a feature's true quality is optimised, and a prior is evidence about it;
without a prior it is the measured quality. Neighbours are weighted by the classes they share, and
the selection is class-balanced (`metafs_filters.class_association`). With few labels the nearest
problem is uncertain, so 20 neighbours are better than 5. The next feature is the best one of the
class with the least association so far, so `ranking_` does not follow `scores_` alone.

The expectation of a feature is its univariate relevance in similar problems (`Prior.relevance`),
whatever selector was used there, or how often it was selected if memory has no relevance.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from metafs.data.parameters import check_at_least, check_between
from metafs.data.typing import Array, Matrix
from metafs.plugin.measures import check_quality
from metafs.plugin.prior import Prior
from metafs.plugin.ranking import RankingFromPrior
from metafs.stats.discretise import categories_of
from metafs.stats.shrinkage import NOISE_INFLATION, chance_quality, shrink
from metafs_filters.class_association import class_associations, class_balanced, expected_by_class
from metafs_filters.infogain import InfoGain


class ShrunkSelector(RankingFromPrior):
    """Keep the features of the best quality, estimated from few labels and from memory.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half.
    quality : callable, default=None
        A measure of single features, ``quality(X, y)``, which grows with the square of an effect;
        None takes the information gain.
    noise_inflation : float, default=2.5
        The factor by which the standard deviation of a measured effect is inflated, and the
        number of standard deviations by which memory may shrink it at most.
    n_draws : int, default=10
        How often the target is permuted to estimate the noise.
    balance : bool, default=True
        Whether the selection is class-balanced; otherwise the best features are kept, whatever
        class they are associated with.
    categorical_features : sequence of int, default=None
        Columns that hold codes 0, 1, ... of categories rather than amounts; for information gain.
    random_state : int, RandomState instance or None, default=0
        How the target is permuted.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Shrunk quality, in the unit of the measured one.
    measured_ : ndarray of shape (n_features,)
        The quality as measured.
    expected_ : ndarray of shape (n_features,) or None
        What memory expects, in the same unit; None without a prior.
    weight_ : ndarray of shape (n_features,)
        The weight of the measured against the expected quality, between 0 and 1.
    class_association_ : ndarray of shape (n_classes, n_features)
        Association of each feature with each class, with variance 1 by chance.
    ranking_ : ndarray of shape (n_features,)
        1 for the first to be kept.
    n_evaluations_ : int
        How many qualities were measured: one for each feature, and with a prior also one for each
        feature and permutation.
    stopped_ : str
        Why the search ended.

    Examples
    --------
    Two features split four rows equally well; memory knows the second.

    >>> X = [[0, 0, 3], [0, 0, 4], [1, 1, 3], [1, 1, 4]]
    >>> selector = ShrunkSelector(1).fit(X, ["a", "a", "b", "b"], prior=[0.0, 0.9, 0.0])
    >>> selector.get_support()
    array([False,  True, False])
    """

    _allow_nan = True

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        quality: Callable[[Any, Any], Array] | None = None,
        noise_inflation: float = NOISE_INFLATION,
        n_draws: int = 10,
        balance: bool = True,
        categorical_features: Sequence[int] | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(n_features_to_select)
        self.quality = quality
        self.noise_inflation = noise_inflation
        self.n_draws = n_draws
        self.balance = balance
        self.categorical_features = categorical_features
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        check_between("noise_inflation", self.noise_inflation)
        check_at_least("n_draws", self.n_draws, 2)
        check_quality(self.quality)

    def _measure(self, X: Matrix) -> Callable[[Any, Any], Array]:
        measure = InfoGain() if self.quality is None else self.quality
        if isinstance(measure, InfoGain):
            return partial(measure, categories=categories_of(X, self.categorical_features))
        return measure

    def _fit(self, X: Matrix, y: Array, prior: Prior | None) -> None:
        self.class_association_ = class_associations(X, y)
        super()._fit(X, y, prior)
        if self.balance:
            order = class_balanced(np.argsort(self.ranking_), self.class_association_)
            self.ranking_[order] = np.arange(1, len(order) + 1)

    def _score_from(self, X: Matrix, y: Array, prior: Prior | None) -> Array:
        measure = self._measure(X)
        self.measured_ = np.asarray(measure(X, y), dtype=np.float64)
        if prior is None:
            self.expected_, self.weight_ = None, np.ones(X.shape[1])
            return self.measured_
        seed = int(check_random_state(self.random_state).randint(2**31))
        noise = chance_quality(X, y, measure, n_draws=self.n_draws, random_state=seed)
        self.n_evaluations_ = X.shape[1] * (1 + self.n_draws)
        noise_inflation = min(self.noise_inflation, 1.0) if prior.doubtful else self.noise_inflation
        if prior.relevance is None:
            expected, sources = prior.expected, prior.sources
        else:
            expected, sources = prior.relevance, prior.relevance_sources
        evidence = expected_by_class(expected, sources, self.class_association_)
        found = shrink(self.measured_, noise, evidence, noise_inflation=noise_inflation)
        self.expected_, self.weight_ = found.expected, found.weight
        return found.quality
