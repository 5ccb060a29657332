r"""SVM-RFE: train a linear support vector machine, drop the weakest feature, begin again.

With the weights :math:`w_k` of the machines (one for two classes, else one per class), each round
drops the features with the smallest

.. math:: c_j = \sum_k w_{kj}^2

of those that are left; the last one left is the best.

I. Guyon, J. Weston, S. Barnhill, V. Vapnik, "Gene selection for cancer classification using
support vector machines", Machine Learning 46, 2002.

The machine is that of scikit-learn's LinearSVC: squared hinge loss, the intercept regularised with
the weights. The paper's plain hinge has no unique optimum; this one is reached exactly after each
dropped feature, and ranks can be checked against scikit-learn's RFE. Features are ranked to the
last one, whatever is kept. With a prior, features of which nothing is expected are dropped as soon
as their squared weight is among the weakest tenth, which saves machines and hardly changes ranks; a
high expectation protects no feature.
"""

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.plugin.prior import Prior
from metafs.plugin.ranking import RankingFromPrior
from metafs.stats.discretise import discretise_target
from metafs_svm.linear_svm import LinearSVMs

TIE = 1e-9
"""Squared weights that differ by this share of themselves are equal."""

NOISE = 1e-22
"""Squared weights below this share of the largest are what rounding leaves of zero."""

EARLY = 0.1
"""With a prior, what is not expected goes as soon as its importance is among this share."""

ONE_CLASS = "one class only, nothing to separate"


def check_cost(C: float) -> None:
    """Refuse a cost that is not positive and finite."""
    if not (isinstance(C, Real) and 0 < C < np.inf):
        raise UsageError(f"C is {C!r}; give a positive number.")


def check_step(step: float) -> None:
    """Refuse a step that drops no feature, or all of them."""
    if not (isinstance(step, Integral) and step >= 1) and not (
        isinstance(step, Real) and 0 < step < 1
    ):
        raise UsageError(
            f"step is {step!r}; give a whole number from 1, or a share between 0 and 1."
        )


def weakest_first(importance: Array, count: int, expected: Array | None = None) -> Array:
    """Return which features are the weakest, the weakest of all first.

    Of equals, the one of which less is expected is the weaker, then the later one.

    Examples
    --------
    >>> weakest_first(np.array([0.5, 0.1, 0.1]), 2)
    array([2, 1])
    >>> weakest_first(np.array([0.5, 0.1, 0.1]), 1, expected=np.array([0, 0, 0.9]))
    array([1])
    """
    noise = NOISE * importance[importance.argmax()]
    nth = importance.argmin() if count == 1 else np.argpartition(importance, count - 1)[count - 1]
    cut = importance[nth]
    near = np.flatnonzero(importance <= (1 + TIE) * cut + noise)
    if len(near) == 1:
        return near
    near = near[np.argsort(importance[near])]
    values = importance[near]
    level = np.concatenate([[0], np.cumsum(np.diff(values) > TIE * values[:-1] + noise)])
    hope = np.zeros(len(near)) if expected is None else expected[near]
    return near[np.lexsort((-near, hope, level))[:count]]


@dataclass(frozen=True)
class Elimination:
    """What became of the features: the order in which they went, and what it took."""

    order: Array
    """(n_features,): the first to go first, the last left last."""
    n_svms: int
    """Machines trained."""

    @property
    def survived(self) -> Array:
        """For each feature, how many went before it."""
        before = np.empty(len(self.order))
        before[self.order] = np.arange(len(self.order))
        return before


