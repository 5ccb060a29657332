"""The steps of a fit: cross-validation chooses, and then all rows teach the model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import logit

from metafs.data.typing import Array
from metafs.stats.linear.folds import folds_of, some_rows
from metafs.stats.linear.independent import independent_losses, labels_of_each
from metafs.stats.linear.large import fit_large
from metafs.stats.linear.logistic import logistic
from metafs.stats.linear.loss import loss_of
from metafs.stats.linear.regularisation import regularisations, shares_of_regularisations
from metafs.stats.linear.rows import Rows
from metafs.stats.linear.spectrum import Spectrum, spectrum_of, spectrum_of_rows
from metafs.stats.linear.strength import StrengthChoice, choose_strength
from metafs.stats.linear.targets import share_of_logit

INTERCEPT = 0.1
"""The prior variance of the intercept of classes, in units of the mean variance of a row."""

MOST_ROWS = 500
"""Rows up to which all are compared with each other; of more, so many choose for all."""


class Fitting:
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
            spectrum = self.spectrum(float(s))
            lambdas = regularisations(spectrum)
            decision = spectrum.held_out(apart, lambdas, self.folds) + expected
            loss = loss_of(decision, self.targets, self.codes).mean(axis=1)
            means = np.average(loss, axis=1, weights=self.sample_weight)
            share = shares_of_regularisations(
                lambdas,
                means,
                spectrum,
                classes=self.classes,
                around_mean=s > 0 and self.rows.mean is not None,
            )
            at = float(share @ np.log(lambdas))
            losses.append(share @ loss)
            usual.append(np.exp(at))
            held.append(decision[np.abs(np.log(lambdas) - at).argmin(), 0])
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
