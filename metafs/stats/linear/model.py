r"""A linear model whose weights have a prior that was learned from past problems.

Without memory it is L2 logistic or ridge regression with its regularisation learned by
cross-validation. With it the model is a mean over the strengths s of memory,

.. math:: f = u \sum_s w_s f_s / \mathrm{sd}(f_s), \qquad u = \sum_s w_s \, \mathrm{sd}(f_s),

with the shares w of `metafs.stats.linear.strength`, because few labels cannot tell which strength
is best; predictions of numbers are averaged as they are. The intercept of classes has a prior too:
at the mean of all rows at hand the decision value is that of the classes' shares, up to a variance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy.special import expit, logit, softmax

from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.stats.linear.common import agrees
from metafs.stats.linear.folds import folds_of, some_rows
from metafs.stats.linear.independent import independent_losses, labels_of_each
from metafs.stats.linear.large import fit_large
from metafs.stats.linear.logistic import logistic
from metafs.stats.linear.loss import class_loss, loss_of
from metafs.stats.linear.preparation import Preparation, scales_of
from metafs.stats.linear.regularisation import LAMBDAS, shares_of_regularisations
from metafs.stats.linear.rows import Rows, rows_under
from metafs.stats.linear.spectrum import Spectrum, spectrum_of, spectrum_of_rows
from metafs.stats.linear.strength import StrengthChoice, choose_strength
from metafs.stats.linear.weight_prior import STRENGTHS, WeightPrior
from metafs.stats.threads import threads_for

INTERCEPT = 0.1
"""The prior variance of the intercept of classes, in units of the mean variance of a row."""

LEAST_SPREAD = 0.25
"""The standard deviation that decision values have at least when they become probabilities."""

SURPRISE = 1.0
"""What a slope costs that is ten times the usual one, in units of the loss of all rows."""

MOST_SHIFTS = 200
"""Steps until the means of probabilities are the shares of the classes."""

MOST_ROWS = 500
"""Rows up to which all are compared with each other; of more, so many choose for all."""


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


def targets_of(y: Array, classes: bool) -> tuple[Array, Array | None]:
    """Return targets of shape (n_rows, n_outputs), -1 and 1 for classes, and the classes."""
    if not classes:
        return np.asarray(y, dtype=np.float64)[:, None], None
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) < 2:
        raise UsageError("the labelled rows hold one class only: label rows of another class too.")
    if len(labels) == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None], labels
    return np.where(codes[:, None] == np.arange(len(labels)), 1.0, -1.0), labels


def share_of_logit(classes: bool) -> float:
    """Return what part of a decision value ridge regression predicts of targets -1 and 1."""
    return 0.5 if classes else 1.0


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
        contradicted = classes and not agrees(np.asarray(rows.expected(1.0)), targets)
        rows = replace(rows, mean=None if contradicted else rows.mean / unit)
    fitting = _Fitting(rows, targets, y, classes, sample_weight, groups, most_rows, seed)
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
    slope = fitting.slope(held_out, fitted)
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


def shift_to_shares(
    decision: Array, y: Array, slope: float, sample_weight: Array | None = None
) -> Array:
    r"""Return what to add to decision values so that probabilities have the shares of the classes.

    The slope moves all probabilities towards each other or apart, and so their means away from the
    shares of the classes among the rows, the more the rarer a class. Until they agree,

    .. math:: b_c \leftarrow b_c + \frac{k - 1}{k} \,
              \frac{\log \pi_c - \log \bar p_c}{d \log \bar p_c / d b_c},

    with :math:`\pi` the shares, :math:`\bar p` the mean probabilities of the k classes, and b the
    logits that are added.

    Parameters
    ----------
    decision : array of shape (n_rows, n_outputs)
        One output for two classes, else one for each class.
    y : array of shape (n_rows,)
    slope : float
        By which decision values are multiplied before they become probabilities.
    sample_weight : array of shape (n_rows,), default=None
    """
    codes = np.unique(y, return_inverse=True)[1]
    counts = np.bincount(codes, weights=sample_weight)
    logits = slope * decision
    if decision.shape[1] == 1:
        logits = np.column_stack([np.zeros(len(decision)), logits])
    added = np.zeros(logits.shape[1])
    wanted = counts / counts.sum()
    for _ in range(MOST_SHIFTS):
        p = softmax(logits + added, axis=1)
        means = np.maximum(np.average(p, axis=0, weights=sample_weight), 1e-12)
        apart = np.log(wanted / means)
        if np.abs(apart).max() < 1e-4:
            break
        rate = np.average(p * (1 - p), axis=0, weights=sample_weight) / means
        step = apart * (1 - 1 / len(added)) / np.maximum(rate, 0.05)
        added += np.clip(step, -1.0, 1.0)
    added -= added[0] if decision.shape[1] == 1 else added.mean()
    return np.asarray(added[-decision.shape[1] :] / slope)


def _intercept(fitted: Array, rows: Rows, coef: Array, sample_weight: Array | None) -> Array:
    apart = fitted - np.asarray(rows.table @ coef.T)
    return np.asarray(np.average(apart, axis=0, weights=sample_weight))


class _Fitting:
    """The steps of a fit that share rows, targets and folds."""

    def __init__(
        self,
        rows: Rows,
        targets: Array,
        y: Array,
        classes: bool,
        sample_weight: Array | None,
        groups: Array | None,
        most_rows: int,
        seed: int,
    ) -> None:
        self.classes = classes
        self.share = share_of_logit(classes)
        self.everything = rows, targets, sample_weight
        self.level = np.zeros(targets.shape[1])
        if classes:
            self.level = np.average(targets, axis=0, weights=sample_weight)
        self.codes = np.unique(y, return_inverse=True)[1] if classes else None
        if len(rows) > most_rows:  # many rows choose like some of them
            some = some_rows(self.codes, len(rows), most_rows, seed)
            rows, targets = rows.taken(some), targets[some]
            sample_weight = None if sample_weight is None else sample_weight[some]
            groups = None if groups is None else groups[some]
            self.codes = None if self.codes is None else self.codes[some]
        self.rows, self.targets, self.sample_weight = rows, targets, sample_weight
        self.groups = groups
        self.folds = folds_of(self.codes, len(rows), seed, groups)
        self._spectra: dict[float, Spectrum] = {}

    def spectrum(self, strength: float) -> Spectrum:
        """Return the spectrum of the rows that choose, with memory at this strength."""
        if strength not in self._spectra:
            self._spectra[strength] = _spectrum(
                self.rows, strength, self.sample_weight, classes=self.classes
            )
        return self._spectra[strength]

    def choose(self, grid: Array, experience: Any) -> tuple[StrengthChoice, Array, Array | None]:
        """Return the strength, the regularisation of each, and held-out decision values."""
        n_labels = labels_of_each(self.codes, len(self.rows), self.groups)
        if not self.folds:
            choice = choose_strength(grid, None, experience, n_labels, self.rows.coherence)
            return choice, np.ones(len(grid)), None
        losses, usual, held = [], [], []
        for s in grid:
            expected = self.rows.expected(float(s)) * self.share + self.level
            apart = self.targets - expected
            decision = self.spectrum(float(s)).held_out(apart, LAMBDAS, self.folds) + expected
            loss = loss_of(decision, self.targets, self.codes).mean(axis=1)
            means = np.average(loss, axis=1, weights=self.sample_weight)
            share = shares_of_regularisations(
                LAMBDAS, means, self.spectrum(float(s)), classes=self.classes
            )
            at = float(share @ np.log(LAMBDAS))
            losses.append(share @ loss)
            usual.append(np.exp(at))
            held.append(decision[np.abs(np.log(LAMBDAS) - at).argmin(), 0])
        table = independent_losses(np.array(losses), self.sample_weight, self.groups)
        if self.codes is None:  # half the relative squared error is like a log-loss
            table /= 2 * max(float(table[0].mean()), 1e-300)
        choice = choose_strength(grid, table, experience, n_labels, self.rows.coherence)
        factor = self._factors(choice, held)
        return choice, np.array(usual), np.tensordot(factor, np.array(held), axes=1)

    def solve(self, choice: StrengthChoice, regularisation: Array) -> tuple[Array, Array, Array]:
        """Return weights of columns, memory's part of them, and fitted values, of all rows."""
        models = [
            self._solved(float(s), float(each)) if share else None
            for s, each, share in zip(choice.strengths, regularisation, choice.shares, strict=True)
        ]
        used = [model for model in models if model is not None]
        if len(used) == 1:
            return used[0]
        fitted = [np.zeros(1) if model is None else model[2] for model in models]
        factor = self._factors(choice, fitted)[choice.shares > 0]
        coef, remembered, values = (
            np.tensordot(factor, np.array(each), axes=1) for each in zip(*used, strict=True)
        )
        return coef, remembered, values

    def _factors(self, choice: StrengthChoice, decisions: Sequence[Array]) -> Array:
        """Return what decision values of each strength are multiplied by in their mean."""
        if not self.classes:
            return choice.shares
        spread = np.array([each.std() for each in decisions])
        unit = float(choice.shares @ spread)
        return choice.shares * unit / np.where(spread > 0, spread, 1.0)

    def _solved(self, strength: float, regularisation: float) -> tuple[Array, Array, Array]:
        rows, targets, sample_weight = self.everything
        if len(rows) == len(self.rows):
            spectrum = self.spectrum(strength)
        elif rows.width < MOST_ROWS or len(rows) <= MOST_ROWS:
            spectrum = _spectrum(rows, strength, sample_weight, classes=self.classes)
        else:
            coef, remembered, fitted = fit_large(
                rows,
                targets,
                strength,
                regularisation,
                classes=self.classes,
                sample_weight=sample_weight,
            )
            return _around(rows, strength, coef, remembered, fitted)
        expected = rows.expected(strength)
        if self.classes:
            offset = expected + logit((1 + self.level) / 2)
            alpha, fitted = logistic(spectrum, targets, regularisation, offset=offset)
        else:
            alpha, fitted = spectrum.ridge(targets - expected, regularisation)
            fitted = fitted + expected
        return _around(rows, strength, *rows.weights(alpha, strength), fitted)

    def slope(self, held_out: Array | None, fitted: Array) -> float:
        """Return the slope that makes probabilities of decision values.

        Held-out values of ridge regression are half of logistic ones where the fit is weak, so the
        slope is carried over by the spread of the fitted values. It is never 0, because then all
        rows would have the same probabilities.
        """
        if self.codes is None or held_out is None:
            return 1.0
        slope = float(class_loss(held_out, self.codes, surprise=SURPRISE)[1])
        spread = float(fitted.std())
        if spread == 0:
            return 1.0
        return max(slope * float(held_out.std()), LEAST_SPREAD) / spread


def _around(
    rows: Rows, strength: float, coef: Array, remembered: Array, fitted: Array
) -> tuple[Array, Array, Array]:
    """Add the prior mean to weights that were learned around it."""
    if strength == 0 or rows.mean is None:
        return coef, remembered, fitted
    return coef + rows.mean, remembered + rows.mean, fitted


def _spectrum(
    rows: Rows, strength: float, sample_weight: Array | None, *, classes: bool
) -> Spectrum:
    intercept = INTERCEPT if classes else None
    if rows.width < len(rows):
        return spectrum_of_rows(rows.augmented(strength), sample_weight, intercept=intercept)
    return spectrum_of(rows.covariance(strength), sample_weight, intercept=intercept)
