r"""Expect: turn what worked on near problems into a prior over the features of a new one.

The published rule, for the k nearest problems :math:`D_1 \dots D_k` of a new problem D:

.. math:: P_D(s) = \frac{\sum_i w(d(D, D_i)) \, Q(s, D_i)}{\sum_i w(d(D, D_i))},
          \qquad w(d) = \frac{1}{c + d^2}, \quad c = 0.001

B. Goertzel, N. Geisweiller and C. Poulin, "Meta-learning for feature selection", 2021,
section 3.3. The features with :math:`P_D(s) \ge t` are where the search begins. A feature that none
of these problems had is expected to do as features of its kind did, where memory can judge that
(`metafs.judgement`), else nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from metafs.prior import THRESHOLD, Prior, Source, most_expected, start_from
from metafs.typing import Array

C = 0.001
"""The paper's c: how much a problem at distance 0 may outweigh the others."""


class Fared(Protocol):
    """How features did, one value each."""

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
    """What is remembered of a near problem: its features and how each fared there."""

    problem: str
    source: str
    distance: float
    features: Sequence[str]
    q: Array
    """As the selector scored each feature, on the selector's own scale."""
    quality: Array
    selected: Array

    @cached_property
    def relative(self) -> Array:
        """The scores between 0 and 1 for the best, whatever unit the selector scored in."""
        q: Array = np.clip(np.nan_to_num(self.q), 0.0, None)
        best = q.max(initial=0.0)
        return q / best if best > 0 else q


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


@dataclass(frozen=True)
class Transfer:
    """A way to use memory: what a feature was worth elsewhere, and what is made of that here."""

    worth: Callable[[Fared], Array]
    prior: Callable[[Array, float], Prior]
    """From expectations and the threshold."""


def start_where_expected(expected: Array, threshold: float) -> Prior:
    """Start from the features whose expectation reaches the threshold, and search as published."""
    start = start_from(expected, threshold)
    return Prior(expected, starts=(start,) if len(start) else ())


def try_expected_first(expected: Array, threshold: float) -> Prior:
    """Start from the empty set, and at each step try first what is expected most.

    Starting sets are left to the paper's rule: a good set of a neighbour is often a local
    optimum that a search cannot leave.
    """
    return Prior(expected, first=most_expected(expected))


TRANSFERS: Mapping[str, Transfer | None] = {
    "none": None,
    "paper": Transfer(lambda fared: fared.quality, start_where_expected),
    # Half for being selected there, half for its score: every feature that was scored counts.
    "guided": Transfer(lambda fared: (fared.selected + fared.relative) / 2, try_expected_first),
}


def expect(
    near: Sequence[Experience],
    names: Sequence[str],
    transfer: str = "guided",
    threshold: float = THRESHOLD,
    *,
    judged: Array | None = None,
) -> Prior | None:
    """Turn what is remembered of the nearest problems into a prior; without any, into none.

    What is `judged` of each feature by its properties holds for those that no neighbour had.
    """
    rule = TRANSFERS[transfer]
    if rule is None or (not near and judged is None):
        return None
    expected, sources = _expected(near, _aligned(near, names, rule.worth))
    strange = strangers(near, names) if judged is not None else np.zeros(0, dtype=np.int64)
    if judged is not None:
        expected[strange] = np.clip(judged[strange], 0.0, 1.0)
    return replace(rule.prior(expected, threshold), sources=sources, judged=strange)


def strangers(near: Sequence[Experience], names: Sequence[str]) -> Array:
    """Return the indices of the features that no near problem had.

    Examples
    --------
    >>> strangers([], ["a", "b"])
    array([0, 1])
    """
    known = {name for memory in near for name in memory.features}
    return np.flatnonzero([name not in known for name in names])


def _expected(near: Sequence[Experience], quality: Array) -> tuple[Array, tuple[Source, ...]]:
    """Return the expectation of each feature, and each neighbour's part in it."""
    if not near:
        return np.zeros(quality.shape[1]), ()
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
