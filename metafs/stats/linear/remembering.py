"""What a solved problem leaves to memory: its weights, and what memory was worth to it."""

from dataclasses import dataclass

import numpy as np

from metafs.data.typing import Array, Matrix
from metafs.stats.linear.common import agrees
from metafs.stats.linear.fitting import INTERCEPT, MOST_ROWS
from metafs.stats.linear.folds import folds_of, some_rows
from metafs.stats.linear.loss import class_loss, loss_of
from metafs.stats.linear.model import LinearModel
from metafs.stats.linear.regularisation import regularisations, shares_of_regularisations
from metafs.stats.linear.rows import Rows, rows_under
from metafs.stats.linear.spectrum import spectrum_of
from metafs.stats.linear.targets import share_of_logit, targets_of
from metafs.stats.linear.weight_prior import N_LABELS, STRENGTHS, WeightPrior
from metafs.stats.threads import threads_for

_DRAWS = 2
_MOST_ROWS = 150
_LEAST_JUDGED = 10


@dataclass(frozen=True, eq=False)
class SparseWeights:
    """The largest weights of one output, and the norm of the others."""

    columns: Array
    weights: Array
    rest: float


def reference_weights(
    model: LinearModel, k: int = 1000, matters: Array | None = None
) -> list[SparseWeights]:
    """Return, for each output, the k weights that matter most on the rows at hand.

    A weight matters by its size times the spread of its column: by its size alone rare words would
    be kept. It may matter more or less to others than it does here.
    """
    spread = model.spread if matters is None else model.spread * matters
    found = []
    for weights in model.coef:
        matter = np.abs(weights) * spread
        kept = np.argsort(-matter, kind="stable")[:k]
        kept = np.sort(kept[matter[kept] > 0])
        rest = float(np.sqrt(max(0.0, weights @ weights - weights[kept] @ weights[kept])))
        found.append(SparseWeights(kept, weights[kept], rest))
    return found


def weights_without(
    model: LinearModel,
    X: Matrix,
    y: Array,
    without: Array,
    *,
    sample_weight: Array | None = None,
) -> Array | None:
    """Return weights like those of a model, which have not learned from some of its rows.

    They are those of ridge regression with the same preparation and regularisation, in the unit of
    logistic regression for classes; None if a class has no other rows. Of many rows some teach all.
    """
    classes = model.classes is not None
    rows = np.flatnonzero(~without)
    if len(rows) > MOST_ROWS:
        codes = np.unique(y, return_inverse=True)[1][rows] if classes else None
        rows = rows[some_rows(codes, len(rows), MOST_ROWS, 0)]
    if len(rows) < 2 or (classes and len(np.unique(y[rows])) < len(np.unique(y))):
        return None
    targets = targets_of(y[rows], classes)[0]
    weight = np.ones(len(rows)) if sample_weight is None else sample_weight[rows]
    weight = weight * len(weight) / weight.sum()
    table, _, _ = rows_under(
        X[rows], None, None, preparation=model.preparation, sample_weight=weight
    )
    covariance = table.own_covariance
    if classes:
        covariance = covariance + INTERCEPT * np.mean(np.diag(covariance) * weight)
    covariance[np.diag_indices_from(covariance)] += model.regularisation / weight
    apart = targets - np.average(targets, axis=0, weights=weight)
    weights = table.weights(np.linalg.solve(covariance, apart), 0.0)[0]
    return weights / share_of_logit(classes)


def transfer_curve(
    X: Matrix,
    y: Array,
    *,
    classes: bool,
    prior: WeightPrior,
    seen_rows: Array | None = None,
    n_labels: tuple[int, ...] = N_LABELS,
    seed: int = 0,
) -> Array | None:
    """Measure what memory would have given this problem with few labels.

    Few rows are drawn as labelled ones, for each number of labels, and a model is fitted to them
    with each strength. The others are judged.

    Parameters
    ----------
    X, y : the rows of the problem
    classes : bool
        Whether y holds classes.
    prior : WeightPrior
        What memory knows.
    seen_rows : array of bool, default=None
        Which rows a remembered model has learned from: these take no part.
    n_labels : tuple of int
        Labels a class, or rows where the target is a number.
    seed : int
        How rows are drawn.

    Returns
    -------
    loss : array of shape (len(n_labels), len(STRENGTHS)) or None
        NaN where there are too few rows; None if nothing could be measured.
    """
    return measured_transfer(
        X, y, classes=classes, prior=prior, seen_rows=seen_rows, n_labels=n_labels, seed=seed
    )[0]


