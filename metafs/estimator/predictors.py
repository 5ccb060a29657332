"""MetaClassifier and MetaRegressor: a good model without choosing anything, from memory."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from metafs.data.columns import number_text
from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs.estimator.base import Predictor, tells_probabilities
from metafs.estimator.fit_input import FitInput


class MetaClassifier(ClassifierMixin, Predictor):  # type: ignore[misc]
    """A classifier whose pipeline is chosen from memory and by cross-validation.

    A pipeline is a selector that ranks the columns, how many of these are kept, and a learner.
    With a `db` it recalls near problems, learns from what was tried on these, and records its own;
    without one it starts from the results on real tables that come with metafs. Then the folds of
    the problem itself count, the more the more rows there are.

    Parameters
    ----------
    selector : str or estimator, default="auto"
        "auto", a public name, or any scikit-learn-compatible selector.
    learner : str or estimator, default="auto"
        "auto", a public name, or any scikit-learn classifier.
    size : int, "all" or "auto", default="auto"
        How many features are kept; with the selector "auto" exactly so many, those of `keep` among
        them. A selector that is named takes a number if it has the parameter
        ``n_features_to_select``, and columns of `keep` come on top.
    db : path, optional
        The MetaDB. Columns need names (give a data frame) or a `space`, or nothing is recalled.
    name : str, optional
        How the problem is called; give it one. Fits of the same name never recall each other,
        so that a fold of a cross-validation cannot learn from another fold's rows. Of the fits of
        one name memory keeps that with the most rows (of equals the first), so that folds do not
        flood it. A fit without a name recalls, but is not remembered.
    space : str, optional
        The pool of features in which equal names mean the same feature.
    max_seconds : float, optional
        How long the race between pipelines may take. The answer then depends on the machine.
    random_state : int, optional
        Seed of the folds and of the selector.
    scoring : str, optional
        A scikit-learn scorer; default balanced accuracy.
    folds : int, default=5
        Folds of the cross-validation.
    keep : sequence of str or int, optional
        Columns, by name or position, that are always selected.
    max_features : int, optional
        How many features are kept at most.
    params : mapping, optional
        Parameters of a selector that is named.
    transfer, distance, n_neighbors
        How memory is used; as in ``metafs solve``.
    registry : Registry, optional
        The plugins; by default those that are installed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    pipeline_ : dict
        The selector, size and learner that were chosen; where nothing beats guessing the learner is
        "no skill".
    score_, scoring_
        The nested score of the choice, and by which scorer; None if rows are too few for folds.
    baseline_ : dict
        `all_features`, the score of a linear model on all columns, and `no_skill`, of guessing.
    frontier_ : list of (int, float)
        The best score for each number of features that was tried on all folds.
    leaderboard_ : list of (dict, float)
        The pipelines that were tried on all folds, the best first.
    memory_ : dict or None
        How much weight memory is given (`strength`), what that is expected to gain (`gain`), and
        why (`reason`); None if memory knows nothing of these columns.
    model_ : FittedModel
        The fitted model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> fitted = MetaClassifier("infogain", "logistic", size=2, random_state=0).fit(X, y)
    >>> fitted.get_support(), fitted.predict(X[:1])
    (array([False, False,  True,  True]), array([0]))
    """

    _task = "classes"

    def _problem(self, given: FitInput, meta_features: Any) -> Problem:
        check_classification_targets(given.y)
        self.classes_, codes = np.unique(given.y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                "the target holds one class only, so there is nothing to learn: give more classes."
            )
        labels = tuple(_label(each) for each in self.classes_.tolist())
        if len(set(labels)) < len(labels):
            raise UsageError("two classes are written alike: give them other names.")
        problem = self._problem_of(given, codes, meta_features)
        return replace(problem, classes=labels)

    def predict(self, X: Any) -> Array:
        """Return the class of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            As in ``fit``; a category that was not seen there is none of the known ones.
        """
        rows = self._rows(X)
        return np.asarray(self.classes_[self.model_.outcomes(rows).astype(np.int64)])

    @available_if(tells_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class, in the order of `classes_`."""
        rows = self._rows(X)
        return np.asarray(self.model_.proba_of_rows(rows))


class MetaRegressor(RegressorMixin, Predictor):  # type: ignore[misc]
    """A regressor whose pipeline is chosen from memory and by cross-validation.

    Parameters and attributes are those of `MetaClassifier`, but for the classes; the default scorer
    is R².

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> fitted = MetaRegressor("infogain", "ridge", size=2, random_state=0).fit(X, y)
    >>> fitted.get_support(indices=True), round(fitted.score_, 2)
    (array([2, 8]), 0.44)
    """

    _task = "numbers"

    def _problem(self, given: FitInput, meta_features: Any) -> Problem:
        return self._problem_of(given, np.asarray(given.y, dtype=np.float64), meta_features)

    def predict(self, X: Any) -> Array:
        """Return the number of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            As in ``fit``; a category that was not seen there is none of the known ones.
        """
        rows = self._rows(X)
        return np.asarray(self.model_.outcomes(rows))


def _label(value: Any) -> str:
    """Return how a class is written in a problem, as the readers of files write it."""
    return number_text(value) if isinstance(value, (bool, int, float)) else str(value)
