r"""Relief: features in which samples differ more from the nearest miss than from the nearest hit.

.. math:: w_i \leftarrow w_i + (x_i - \mathrm{nearmiss}(x)_i)^2 - (x_i - \mathrm{nearhit}(x)_i)^2

for T samples x, with nearest neighbours in the Euclidean distance over all features. Each step
points up the slope of the margin; the distances never take account of the weights.

R. Gilad-Bachrach, A. Navot, N. Tishby, "Margin based feature selection - theory and algorithms",
ICML 2004, algorithm 3, after K. Kira, L. Rendell, "A practical approach to feature selection",
Proc. 9th International Workshop on Machine Learning, 1992.

The chosen features are those with :math:`w_i > \tau`. Of a feature whose differences do not depend
on the class, :math:`w_i` has mean 0, and the change of one step lies between :math:`-R_i^2` and
:math:`R_i^2` for a feature of range :math:`R_i`. By Chebyshev's inequality such a feature is chosen
with a probability of at most :math:`\alpha` if

.. math:: \tau_i = R_i^2 \sqrt{T / \alpha}

which is Kira and Rendell's :math:`1 / \sqrt{\alpha T}` for means of features from 0 to 1. It
assumes independent steps, and is far from tight.

Samples are picked by random permutations of the rows, as in the authors' experiment (section 5.2):
with as many steps as rows, chance has no part.
"""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from metafs.data.matrix import dense
from metafs.data.parameters import check_at_least, check_between
from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.plugin.ranking import RankingSelector
from metafs.stats.discretise import discretise_target
from metafs_margin.nearest import Groups, check_scale

_CELLS = 2**20  # differences worked on at once


def picks(rng: np.random.Generator, n_steps: int, n_samples: int) -> Array:
    """Return the sample of each step: random permutations of all, one after the other."""
    rounds = [rng.permutation(n_samples) for _ in range(-(-n_steps // n_samples))]
    return np.concatenate(rounds)[:n_steps]


def relief_weights(X: Array, y: Array, times: Array) -> Array:
    """Return w after each sample was picked so many times; y holds classes 0, 1, ..."""
    groups = Groups(y)
    X, times = X[groups.rows], times[groups.rows]
    asked = np.flatnonzero(times)
    hit, miss = groups.nearest(X, queries=asked)
    both = (hit >= 0) & (miss >= 0)
    asked, hit, miss = asked[both], hit[both], miss[both]
    w = np.zeros(X.shape[1])
    step = max(1, _CELLS // X.shape[1])
    for start in range(0, len(asked), step):
        part = slice(start, start + step)
        x, share = X[asked[part]], times[asked[part]].astype(np.float64)
        change = (x - X[miss[part]]) ** 2 - (x - X[hit[part]]) ** 2
        w += np.einsum("i,ij->j", share, change)
    return w


def by_chebyshev(ranges: Array, n_steps: int, alpha: float) -> Array:
    """Return the weight above which an irrelevant feature is with probability alpha at most.

    Examples
    --------
    >>> by_chebyshev(np.array([1.0, 2.0]), n_steps=100, alpha=0.25)
    array([20., 80.])
    """
    return np.asarray(ranges**2 * np.sqrt(n_steps / alpha))


class Relief(RankingSelector):
    """Keep the features that differ more between near misses than between near hits.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half.
    n_steps : int, default=None
        How many samples to pick (the paper's T), by random permutations of all. None picks each
        of them once, and nothing is left to chance.
    threshold : float or "auto", default=None
        Keep the features whose weight is above this (the paper's tau) instead of a number of them;
        "auto" is the threshold by Chebyshev's inequality. If none is above it, the best is kept.
    alpha : float, default=0.05
        The probability with which "auto" may keep a feature that has nothing to do with the target.
    random_state : int, RandomState instance or None, default=None
        Which samples are picked, where n_steps is given.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The weights w, a sum over the steps.
    ranking_ : ndarray of shape (n_features,)
        1 for the best.
    threshold_ : ndarray of shape (n_features,) or None
        The threshold of each feature, where one was asked for.
    n_evaluations_ : int
        The number of steps.
    stopped_ : str
        Why the search ended.

    Notes
    -----
    Of several classes the nearest miss is the nearest sample of any other; of equally near ones
    the earlier row counts. A sample that is alone in its class adds nothing, and with one class
    all scores are 0. A numeric target is discretised. Differences are squared and distances
    Euclidean: give features comparable scales.

    Examples
    --------
    >>> X = [[0.0, 5.0], [1.0, 4.0], [8.0, 5.0], [9.0, 4.0]]
    >>> Relief().fit(X, ["a", "a", "b", "b"]).scores_
    array([222.,  -2.])
    """

    def __init__(
        self,
        n_features_to_select: float | None = None,
        *,
        n_steps: int | None = None,
        threshold: float | str | None = None,
        alpha: float = 0.05,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_features_to_select)
        self.n_steps = n_steps
        self.threshold = threshold
        self.alpha = alpha
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        if self.n_steps is not None:
            check_at_least("n_steps", self.n_steps)
        check_between("alpha", self.alpha, 0, 1)
        number = isinstance(self.threshold, Real) and np.isfinite(float(self.threshold))
        if self.threshold not in (None, "auto") and not number:
            raise UsageError(f"threshold is {self.threshold!r}; give a number, or 'auto'.")
        if self.threshold is not None and self.n_features_to_select is not None:
            raise UsageError("give a threshold or n_features_to_select, not both.")

    def _score(self, X: Matrix, y: Array) -> Array:
        check_scale(X, "relief")
        n_samples = X.shape[0]
        times = np.ones(n_samples, dtype=np.int64)
        if self.n_steps is not None:
            seed = check_random_state(self.random_state).randint(2**31 - 1)
            chosen = picks(np.random.default_rng(seed), self.n_steps, n_samples)
            times = np.bincount(chosen, minlength=n_samples)
        self.n_evaluations_ = int(times.sum())
        self.stopped_ = f"took {self.n_evaluations_} steps"
        X = dense(X, "relief")
        self.threshold_ = self._thresholds(X)
        w = relief_weights(X, discretise_target(y), times)
        if self.threshold_ is not None and not (w > self.threshold_).any():
            self.stopped_ += "; no feature is above the threshold, so the best is kept"
        return w

    def _thresholds(self, X: Array) -> Array | None:
        if self.threshold is None:
            return None
        if self.threshold == "auto":
            return by_chebyshev(np.ptp(X, axis=0), self.n_evaluations_, self.alpha)
        return np.full(X.shape[1], float(self.threshold))

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        if self.threshold_ is None:
            return super()._get_support_mask()
        above: Array = self.scores_ > self.threshold_
        return above if above.any() else self.ranking_ == 1