def measured_transfer(
    X: Matrix,
    y: Array,
    *,
    classes: bool,
    prior: WeightPrior,
    seen_rows: Array | None = None,
    n_labels: tuple[int, ...] = N_LABELS,
    seed: int = 0,
) -> tuple[Array | None, float]:
    """Return what `transfer_curve` does, and how coherent past scores are on these rows."""
    if prior.directions is None or not len(prior.directions):
        return None, 0.0
    unseen = np.arange(len(y)) if seen_rows is None else np.flatnonzero(~seen_rows)
    rng = np.random.default_rng(seed)
    at_hand = np.sort(rng.permutation(unseen)[:_MOST_ROWS])
    if len(at_hand) < _LEAST_JUDGED or (classes and len(np.unique(y[at_hand])) < 2):
        return None, 0.0
    targets, labels = targets_of(y[at_hand], classes)
    rows, _, _ = rows_under(X[at_hand], None, prior, classes=prior.names_of(labels))
    codes = np.unique(y[at_hand], return_inverse=True)[1] if classes else None
    curve = np.full((len(n_labels), len(STRENGTHS)), np.nan)
    for i, n in enumerate(n_labels):
        drawn = [_drawn(codes, len(at_hand), n, rng) for _ in range(_DRAWS)]
        with threads_for(len(at_hand) ** 2):
            losses = [
                _losses(rows, targets, codes, labelled, judged, seed)
                for labelled, judged in drawn
                if len(judged) >= _LEAST_JUDGED
            ]
        if losses:
            curve[i] = np.mean(losses, axis=0)
    return (None if np.isnan(curve).all() else curve), rows.coherence


def _drawn(
    codes: Array | None, n_rows: int, n: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return rows to label and rows to judge; none if there are too few."""
    order = rng.permutation(n_rows)
    if codes is None:
        return order[:n], order[n:]
    of_class = [order[codes[order] == c] for c in range(int(codes.max()) + 1)]
    if min(map(len, of_class)) < n + 3:
        return order[:0], order[:0]
    labelled = np.concatenate([rows[:n] for rows in of_class])
    return labelled, np.setdiff1d(order, labelled, assume_unique=True)


def _losses(
    rows: Rows, targets: Array, codes: Array | None, labelled: Array, judged: Array, seed: int
) -> list[float]:
    folds = folds_of(None if codes is None else codes[labelled], len(labelled), seed)[:2]
    if not folds:
        return [np.nan] * len(STRENGTHS)
    classes = codes is not None
    level = targets[labelled].mean(axis=0) if classes else 0.0
    found = []
    for s in STRENGTHS:
        covariance = rows.covariance(s)
        spectrum = spectrum_of(
            covariance[np.ix_(labelled, labelled)], intercept=INTERCEPT if classes else None
        )
        expected = np.broadcast_to(rows.expected(s), targets.shape) * share_of_logit(classes)
        if classes and not agrees(expected[labelled], targets[labelled], rows.odds):
            expected = np.zeros_like(targets)
        expected = expected + level
        apart = (targets - expected)[labelled]
        lambdas = regularisations(spectrum)
        held_out = spectrum.held_out(apart, lambdas, folds) + expected[labelled]
        loss = loss_of(held_out, targets[labelled], None if codes is None else codes[labelled])
        around = s > 0 and rows.mean is not None
        share = shares_of_regularisations(
            lambdas, loss.mean(axis=(1, 2)), spectrum, classes=classes, around_mean=around
        )
        alpha, fitted = spectrum.ridge(apart, float(np.exp(share @ np.log(lambdas))))
        across = covariance[:, labelled] @ alpha + expected
        fitted = fitted + expected[labelled]
        decision = across[judged] + (fitted - across[labelled]).mean(axis=0)
        if codes is None:
            mean = float(loss_of(decision, targets[judged], None).mean())
        else:  # each class counts alike, as a rare one would be lost among the others
            weight = 1.0 / np.bincount(codes[judged])[codes[judged]]
            loss = class_loss(decision, codes[judged], weight=weight)[0]
            mean = float(np.average(loss, weights=weight))
        found.append(mean if classes else np.log(max(mean, 1e-6)) / 2)
    return found
