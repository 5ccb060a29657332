r"""A linear model whose weights have a prior that was learned from past problems.

Without memory it is L2 logistic or ridge regression with its regularisation learned by
cross-validation. With it the model is a mean over the strengths s of memory,

.. math:: f = u \sum_s w_s f_s / \mathrm{sd}(f_s), \qquad u = \sum_s w_s \, \mathrm{sd}(f_s),

with the shares w of `metafs.stats.linear.strength`, because few labels cannot tell which strength
is best; predictions of numbers are averaged as they are. The intercept of classes has a prior too:
at the mean of all rows at hand the decision value is that of the classes' shares, up to a variance.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from scipy.special import expit, softmax

from metafs.data.typing import Array, Matrix
from metafs.stats.linear.calibration import shift_to_shares, slope_of
from metafs.stats.linear.common import agrees
from metafs.stats.linear.fitting import MOST_ROWS, Fitting
from metafs.stats.linear.preparation import Preparation, scales_of
from metafs.stats.linear.rows import Rows, rows_under
from metafs.stats.linear.strength import StrengthChoice
from metafs.stats.linear.targets import targets_of
from metafs.stats.linear.weight_prior import STRENGTHS, WeightPrior
from metafs.stats.threads import threads_for


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A fitted linear model: decision values are ``preparation(X) @ coef.T + intercept``."""

    preparation: Preparation
    coef: Array
    """(n_outputs, n_features) In prepared units; one output for two classes and for a number."""
    intercept: Array
    """(n_outputs,)"""
    classes: Array | None
    """The classes, sorted; None for a number."""
    regularisation: float
    strength: StrengthChoice
    from_memory: Array
    """(n_outputs, n_features) The part of `coef` that directions of memory supplied."""
    spread: Array
    """(n_features,) Standard deviation of the prepared columns on the rows at hand."""
    slope: float = 1.0
    """By which decision values are multiplied before they become probabilities."""
    held_out: Array | None = field(default=None, repr=False)
    """(n_rows, n_outputs) Cross-validated decision values; None if there were too few labels."""
    n_rows: int = 0

    def decision_function(self, X: Matrix) -> Array:
        """Return decision values of shape (n_rows, n_outputs)."""
        return np.asarray(self.preparation(X) @ self.coef.T) + self.intercept

    def predict(self, X: Matrix) -> Array:
        """Return the class or the number of each row."""
        decision = self.decision_function(X)
        if self.classes is None:
            return decision[:, 0]
        if decision.shape[1] == 1:
            return np.asarray(self.classes[(decision[:, 0] > 0).astype(int)])
        return np.asarray(self.classes[decision.argmax(axis=1)])

    def predict_proba(self, X: Matrix) -> Array:
        """Return the probability of each class; the slope makes them calibrated."""
        decision = self.slope * self.decision_function(X)
        if decision.shape[1] == 1:
            second = expit(decision[:, 0])
            return np.column_stack([1 - second, second])
        return np.asarray(softmax(decision, axis=1))


def fit_linear(
    X: Matrix,
    y: Array,
    *,
    classes: bool,
    prior: WeightPrior | None = None,
    X_unlabelled: Matrix | None = None,
    sample_weight: Array | None = None,
    groups: Array | None = None,
    strength: float | Literal["auto"] = "auto",
    most_rows: int = MOST_ROWS,
    seed: int = 0,
) -> LinearModel:
    """Fit a linear model under what memory knows.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_rows, n_features)
        Without missing values.
    y : array of shape (n_rows,)
        Classes or numbers.
    classes : bool
        Whether y holds classes.
    prior : WeightPrior, default=None
        What memory knows of these columns.
    X_unlabelled : ndarray or csr_array, default=None
        Rows without label: they tell how columns and past scores are spread.
    sample_weight : array of shape (n_rows,), default=None
        Above 0.
    groups : array of shape (n_rows,), default=None
        Rows of one group are never divided in cross-validation.
    strength : float or "auto", default="auto"
        Weight of past models in the prior; 0 does without them.
    most_rows : int
        Rows that choose strength and regularisation; of more some choose for all.
    seed : int, default=0
        How rows are divided into folds.
    """
    targets, labels = targets_of(y, classes)
    names = None if prior is None else prior.names_of(labels)
    rows, preparation, spread = rows_under(
        X, X_unlabelled, prior, classes=names, sample_weight=sample_weight
    )
    unit = 1.0
    if not classes:
        unit = float(scales_of(targets, sample_weight).spread[0]) or 1.0
        targets = targets / unit
    if rows.mean is not None:
        contradicted = classes and not agrees(np.asarray(rows.expected(1.0)), targets, rows.odds)
        rows = replace(rows, mean=None if contradicted else rows.mean / unit)
    fitting = Fitting(rows, targets, y, classes, sample_weight, groups, most_rows, seed)
    experience = None if prior is None else prior.experience
    if not rows.scores.shape[1]:
        grid = np.zeros(1)
    else:
        grid = np.array(STRENGTHS) if strength == "auto" else np.array([float(strength)])
    with threads_for(min(len(rows), most_rows) ** 2):
        choice, regularisation, held_out = fitting.choose(grid, experience)
        if len(rows) > most_rows:  # then strength matters little, and each model costs much
            choice = choice.most_probable()
        coef, remembered, fitted = fitting.solve(choice, regularisation)
    intercept = _intercept(fitted, rows, coef, sample_weight)
    slope = slope_of(held_out, fitted, fitting.codes)
    if labels is not None:
        even = fitted + shift_to_shares(fitted, y, 1.0, sample_weight)  # as if it were free
        intercept += shift_to_shares(even, y, slope, sample_weight)
    return LinearModel(
        preparation=preparation,
        coef=coef * unit,
        intercept=intercept * unit,
        classes=labels,
        regularisation=float(np.exp(choice.shares @ np.log(regularisation))),
        strength=choice,
        from_memory=remembered * unit,
        spread=spread,
        slope=slope,
        held_out=None if held_out is None else held_out * unit,
        n_rows=len(rows),
    )


def _intercept(fitted: Array, rows: Rows, coef: Array, sample_weight: Array | None) -> Array:
    apart = fitted - np.asarray(rows.table @ coef.T)
    return np.asarray(np.average(apart, axis=0, weights=sample_weight))
