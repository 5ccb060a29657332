"""A reference model as the MetaDB keeps it: its largest weights, and what predicting needs."""

import numpy as np

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.memory import LinearRows, ReferenceRows
from metafs.stats.linear import LinearModel, Scales, SparseWeights, rarity


def reference_rows(
    problem: Problem,
    model: LinearModel,
    kept: list[SparseWeights],
    apart: Array | None,
    transfers: list[tuple[int, float, float]],
) -> ReferenceRows:
    """Return a model with the weights that are kept, also those without rows set apart."""
    outputs: list[str | None] = [None]
    if problem.classes is not None:
        outputs = list(problem.classes[1:] if len(problem.classes) == 2 else problem.classes)
    words = model.preparation.words
    return ReferenceRows(
        preparation="words" if words.all() else "mixed" if words.any() else "standard",
        n_labels=problem.n_samples,
        outputs=outputs,
        places=[each.columns for each in kept],
        weights=[each.weights for each in kept],
        rest_norms=[each.rest for each in kept],
        regularisation=model.regularisation,
        transfers=transfers,
        linear=_linear_rows(problem, model, [each.columns for each in kept]),
        apart=_of_kept(apart, kept),
    )


def rarer_in_memory(model: LinearModel, here: Scales, known: Scales | None) -> Array | None:
    """Return by how much words are rarer in memory than here: so much larger weights are there."""
    if known is None or not model.preparation.words.all():
        return None
    in_memory = rarity(known.n_rows, known.document_frequency)
    return np.nan_to_num(in_memory / rarity(here.n_rows, here.document_frequency), nan=1.0)


def _of_kept(weights: Array | None, kept: list[SparseWeights]) -> list[Array] | None:
    if weights is None:
        return None
    return [row[each.columns] for row, each in zip(weights, kept, strict=True)]


def _linear_rows(problem: Problem, model: LinearModel, kept: list[Array]) -> LinearRows:
    """Return what the model needs besides its weights to predict new rows.

    Which columns are words is kept for all columns where only some are.
    """
    ready, needed = model.preparation, np.zeros(problem.n_features, dtype=bool)
    weighted = np.unique(np.concatenate(kept)).astype(np.int64)
    needed[weighted] = True
    if ready.words.any() and not ready.words.all():
        needed |= ready.words
    places = np.flatnonzero(needed)
    factor = np.full(problem.n_features, np.nan)
    factor[weighted] = ready.factor[weighted]
    labels = [problem.categories.get(place) for place in places.tolist()]
    return LinearRows(
        classes=problem.classes,
        intercepts=model.intercept.tolist(),
        slope=model.slope,
        places=places,
        words=ready.words[places],
        centre=ready.centre[places],
        factor=factor[places],
        labels=[(each[0], each[1]) if each and len(each) == 2 else None for each in labels],
    )
