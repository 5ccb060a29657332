r"""What remembered models give a new problem: directions, scales, relevance, experience.

Each near problem :math:`D_i` at distance :math:`d_i` counts by the mass that its signature shares
with the new one's, :math:`a_i = 1 - d_i^2`. Of a column that it had with relevance
:math:`r_{ij}`, relative to the best column there, the new problem expects

.. math:: e_j = \frac{\sum_i a_i \, r_{ij}}{\sum_i a_i}

whichever selector worked on those problems. A large memory adds the basis of its space, so that
few near problems suffice and neither time nor room grows.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from metafs.data.typing import Array, Matrix
from metafs.memory.past_columns import Places, relevance_on, scales_on, weights_on, words_on
from metafs.plugin.prior import Source
from metafs.stats.linear import (
    BASIS,
    COHERENCE,
    N_LABELS,
    STRENGTHS,
    Directions,
    Scales,
    TransferExperience,
    WeightPrior,
)
from metafs_metadb import BasisPart, MetaDB, Neighbour, Reference

NEAREST = 128
"""Near problems whose models are asked while the space has no basis."""

NEAREST_BESIDE_BASIS = 32
"""Near problems whose models are used together with the basis."""

LEAST_LABELS = 20
"""Labelled rows that a model must have learned from to give directions: fewer give noise."""

LEAST_BEFORE = 3
"""Problems that memory must have known for its worth to be experience."""

LEAST_RELATED = 0.05
"""How related problems are at least that have columns of the same names."""

MOST_KNOWN = 0.2
"""The share of weights that are known below which directions are a sparse table."""

MOST_ASKED_OF_COLUMNS = 32
"""Near problems that tell of single columns: their scales, whether they are words, relevance."""

MOST_COLUMNS = 2**21
"""Columns of models that a stream keeps at hand, at about 50 bytes each."""


@dataclass(frozen=True, eq=False)
class ModelHistory:
    """What the models of near problems learned of the columns of a new one."""

    weights: WeightPrior
    problem_ids: Array
    """(m,) The problem of each direction; 0 for the basis."""
    relevance: Array
    """(n_features,) Expected univariate relevance of each column, the best 1."""
    sources: tuple[Source, ...]
    """The contribution of each of the nearest problems."""


class Models:
    """The remembered models that a stream has asked for.

    Like best runs kept at hand they do not show what other processes record meanwhile.
    """

    def __init__(self, db: MetaDB) -> None:
        self._db = db
        self._models: dict[int, Reference | None] = {}  # by problem, the latest last
        self._room = MOST_COLUMNS
        self._bases: dict[str, dict[int, BasisPart]] = {}

    def of(self, problem_ids: Sequence[int]) -> dict[int, Reference]:
        """Return the models of those problems that have one."""
        unknown = [each for each in problem_ids if each not in self._models]
        if unknown:
            found = self._db.references(unknown)
            for each in unknown:
                self._keep(each, found.get(each))
        known = {each: self._models.get(each) for each in problem_ids}
        return {each: model for each, model in known.items() if model is not None}

    def basis(self, space: str) -> dict[int, BasisPart]:
        """Return the parts of the basis of a space."""
        if space not in self._bases:
            self._bases[space] = self._db.basis(space)
        return self._bases[space]

    def forget(self, problem_id: int, space: str) -> None:
        """Ask again for a problem that was recorded, and for its space."""
        self._bases.pop(space, None)
        if (model := self._models.pop(problem_id, None)) is not None:
            self._room += len(model.feature_ids)

    def _keep(self, problem_id: int, model: Reference | None) -> None:
        self._models[problem_id] = model
        self._room -= len(model.feature_ids) if model else 0
        while self._room < 0 and len(self._models) > 1:
            dropped = self._models.pop(next(iter(self._models)))
            self._room += len(dropped.feature_ids) if dropped else 0


def history_of(
    near: Sequence[Neighbour],
    models: dict[int, Reference],
    basis: Iterable[BasisPart],
    feature_ids: Array,
    classes: tuple[str, ...] | None = None,
) -> ModelHistory | None:
    """Return what near problems' models and the basis know of some columns; None if nothing.

    Parameters
    ----------
    near : sequence of Neighbour
        Whom to ask, nearest first.
    models : dict of int to Reference
        What is remembered of them, by problem_id.
    basis : iterable of BasisPart
        The parts of the space's basis that may be used.
    feature_ids : array of shape (n_features,)
        The new problem's columns in the vocabulary of its space, 0 for a new one.
    classes : tuple of str, optional
        The names of the new problem's classes 0, 1, ...
    """
    places = Places(feature_ids)
    asked = [
        each
        for each in near
        if each.problem_id in models and places.any_of(models[each.problem_id].feature_ids)
    ]
    parts = [part for part in basis if len(part.feature_ids)]
    if not asked and not parts:
        return None
    known = [models[each.problem_id] for each in asked]
    affinity = np.array([1.0 - each.distance**2 for each in asked])
    few = slice(MOST_ASKED_OF_COLUMNS)
    scales = scales_on(known[few], places)
    directions, problem_ids = _directions(asked, known, parts, places, scales)
    relevance, speakers = relevance_on(asked[few], known[few], affinity[few], places)
    return ModelHistory(
        WeightPrior(
            directions,
            scales,
            _experience(known, affinity),
            words_on(known[few], places),
            classes,
        ),
        problem_ids,
        relevance,
        speakers,
    )


def _directions(
    asked: Sequence[Neighbour],
    known: Sequence[Reference],
    parts: Sequence[BasisPart],
    places: Places,
    scales: Scales | None,
) -> tuple[Directions | None, Array]:
    rows: list[tuple[Array, Array]] = []
    who: list[tuple[int, str, str | None, float, float]] = []
    for near, model in zip(asked, known, strict=True):
        if model.n_labels < LEAST_LABELS:
            continue
        for at, output in enumerate(model.outputs):
            rows.append(weights_on(model, at, places, scales))
            who.append((near.problem_id, near.name, output, near.distance, float(model.n_labels)))
    for part in parts:
        for vector in part.weights:
            rows.append(places.values(part.feature_ids, vector))
            who.append((0, BASIS, None, np.nan, np.nan))
    useful = [place for place, (_, values) in enumerate(rows) if values.any()]
    if not useful:
        return None, np.zeros(0, dtype=np.int64)
    problem_ids, names, outputs, distances, n_labels = zip(
        *(who[each] for each in useful), strict=True
    )
    found = Directions(
        _table([rows[each] for each in useful], places.n_features),
        names,
        outputs,
        np.array(distances),
        np.array(n_labels),
    )
    return found, np.array(problem_ids, dtype=np.int64)


def _table(rows: Sequence[tuple[Array, Array]], n_features: int) -> Matrix:
    """Return rows of known columns as a table, sparse if most are not known."""
    indices, values = (np.concatenate(each) for each in zip(*rows, strict=True))
    starts = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    table = csr_array((values.astype(np.float64), indices, starts), shape=(len(rows), n_features))
    return table if table.nnz < MOST_KNOWN * len(rows) * n_features else table.toarray()


def _experience(known: Sequence[Reference], affinity: Array) -> TransferExperience | None:
    """Return what memory was worth to near problems, as far as they measured it.

    Memory was smaller when it was measured: a problem counts by the share of the others that were
    recorded before it.
    """
    losses, weights, coherence = [], [], []
    n_before = np.argsort(np.argsort([model.problem_id for model in known]))
    for model, related, before in zip(known, affinity.tolist(), n_before.tolist(), strict=True):
        if before < LEAST_BEFORE:
            continue
        loss = np.full((len(N_LABELS), len(STRENGTHS)), np.nan)
        coherent = np.nan
        for n_labels, strength, value in model.transfers:
            coherent = value if n_labels == COHERENCE else coherent
            at = int(np.argmin(np.abs(np.array(STRENGTHS) - strength)))
            if n_labels in N_LABELS:
                loss[N_LABELS.index(n_labels), at] = value
        if not np.isnan(loss).all():
            losses.append(loss)
            weights.append(max(related, LEAST_RELATED) * before / len(known))
            coherence.append(coherent)
    if not losses:
        return None
    return TransferExperience(
        np.array(N_LABELS, dtype=float),
        np.array(STRENGTHS),
        np.array(losses),
        np.array(weights),
        np.array(coherence),
    )


def unseen(
    near: Sequence[Neighbour], models: dict[int, Reference], source: str, sharing: Collection[int]
) -> tuple[list[Neighbour], dict[int, Reference]]:
    """Return the neighbours from another source, with models that have not seen rows set apart.

    Of those that share rows it is the weights that did not learn from these rows; those
    of which such weights are not known are left out.
    """
    apart = {
        each: replace(model, weights=model.apart)
        for each in sharing
        if (model := models.get(each)) is not None and model.apart is not None
    }
    return without(near, models, source, set(sharing) - set(apart)), {**models, **apart}


def without(
    near: Sequence[Neighbour], models: dict[int, Reference], source: str, sharing: Collection[int]
) -> list[Neighbour]:
    """Return the neighbours that come from another source and share no rows."""
    return [
        each
        for each in near
        if each.problem_id not in sharing
        and (each.problem_id not in models or models[each.problem_id].source != source)
    ]
