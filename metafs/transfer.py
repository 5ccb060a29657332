r"""Expect: turn what worked on near problems into a prior over the features of a new one.

The published rule, for the k nearest problems :math:`D_1 \dots D_k` of a new problem D:

.. math:: P_D(s) = \frac{\sum_i w(d(D, D_i)) \, Q(s, D_i)}{\sum_i w(d(D, D_i))},
          \qquad w(d) = \frac{1}{c + d^2}, \quad c = 0.001

B. Goertzel, N. Geisweiller and C. Poulin, "Meta-learning for feature selection", 2021,
section 3.3. The features with :math:`P_D(s) \ge t` are where the search begins.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metafs.prior import THRESHOLD, Prior, Source, most_expected, start_from
from metafs.typing import Array

C = 0.001
"""The paper's c: how much a problem at distance 0 may outweigh the others."""


@dataclass(frozen=True, eq=False)
class Experience:
    """What is remembered of a near problem: its features and how each fared there."""

    problem: str
    source: str
    distance: float
    features: Sequence[str]
    q: Array
    """As the selector scored each feature, on the selector's own scale."""
    quality: Array
    """As the learner earned it, in [0, 1]; 0 for a feature that was not selected."""
    selected: Array


def weight(distance: Array | float, c: float = C) -> Array:
    """Return w(d) = 1 / (c + d²).

    Examples
    --------
    >>> weight(np.array([0.5, 1.0])).round(3)
    array([3.984, 0.999])
    """
    return np.asarray(1.0 / (c + np.square(distance)))


def expectation(distances: Array, qualities: Array, c: float = C) -> Array:
    """Return P_D for each feature, from k distances and qualities of shape (k, n_features).

    Examples
    --------
    >>> expectation(np.array([0.5, 0.5]), np.array([[1.0, 0.0], [0.5, 0.0]]))
    array([0.75, 0.  ])
    """
    w = weight(distances, c)
    return np.asarray(w @ qualities / w.sum())


def no_transfer(near: Sequence[Experience], names: Sequence[str], threshold: float) -> None:
    """Expect nothing: every search starts from the empty set."""


def paper_transfer(near: Sequence[Experience], names: Sequence[str], threshold: float) -> Prior:
    """Start from the features whose P_D reaches the threshold, and search as published."""
    expected, sources = _expected(near, _aligned(near, names, lambda memory: memory.quality))
    start = start_from(expected, threshold)
    return Prior(expected, starts=(start,) if len(start) else (), sources=sources)


def guided_transfer(near: Sequence[Experience], names: Sequence[str], threshold: float) -> Prior:
    """Start from the empty set, and at each step try first what is expected most.

    The memory of a neighbour counts for every feature it scored: half for being selected
    there, half for its score relative to the best one. Starting sets are left to the paper's
    rule: a good set of a neighbour is often a local optimum that a search cannot leave.
    """
    selected = _aligned(near, names, lambda memory: memory.selected.astype(np.float64))
    relative = _aligned(near, names, lambda memory: _relative(memory.q))
    expected, sources = _expected(near, (selected + relative) / 2)
    return Prior(expected, first=most_expected(expected), sources=sources)


Transfer = Callable[[Sequence[Experience], Sequence[str], float], Prior | None]
TRANSFERS: Mapping[str, Transfer] = {
    "none": no_transfer,
    "paper": paper_transfer,
    "guided": guided_transfer,
}


def expect(
    near: Sequence[Experience],
    names: Sequence[str],
    transfer: str = "guided",
    threshold: float = THRESHOLD,
) -> Prior | None:
    """Turn what is remembered of the nearest problems into a prior; without any, into none."""
    return TRANSFERS[transfer](near, names, threshold) if near else None


def _expected(near: Sequence[Experience], quality: Array) -> tuple[Array, tuple[Source, ...]]:
    """Return the expectation of each feature, and each neighbour's part in it."""
    distances = np.array([memory.distance for memory in near])
    w = weight(distances)
    sources = tuple(
        Source(memory.problem, memory.distance, float(share), row)
        for memory, share, row in zip(near, w / w.sum(), quality, strict=True)
    )
    return np.clip(expectation(distances, quality), 0.0, 1.0), sources


def _aligned(
    near: Sequence[Experience], names: Sequence[str], of: Callable[[Experience], Array]
) -> Array:
    """Return (k, n_features): a remembered quantity, for the features of the new problem."""
    place = {name: index for index, name in enumerate(names)}
    aligned = np.zeros((len(near), len(names)))
    for row, memory in zip(aligned, near, strict=True):
        known = [(place[n], i) for i, n in enumerate(memory.features) if n in place]
        if known:
            here, there = np.array(known).T
            row[here] = np.nan_to_num(of(memory)[there])
    return aligned


def _relative(q: Array) -> Array:
    """Scale scores to [0, 1] by the best one, whatever unit the selector scored in."""
    q = np.clip(np.nan_to_num(q), 0.0, None)
    best = q.max(initial=0.0)
    return q / best if best > 0 else q