def eliminate(
    X: Matrix, y: Array, costs: Array, *, step: float = 1, expected: Array | None = None
) -> Elimination:
    """Drop features until one is left.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The table.
    y : ndarray of shape (n_samples,)
        Classes 0, 1, ..., at least two of them.
    costs : ndarray of shape (n_samples,)
        C of each sample.
    step : int or float, default=1
        Features to drop in a round, or which share of those left.
    expected : ndarray of shape (n_features,), default=None
        What is expected of each feature. If anything is, the features of which nothing is go as
        soon as their importance is among the weakest tenth.
    """
    if expected is not None and not expected.any():
        expected = None
    svms = LinearSVMs(X, y, costs)
    gone: list[Array] = []
    n_svms = 0
    while len(left := svms.features) > 1:
        importance = svms.squared_weights()
        n_svms += len(svms.machines)
        count = int(step) if step >= 1 else max(1, int(step * len(left)))
        count = min(count, len(left) - 1)
        if expected is None:
            weakest = weakest_first(importance, count)
        else:
            order = weakest_first(importance, len(left), expected[left])
            early = (expected[left] == 0) & (importance < np.quantile(importance, EARLY))
            weakest = order[early[order] | (np.arange(len(left)) < count)]
        gone.append(left[weakest])
        svms.drop(gone[-1])
    return Elimination(np.concatenate([*gone, left]), n_svms)


class SVMRFE(RankingFromPrior):
    """Keep the features that a linear SVM gives up last.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps half. All features are
        ranked, down to the last, whatever the number.
    C : float, default=1.0
        The cost of a sample's squared hinge loss.
    step : int or float, default=1
        How many features to drop at a time, or, between 0 and 1, which share of those left.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        How many features were dropped before this one. Of those dropped together, the one with
        the smaller squared weight counts as dropped first.
    ranking_ : ndarray of shape (n_features,)
        1 for the last one left.
    n_evaluations_ : int
        Support vector machines trained, one per class in each round if there are three or more.
    stopped_ : str
        Why the elimination ended.

    Notes
    -----
    The machine is that of scikit-learn's ``LinearSVC``: squared hinge loss, an intercept that is
    regularised with the weights, one class against the rest. (The authors used the plain hinge,
    which has no unique active set to go on from.) It is trained to its optimum, so that nothing
    depends on chance. A cost above 1e10 over the largest squared length of a sample
    is lowered to that: the margin is hard, and in double precision a larger cost changes nothing.

    Weights depend on the scale of the features, and so does what is dropped first: scale them
    beforehand, as one would for the machine itself. A constant column competes with the intercept
    for the same role and may so get a weight; a column of zeros gets none and goes first.

    Of features with equal squared weights, the later column goes first. With one class only there
    is nothing to separate: all scores are 0. A numeric target is discretised.

    A prior decides who goes first. Of equals, the one of which less is expected goes first; and
    if anything is expected at all, features of which nothing is expected go as soon as their
    squared weight is among the weakest tenth, many at a time, which saves machines. What is
    expected protects no feature: the smallest weight goes, whatever was expected of it. With a
    wrong prior the ranking is therefore about that of ``step=0.1``; with many features and few
    samples, where every step leads elsewhere, it may be quite another one.

    Where memory knows of weights and is used, columns are prepared and scaled by the weights
    of a linear model with memory (`metafs.plugin.reference_view`), so that a large one
    is penalised less.

    Examples
    --------
    >>> X = [[0, 0, 3], [1, 0, 2], [0, 2, 3], [1, 2, 2]]
    >>> SVMRFE(1).fit(X, ["a", "a", "b", "b"]).ranking_
    array([3, 1, 2])
    """

    _sees_reference = True

    def __init__(
        self, n_features_to_select: float | None = None, *, C: float = 1.0, step: float = 1
    ) -> None:
        super().__init__(n_features_to_select)
        self.C = C
        self.step = step

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        check_cost(self.C)
        check_step(self.step)

    def _score_from(self, X: Matrix, y: Array, prior: Prior | None) -> Array:
        classes = discretise_target(y)
        if not classes.any():
            self.n_evaluations_, self.stopped_ = 0, ONE_CLASS
            return np.zeros(X.shape[1])
        found = self._eliminate(X, classes, None if prior is None else prior.expected)
        self.n_evaluations_ = sum(each.n_svms for each in found)
        self.stopped_ = "one feature left"
        return np.asarray(np.mean([each.survived for each in found], axis=0))

    def _eliminate(self, X: Matrix, y: Array, expected: Array | None) -> list[Elimination]:
        """Return the eliminations whose mean is the ranking; y holds classes 0, 1, ..."""
        costs = np.full(len(y), float(self.C))
        return [eliminate(X, y, costs, step=self.step, expected=expected)]
