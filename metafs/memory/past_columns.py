r"""What past problems know of single columns of a new one: weights, scales, words, relevance.

Weights of words are those that a model would have learned which knew how rare each word is in
all of memory, not only in its own rows. Weakly fitted weights grow with what their column is
multiplied by. So with the rarities :math:`\rho_{ij}` in the rows of problem i and :math:`\rho_j` in
those of near problems they are :math:`w_{ij} \, \rho_j / \rho_{ij}`.
"""

from collections.abc import Sequence

import numpy as np

from metafs.data.typing import Array
from metafs.plugin.prior import Source
from metafs.stats.linear import Scales, rarity
from metafs_metadb import Neighbour, Reference

MOST_SOURCES = 20
"""Near problems whose contributions to the expected relevance are kept apart."""


class Places:
    """Where the columns of a new problem are among those that others know."""

    def __init__(self, feature_ids: Array) -> None:
        self.n_features = len(feature_ids)
        known = np.flatnonzero(feature_ids > 0)
        self._place = np.full(int(feature_ids.max(initial=0)) + 1, -1, dtype=np.int32)
        self._place[feature_ids[known]] = known.astype(np.int32)

    def of(self, theirs: Array) -> tuple[Array, Array]:
        """Return which of their features we have, and where."""
        inside = np.flatnonzero(theirs < len(self._place))
        ours = self._place[theirs[inside]]
        return inside[ours >= 0], ours[ours >= 0]

    def values(self, theirs: Array, values: Array) -> tuple[Array, Array]:
        """Return our columns that they know, and their values."""
        found, ours = self.of(theirs)
        return ours, values[found]

    def any_of(self, theirs: Array) -> bool:
        """Return whether we have one of their features."""
        return len(self.of(theirs)[0]) > 0


def weights_on(
    model: Reference, output: int, places: Places, scales: Scales | None
) -> tuple[Array, Array]:
    """Return our columns of which a model knows weights of an output, and these weights."""
    ids = model.weight_ids[output]
    found, ours = places.of(ids)
    weights = model.weights[output][found]
    if model.preparation != "words" or scales is None:
        return ours, weights
    own = model.document_frequency[np.searchsorted(model.feature_ids, ids[found])]
    in_memory = rarity(scales.n_rows[ours], scales.document_frequency[ours])
    return ours, weights * np.nan_to_num(in_memory / rarity(model.n_samples, own), nan=1.0)


def scales_on(known: Sequence[Reference], places: Places) -> Scales | None:
    """Return the scales of columns over all rows of near problems."""
    n, nonzero, total, squares = np.zeros((4, places.n_features))
    for model in known:
        found, ours = places.of(model.feature_ids)
        known_scale = np.isfinite(model.spread[found] + model.mean[found])
        found, ours = found[known_scale], ours[known_scale]
        n[ours] += model.n_samples
        nonzero[ours] += model.n_samples * model.document_frequency[found]
        total[ours] += model.n_samples * model.mean[found]
        squares[ours] += model.n_samples * (model.spread[found] ** 2 + model.mean[found] ** 2)
    if not n.any():
        return None
    unknown = np.full(places.n_features, np.nan)
    share, mean, square = (
        np.divide(each, n, out=unknown.copy(), where=n > 0) for each in (nonzero, total, squares)
    )
    return Scales(n, share, mean, np.sqrt(np.maximum(square - mean**2, 0.0)))


def words_on(known: Sequence[Reference], places: Places) -> Array:
    """Return the columns that more models took for words than not."""
    votes = np.zeros(places.n_features)
    for model in known:
        _, ours = places.of(model.feature_ids)
        votes[ours] += {"words": 1, "standard": -1}.get(model.preparation, 0)
    return votes > 0


def relevance_on(
    asked: Sequence[Neighbour], known: Sequence[Reference], affinity: Array, places: Places
) -> tuple[Array, tuple[Source, ...]]:
    """Return the expected relevance of each column, and what the nearest problems say of it."""
    shares = affinity / affinity.sum() if affinity.sum() > 0 else np.zeros(len(affinity))
    expected = np.zeros(places.n_features)
    sources: list[Source] = []
    for near, model, share in zip(asked, known, shares.tolist(), strict=True):
        relevance = np.nan_to_num(model.relevance)
        best = relevance.max(initial=0.0)
        ours, known_relevance = places.values(
            model.feature_ids, relevance / best if best > 0 else relevance
        )
        row = np.zeros(places.n_features)
        row[ours] = known_relevance
        expected += share * row
        if len(sources) < MOST_SOURCES:
            sources.append(Source(near.name, near.distance, share, row))
    return np.clip(expected, 0.0, 1.0), tuple(sources)
