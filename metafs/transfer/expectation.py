r"""Expect: turn what worked on near problems into a prior over the features of a new one.

The published rule, for the k nearest problems :math:`D_1 \dots D_k` of a new problem D:

.. math:: P_D(s) = \frac{\sum_i w(d(D, D_i)) \, Q(s, D_i)}{\sum_i w(d(D, D_i))},
          \qquad w(d) = \frac{1}{c + d^2}, \quad c = 0.001

B. Goertzel, N. Geisweiller and C. Poulin, "Meta-learning for feature selection", 2021,
section 3.3. The features with :math:`P_D(s) \ge t` are where the search begins. As in the paper
the k nearest problems count whatever their distance: where fewer than k share anything with D,
those solved first are taken at distance 1. Q is what was recorded as quality
(`metafs.pipeline.fitting.scoring`).

Ours guides the whole search. A problem at distance 1 is no neighbour there, because any choice
among such problems is arbitrary. It is the mean of two parts: the expectation from neighbours, with
one more neighbour at distance 1 and value 0, so that the expectation from distant problems is
small; and the selection frequency over all problems that had the feature. The mean size of the
neighbours' sets is the number of features to try first; features that the new problem lacks are
counted too, because others take their place. The sets of the nearest problems are tried as they are
where the size of a set is not penalised.

Under our rule the expectation of an unseen feature, which none of these problems had, comes from
meta-regression where possible (`metafs.transfer.meta_regression`), and is 0 otherwise.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from metafs.data.typing import Array
from metafs.plugin.prior import THRESHOLD, Prior, Source, start_from

C = 0.001
"""The paper's c: how much a problem at distance 0 may outweigh the others."""

STARTS = 3
"""Number of neighbours whose selected sets a guided search starts from."""

OF_NEIGHBOURS = 0.5
"""The part of neighbours in a guided expectation; the rest is the selection frequency."""

FAR = 0.95
"""A nearest problem beyond this distance is not trusted."""


class FeatureHistory(Protocol):
    """How often features were met in solved problems, and how often selected, one value each."""

    @property
    def n_problems(self) -> Array:
        """Problems that had the feature."""

    @property
    def n_selected(self) -> Array:
        """Problems that selected it."""


class Outcomes(Protocol):
    """Outcomes of features, one value each."""

    @property
    def quality(self) -> Array:
        """As the learner earned it, in [0, 1]; 0 for a feature that was not selected."""

    @property
    def selected(self) -> Array:
        """Whether, or how often, it was selected."""

    @property
    def relative(self) -> Array:
        """Its score between 0 and that of the best feature, 1."""


@dataclass(frozen=True, eq=False)
class Experience:
    """What is remembered of a near problem: its features and their outcomes."""

    problem: str
    source: str
    distance: float
    features: Sequence[str]
    q: Array
    """As the selector scored each feature, on the selector's own scale."""
    quality: Array
    selected: Array
    problem_id: int = 0

    @cached_property
    def relative(self) -> Array:
        """The scores between 0 and 1 for the best, whatever unit the selector scored in."""
        return relative_scores(self.q)


def relative_scores(q: Array) -> Array:
    """Return scores as shares of the best one; unknown and negative ones are 0.

    The MetaDB has the same in SQL (`metafs_metadb.definitions`).

    Examples
    --------
    >>> relative_scores(np.array([0.5, 2.0, np.nan, -1.0]))
    array([0.25, 1.  , 0.  , 0.  ])
    >>> relative_scores(np.array([3.0, np.inf]))[1]
    np.float64(1.0)
    """
    positive: Array = np.clip(np.nan_to_num(q), 0.0, None)
    best = positive.max(initial=0.0)
    return positive / best if best > 0 else positive


def weight(distance: Array | float, c: float = C) -> Array:
    """Return w(d) = 1 / (c + d²).

    Examples
    --------
    >>> weight(np.array([0.5, 1.0])).round(3)
    array([3.984, 0.999])
    """
    return np.asarray(1.0 / (c + np.square(distance)))


def shares(distances: Array, nobody: float = 0.0, c: float = C) -> Array:
    """Return the share of each neighbour in what is expected.

    `nobody` is the weight of one more neighbour, of value 0.

    Examples
    --------
    >>> shares(np.array([0.5, 0.5])), shares(np.array([1.0]), nobody=float(weight(1.0)))
    (array([0.5, 0.5]), array([0.5]))
    """
    w = weight(distances, c)
    return np.asarray(w / (w.sum() + nobody))


def expectation(distances: Array, qualities: Array, nobody: float = 0.0, c: float = C) -> Array:
    """Return P_D for each feature, from k distances and qualities of shape (k, n_features).

    Examples
    --------
    >>> expectation(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.5, 0.0]]))
    array([0.75, 0.  ])
    """
    return np.asarray(shares(distances, nobody, c) @ qualities)


def selection_frequency(history: FeatureHistory) -> Array:
    """Return how often each feature was selected in all solved problems that had it.

    One more problem is counted that did not select it, so that a single success is no proof.
    """
    return np.asarray(history.n_selected / (history.n_problems + 1.0))


