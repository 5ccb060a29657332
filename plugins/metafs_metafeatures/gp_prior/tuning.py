r"""Tune by cross-validation which values the meta-features of the selected features may have.

The last step of section 3: "optimize selected features by tuning value of meta-features (e.g.
using cross validation)", "by a simple search, at coarse resolution". A choice is a lower and an
upper limit for each meta-feature,

.. math:: F = \{ j : a_r \le u_{jr} \le b_r \text{ for all } r \}

The search begins with all features and goes through the limits one by one: each is set to the one
of a few quantiles of its meta-feature with which the features are worth most, until a whole round
changes nothing. Of equally good limits those with fewer features win.

E. Krupka, N. Tishby, "Incorporating prior knowledge on features into learning", AISTATS 2007.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from metafs.data.checks import checked_meta_features
from metafs.data.parameters import check_at_least
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs_metafeatures.gp_prior.classifier import GPPriorClassifier


@dataclass(frozen=True, eq=False)
class TunedLimits:
    """The limits that were found.

    Attributes
    ----------
    limits : ndarray of shape (k, 2)
        The least and the largest value of each meta-feature.
    support : ndarray of shape (n_features,)
        The features within all limits, as truth values.
    quality : float
        What these features are worth.
    tried : list of (ndarray, int, float)
        Every choice of limits, with its number of features and what it was worth.
    """

    limits: Array
    support: Array
    quality: float
    tried: list[tuple[Array, int, float]]


def within(U: Array, limits: Array) -> Array:
    """Return which features lie within the limits; an unknown meta-feature keeps none out.

    Examples
    --------
    >>> U = np.array([[1.0, 5.0], [2.0, np.nan], [3.0, 5.0]])
    >>> within(U, np.array([[1.0, 2.0], [0.0, 9.0]]))
    array([ True,  True, False])
    """
    return np.asarray(~((U < limits[:, 0]) | (U > limits[:, 1])).any(axis=1))


def tune_limits(
    U: Any, quality: Callable[[Array], float], *, n_values: int = 4, max_rounds: int = 3
) -> TunedLimits:
    """Return the limits of the meta-features with which the features are worth most.

    Parameters
    ----------
    U : array-like of shape (n_features, k)
        Meta-features.
    quality : callable
        What the features are worth together that an array of truth values marks, as
        `accuracy_within` returns it.
    n_values : int, default=4
        How many values of each limit are tried, at even quantiles of the values there are.
    max_rounds : int, default=3
        Rounds over all limits at most.

    Examples
    --------
    >>> U = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> found = tune_limits(U, lambda support: 1.0 - abs(support.sum() - 2) - support[3])
    >>> found.limits.tolist(), found.support.tolist()
    ([[1.0, 2.0]], [True, True, False, False])
    """
    check_at_least("n_values", n_values)
    check_at_least("max_rounds", max_rounds)
    checked, _ = checked_meta_features(U, (), len(U), "tuning")
    if checked is None or not checked.shape[1]:
        raise UsageError("there is nothing to tune: give at least one meta-feature.")
    U = checked
    limits = np.column_stack([np.nanmin(U, axis=0), np.nanmax(U, axis=0)])
    known: dict[bytes, float] = {}
    tried: list[tuple[Array, int, float]] = []

    def worth(limits: Array) -> tuple[float, int]:
        support = within(U, limits)
        key = support.tobytes()
        if key not in known:
            known[key] = float(quality(support)) if support.any() else -np.inf
            tried.append((limits.copy(), int(support.sum()), known[key]))
        return known[key], -int(support.sum())

    best = worth(limits)
    for _ in range(max_rounds):
        before = limits.copy()
        for r in range(U.shape[1]):
            values = np.unique(U[~np.isnan(U[:, r]), r])
            even = np.linspace(0, len(values) - 1, min(n_values + 1, len(values)))
            for side in (1, 0):
                for value in values[even.round().astype(int)].tolist():
                    changed = limits.copy()
                    changed[r, side] = value
                    if changed[r, 0] <= changed[r, 1] and (there := worth(changed)) > best:
                        best, limits = there, changed
        if (limits == before).all():
            break
    return TunedLimits(limits, within(U, limits), best[0], tried)


def accuracy_within(
    X: Any, y: Any, U: Any, learner: Any = None, *, cv: int = 3
) -> Callable[[Array], float]:
    """Return the cross-validated accuracy of a learner on some features, as a function of these.

    Parameters
    ----------
    X, y, U
        The table, the classes and the meta-features of the columns.
    learner : classifier, default=None
        One that takes meta-features in ``fit``; None is the learner ``gp-prior``.
    cv : int, default=3
        Folds.
    """
    learner = GPPriorClassifier(random_state=0) if learner is None else learner
    U, y = np.asarray(U, dtype=np.float64), np.asarray(y)

    def accuracy(support: Array) -> float:
        columns = X[:, support]
        right = [
            clone(learner)
            .fit(columns[train], y[train], meta_features=U[support])
            .score(columns[test], y[test])
            for train, test in StratifiedKFold(cv).split(columns, y)
        ]
        return float(np.mean(right))

    return accuracy
