"""Choice of a ranking and of the number of features by cross-validation.

The rankings are computed from the training rows of each fold, so that test rows have no influence
on them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs.stats.discretise import discretise_target
from metafs.stats.folds import require_every_class


def fold_scores(
    X: Array,
    y: Array,
    rankings: Callable[[Array], Sequence[Array]],
    sizes: Sequence[int],
    *,
    learner: Any = None,
    cv: Any = 5,
    scoring: Any = None,
) -> Array:
    """Score a learner on the first features of each ranking, fold by fold.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The table.
    y : ndarray of shape (n_samples,)
        Classes, or numbers, which are discretised unless the learner is a regressor.
    rankings : callable
        Returns rankings of the columns of a table, 1 for the best.
    sizes : sequence of int
        How many of the best features to take.
    learner, cv, scoring : optional
        As in `metafs_graph.inffs.InfFS`.

    Returns
    -------
    ndarray of shape (n_folds, n_rankings, n_sizes)
    """
    if learner is None:
        svm = LinearSVC(dual="auto", random_state=0, max_iter=10_000)
        learner = make_pipeline(StandardScaler(), svm)
    numeric = is_regressor(learner)
    if not numeric:
        y = discretise_target(y)
        cv = _enough_of_each_class(y, cv)
    scorer = check_scoring(learner, scoring)

    def score(columns: Array, train: Array, test: Array) -> float:
        model = clone(learner).fit(X[np.ix_(train, columns)], y[train])
        return float(scorer(model, X[np.ix_(test, columns)], y[test]))

    folds = list(check_cv(cv, y, classifier=not numeric).split(X, y))
    require_every_class(y, folds)
    table = []
    for train, test in folds:
        orders = [np.argsort(ranking) for ranking in rankings(X[train])]
        table.append([[score(order[:k], train, test) for k in sizes] for order in orders])
    return np.array(table)


def _enough_of_each_class(y: Array, cv: Any) -> Any:
    """Return the number of folds in which every class can be, or the splitter as it is."""
    n_c = np.bincount(y)
    if len(n_c) < 2 or n_c.min() < 2:
        raise UsageError(
            "cross-validation needs at least two classes with two samples each: give alpha and "
            "n_features_to_select as numbers instead of 'cv'."
        )
    return min(cv, int(n_c.min())) if isinstance(cv, int) else cv
