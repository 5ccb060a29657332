"""What a solved problem leaves to memory: its weights, and what memory was worth to it."""

from dataclasses import dataclass

import numpy as np

from metafs.data.typing import Array, Matrix
from metafs.stats.linear.loss import class_loss, number_loss
from metafs.stats.linear.model import LinearModel, fit_linear
from metafs.stats.linear.weight_prior import N_LABELS, STRENGTHS, WeightPrior

_DRAWS = 2
_MOST_JUDGED = 200


@dataclass(frozen=True, eq=False)
class SparseWeights:
    """The largest weights of one output, and the norm of the others."""

    columns: Array
    weights: Array
    rest: float


def reference_weights(model: LinearModel, k: int = 1000) -> list[SparseWeights]:
    """Return, for each output, the k weights that matter most on the rows at hand.

    A weight matters by its size times the spread of its column: by its size alone rare words would
    be kept.
    """
    found = []
    for weights in model.coef:
        matter = np.abs(weights) * model.spread
        kept = np.argsort(-matter, kind="stable")[:k]
        kept = np.sort(kept[matter[kept] > 0])
        rest = float(np.sqrt(max(0.0, weights @ weights - weights[kept] @ weights[kept])))
        found.append(SparseWeights(kept, weights[kept], rest))
    return found


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
    if prior.directions is None or not len(prior.directions):
        return None
    unseen = np.arange(len(y)) if seen_rows is None else np.flatnonzero(~seen_rows)
    rng = np.random.default_rng(seed)
    curve = np.full((len(n_labels), len(STRENGTHS)), np.nan)
    for i, n in enumerate(n_labels):
        drawn = [_drawn(y, unseen, n, classes, rng) for _ in range(_DRAWS)]
        losses = [
            _losses(X, y, labelled, judged, classes, prior, seed)
            for labelled, judged in drawn
            if len(judged) >= 10
        ]
        if losses:
            curve[i] = np.mean(losses, axis=0)
    return None if np.isnan(curve).all() else curve


def _drawn(
    y: Array, unseen: Array, n: int, classes: bool, rng: np.random.Generator
) -> tuple[Array, Array]:
    order = rng.permutation(unseen)
    if classes:
        of_class = [order[y[order] == c] for c in np.unique(y)]
        if min(map(len, of_class)) < n + 3:
            return order[:0], order[:0]
        labelled = np.concatenate([rows[:n] for rows in of_class])
    else:
        labelled = order[:n]
    judged = np.setdiff1d(order, labelled, assume_unique=True)
    return labelled, rng.permutation(judged)[:_MOST_JUDGED]


def _losses(
    X: Matrix,
    y: Array,
    labelled: Array,
    judged: Array,
    classes: bool,
    prior: WeightPrior,
    seed: int,
) -> list[float]:
    found = []
    for s in STRENGTHS:
        model = fit_linear(
            X[labelled],
            y[labelled],
            classes=classes,
            prior=prior,
            X_unlabelled=X[judged],
            strength=s,
            seed=seed,
        )
        decision = model.decision_function(X[judged])
        if model.classes is not None:
            codes = np.searchsorted(model.classes, y[judged])
            found.append(float(class_loss(decision, codes)[0].mean()))
        else:
            found.append(float(number_loss(decision, y[judged]).mean()))
    return found
