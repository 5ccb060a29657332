r"""Shrunk quality: what few labels show of a feature, weighed against what memory knows of it.

With 5 labels a class the best of thousands of features owe their measured quality to chance.
Memory knows how each did in other problems, and the measured quality is shrunk towards what that
lets expect, the more the noisier it is (`metafs.stats.shrinkage`, with the equations). The
more labels, the less memory counts.

Here the estimate of a feature's true quality is what is optimised, and a prior is evidence on it;
without a prior it is the measured quality. Neighbours are heard on the classes they know, and
the selection is class-balanced (`metafs_filters.class_association`). Few labels cannot tell the
nearest problem from the next ones, so 20 neighbours serve better than 5.

What is expected of a feature is what it told by itself in near problems (`Prior.relevance`),
whichever selector worked there; of memories that keep no such thing, what was selected.
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
    """Keep the features of the best quality, as few labels and a long memory tell it together.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half.
    quality : callable, default=None
        A measure of single features, ``quality(X, y)``, which grows with the square of an effect;
        None takes the information gain.
    noise_inflation : float, default=2.5
        How many times larger than on its own the scatter of a measured effect is taken for, and
        how many standard deviations memory may take from it.
    n_draws : int, default=10
        How often the target is permuted to learn what chance alone measures.
    balance : bool, default=True
        Whether the classes choose in turn, so that what the selected features say together is for
        none of them; else the best features are kept, whichever class they speak for.
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
        The weight of what was measured against what was expected, between 0 and 1.
    class_association_ : ndarray of shape (n_classes, n_features)
        How far each feature speaks for each class, in units of what chance does.
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
            expected, sources = prior.relevance, prior.speakers
        evidence = expected_by_class(expected, sources, self.class_association_)
        found = shrink(self.measured_, noise, evidence, noise_inflation=noise_inflation)
        self.expected_, self.weight_ = found.expected, found.weight
        return found.quality