@dataclass(frozen=True)
class Transfer:
    """A rule for using memory: the value of a past outcome, and how expectations are used."""

    worth: Callable[[Outcomes], Array]
    guides: bool = True
    """Whether the search goes by the expectations, or only starts from them, as published."""
    remembers: bool = True
    """Whether anything is asked of memory."""
    predicts: bool = True
    """Whether the expectation of unseen features comes from meta-regression."""
    models: bool = True
    """Whether linear models on all columns are learned, remembered and asked."""
    counts_unrelated: bool = False
    """Whether problems at distance 1 take the places that neighbours leave free."""


# A small part for the score, so that every feature that was scored counts.
GUIDED = Transfer(lambda outcomes: 0.8 * outcomes.selected + 0.2 * outcomes.relative)

TRANSFERS: Mapping[str, Transfer | None] = {
    "none": None,
    # Univariate relevance alone: the baseline for any use of memory.
    "ranked": Transfer(lambda outcomes: np.zeros(len(outcomes.quality)), remembers=False),
    # The published rule and nothing else.
    "paper": Transfer(
        lambda outcomes: outcomes.quality,
        guides=False,
        predicts=False,
        models=False,
        counts_unrelated=True,
    ),
    "guided": GUIDED,
}


def expect(
    near: Sequence[Experience],
    names: Sequence[str],
    rule: Transfer | None = GUIDED,
    threshold: float = THRESHOLD,
    *,
    predicted: Array | None = None,
    history: FeatureHistory | None = None,
    c: float = C,
) -> Prior | None:
    """Turn what is remembered into a prior; without anything, into none.

    Parameters
    ----------
    near : sequence of Experience
        The nearest problems.
    names : sequence of str
        The features of the new problem.
    rule : Transfer or None
        A value of `TRANSFERS`.
    threshold : float
        The expectation from which the published rule starts with a feature.
    predicted : array of shape (n_features,), optional
        Expectation of each feature by meta-regression. It is used for unseen features only, and
        not under the published rule.
    history : FeatureHistory, optional
        The history of each feature over all problems.
    c : float
        The constant of the weight of a neighbour, :math:`1 / (c + d^2)`.
    """
    if rule is None:
        return None
    if not rule.remembers:
        return Prior(np.zeros(len(names)), guides=True)
    predicted = predicted if rule.predicts else None
    nobody = float(weight(1.0, c)) if rule.guides else 0.0
    places = _places(near, names)
    worths = _aligned([rule.worth(each) for each in near], places, len(names))
    expected, sources = _expected(near, worths, nobody, c)
    unseen = unseen_features(near, names) if predicted is not None else np.zeros(0, dtype=np.int64)
    if rule.guides and history is not None:
        expected = OF_NEIGHBOURS * expected + (1 - OF_NEIGHBOURS) * selection_frequency(history)
        unseen = unseen[history.n_problems[unseen] == 0]
    if predicted is not None:
        expected[unseen] = np.clip(predicted[unseen], 0.0, 1.0)
    if not near and not expected.any():
        return None
    if rule.guides:
        starts = [
            np.sort(there[each.selected & (there >= 0)])
            for each, there in zip(near[:STARTS], places[:STARTS], strict=True)
        ]
    else:
        starts = [start_from(expected, threshold)]
    return Prior(
        expected,
        starts=tuple(start for start in starts if len(start)),
        size=usual_size(near),
        guides=rule.guides,
        doubtful=near[0].distance > FAR if near else predicted is None,
        sources=sources,
        predicted=unseen,
        for_learners=rule.models,
    )


def usual_size(near: Sequence[Experience]) -> int:
    """Return how many features near problems selected, on average; 0 if none is near."""
    return round(np.mean([each.selected.sum() for each in near])) if near else 0


def unseen_features(near: Sequence[Experience], names: Sequence[str]) -> Array:
    """Return the indices of the features that no near problem had.

    Examples
    --------
    >>> unseen_features([], ["a", "b"])
    array([0, 1])
    """
    known = {name for memory in near for name in memory.features}
    return np.flatnonzero([name not in known for name in names])


def _expected(
    near: Sequence[Experience], quality: Array, nobody: float, c: float
) -> tuple[Array, tuple[Source, ...]]:
    """Return the expectation of each feature, and each neighbour's part in it."""
    distances = np.array([memory.distance for memory in near])
    sources = tuple(
        Source(memory.problem, memory.distance, float(share), row)
        for memory, share, row in zip(near, shares(distances, nobody, c), quality, strict=True)
    )
    return np.clip(expectation(distances, quality, nobody, c), 0.0, 1.0), sources


def _places(near: Sequence[Experience], names: Sequence[str]) -> list[Array]:
    """Return which feature of the new problem each of a neighbour's features is; -1 for none."""
    place = {name: index for index, name in enumerate(names)}
    return [
        np.array([place.get(name, -1) for name in each.features], dtype=np.int64) for each in near
    ]


def _aligned(remembered: Sequence[Array], places: Sequence[Array], n_features: int) -> Array:
    """Return (k, n_features): what is remembered, for the features of the new problem."""
    aligned = np.zeros((len(places), n_features))
    for row, values, place in zip(aligned, remembered, places, strict=True):
        row[place[place >= 0]] = np.nan_to_num(values[place >= 0])
    return aligned
