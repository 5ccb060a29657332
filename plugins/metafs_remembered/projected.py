"""The selector ``projected``: the fewest columns that predict what a model on all of them does.

A reference model on all columns is fitted with what memory knows. Then columns are ordered by how
well models on them give the reference's predictions, on all rows at hand, also those without label
(`metafs.stats.linear.projection`, with the equations). Without memory it is the same with a plain
reference. The model on the kept columns is fitted to the labels, and to the reference where there
are none (`metafs.stats.linear.refit`).
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from metafs.data.target import holds_classes
from metafs.data.typing import Array, Matrix
from metafs.data.unlabelled import labelled_rows
from metafs.plugin.prior import Prior
from metafs.plugin.ranking import n_to_keep
from metafs.plugin.selector import BaseSelector
from metafs.stats.linear import LinearModel, Projection, fit_linear, project, refitted
from metafs.stats.linear.independent import independent_losses
from metafs.stats.linear.loss import loss_of
from metafs.stats.linear.rows import stacked
from metafs.stats.linear.targets import targets_of
from metafs.stats.threads import threads_for
from metafs_remembered.learner import weights_known
from metafs_remembered.rows import as_unlabelled, counted_rows, labelled_of

_WIDEST = 2000  # with more columns a fit hardly takes longer
_LARGEST = 200  # columns in the order of the path; the others follow by weight times spread


def divergence(reference: Array, other: Array, slope: float | None) -> Array:
    """Return for each row how far other decision values predict from those of a reference.

    For classes it is the Kullback-Leibler divergence of the probabilities, decision values times
    `slope` being their logits; for numbers, without a slope, the squared difference.

    Examples
    --------
    >>> divergence(np.array([[0.0], [2.0]]), np.array([[0.0], [0.0]]), 1.0).round(2)
    array([0.  , 0.33])
    """
    if slope is None:
        return np.asarray(((reference - other) ** 2).sum(axis=1))

    def log_probabilities(decision: Array) -> Array:
        if decision.shape[1] == 1:
            decision = np.hstack([np.zeros_like(decision), decision])
        return np.asarray(log_softmax(slope * decision, axis=1))

    p, q = log_probabilities(reference), log_probabilities(other)
    return np.asarray((np.exp(p) * (p - q)).sum(axis=1))


def _of_all(sample_weight: Array | None, n_rows: int) -> Array | None:
    """Return weights of all rows at hand; unlabelled ones, which come last, have the mean."""
    if sample_weight is None:
        return None
    more = np.full(n_rows - len(sample_weight), sample_weight.mean())
    return np.append(sample_weight, more)


class ProjectedSelector(BaseSelector):
    """Keep the columns whose own model predicts what a model on all columns does.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        How many features to keep, or which share of them; None keeps the fewest that are within
        one standard error of the reference.
    random_state : int, RandomState instance or None, default=0
        How rows are divided into folds.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        What each feature carries of the reference: its weight times its spread.
    ranking_ : ndarray of shape (n_features,)
        1 for the first to enter.
    reference_ : LinearModel
        The model on all columns; its ``strength`` is the weight of memory.
    projection_ : Projection
    model_ : LinearModel
        On the kept features: ``model_.predict(X[:, support])``.
    n_features_ : int
        How many features are kept.
    n_evaluations_ : int
        How many models were projected to choose the size; 1 if it was given.
    stopped_ : str
        Why the search ended.

    Examples
    --------
    >>> X = [[0.0, 3.0], [0.2, 4.0], [1.0, 3.0], [1.2, 4.0]]
    >>> ProjectedSelector(1).fit(X, ["a", "a", "b", "b"]).get_support()
    array([ True, False])
    """

    def __init__(self, n_features_to_select: float | None = None, *, random_state: Any = 0) -> None:
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def expected_seconds(self, n_samples: int, n_features: int, n_outputs: int) -> float:
        """Return what a fit takes, roughly, for the automatic choice of a pipeline."""
        return 0.02 + 1e-6 * n_samples * min(n_features, _WIDEST) * n_outputs

    def check_parameters(self) -> None:
        """Refuse parameters that are wrong whatever the data."""
        super().check_parameters()
        n_to_keep(self.n_features_to_select, 1)

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        prior: Any = None,
        meta_features: Any = None,
        task: str = "auto",
        X_unlabelled: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> Self:
        """Select features of X by what they tell of y.

        Parameters
        ----------
        X, y, prior, meta_features, task
            As for any selector; of the prior only what it knows of weights counts, and rows where
            y is missing (NaN, None, empty text) have no label.
        X_unlabelled : array-like or sparse matrix, default=None
            Further rows without label.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; rows of weight 0 take no part.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are never divided in the cross-validation that chooses the model.
        """
        self._of_rows = labelled_of(y, sample_weight, groups)
        X, y, without = labelled_rows(X, y)
        self._unlabelled: Matrix | None = as_unlabelled(type(self).__name__, without, X_unlabelled)
        self.model_: LinearModel
        super().fit(X, y, prior=prior, meta_features=meta_features, task=task)
        del self._unlabelled, self._of_rows
        if self.model_.classes is not None:  # codes, until here
            names = np.unique(np.asarray(y))
            self.model_ = replace(self.model_, classes=names[self.model_.classes])
        return self

    def _fit(self, X: Matrix, y: Array, prior: Prior | None) -> None:
        classes = holds_classes(y)
        n_features = X.shape[1]
        sample_weight, groups = self._of_rows
        X, y, known = counted_rows(X, y, sample_weight, groups, type(self).__name__)
        weights, groups = known["sample_weight"], known["groups"]
        with threads_for(X.shape[0] * n_features):
            self.reference_: LinearModel = fit_linear(
                X,
                y,
                classes=classes,
                prior=weights_known(prior, n_features),
                X_unlabelled=self._unlabelled,
                seed=int(check_random_state(self.random_state).randint(2**31)),
                **known,
            )
            rows = stacked(X, self._unlabelled)
            given = self.n_features_to_select
            wanted = _LARGEST if given is None else n_to_keep(given, n_features)
            self.projection_: Projection = project(
                self.reference_, rows, min(wanted, n_features), _of_all(weights, rows.shape[0])
            )
            self.n_evaluations_, self.stopped_ = 1, "the number of features was given"
            self.n_features_ = wanted
            if given is None:
                self.n_features_ = self._smallest(
                    X, y, classes, min(wanted, n_features), weights, groups
                )
            self.model_ = refitted(
                self.reference_,
                X,
                y,
                np.sort(self.projection_.order[: self.n_features_]),
                X_unlabelled=self._unlabelled,
                sample_weight=weights,
            )
        self.scores_ = self.projection_.scores
        self.ranking_ = np.empty(n_features, dtype=np.int64)
        self.ranking_[self.projection_.order] = np.arange(1, n_features + 1)

    def _smallest(
        self,
        X: Matrix,
        y: Array,
        classes: bool,
        most: int,
        weights: Array | None,
        groups: Array | None,
    ) -> int:
        """Return the fewest features whose predictions are within one standard error.

        They are compared with those of the reference on all rows at hand, and the error is that of
        the reference's cross-validated loss on as many rows.
        """
        model, projection = self.reference_, self.projection_
        most = min(most, len(projection.candidates))
        if most == 0:
            self.stopped_ = "no feature carries anything of the model on all"
            return 1
        rows = stacked(X, self._unlabelled)
        table, decision = model.preparation(rows), model.decision_function(rows)
        unit = float(np.var(y)) or 1.0 if not classes else 1.0
        losses = independent_losses(self._losses(X, y, classes), weights, groups)
        error = float(losses.std()) / np.sqrt(len(decision) * len(losses) / len(y))
        weights = _of_all(weights, len(decision))
        sizes = sorted({min(most, round(1.3**step)) for step in range(21)} - {0})
        for n, size in enumerate(sizes, start=1):
            columns = projection.order[:size]
            small = np.asarray(table[:, columns] @ projection.weights(columns).T)
            small += decision.mean(axis=0) - small.mean(axis=0)
            each = divergence(decision, small, model.slope if classes else None)
            apart = float(np.average(each, weights=weights))
            self.n_evaluations_ = n
            if apart / unit <= error:
                self.stopped_ = (
                    f"{size} features are within one standard error of the model on all: excess "
                    f"loss {apart / unit:.3f}, error {error:.3f}"
                )
                return size
        self.stopped_ = f"no more than {sizes[-1]} features were tried"
        return sizes[-1]

    def _losses(self, X: Matrix, y: Array, classes: bool) -> Array:
        """Return the reference's cross-validated loss of each row."""
        model = self.reference_
        targets, _ = targets_of(y, classes)
        codes = np.unique(y, return_inverse=True)[1] if classes else None
        judged = model.held_out
        if judged is None or len(judged) != len(targets):  # of many rows some were cross-validated
            judged = model.decision_function(X)
        return loss_of(judged, targets, codes)

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        mask: Array = self.ranking_ <= self.n_features_
        return mask
