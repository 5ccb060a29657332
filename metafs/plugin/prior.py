"""What memory expects of each feature, and from which neighbours."""

import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs.plugin.programs import Program, with_features
from metafs.stats.linear import WeightPrior

THRESHOLD = 0.1
"""The expectation from which a feature enters the starting set (the paper's t)."""

FIRST = 32
"""How many features are tried before all others."""


@dataclass(frozen=True)
class Source:
    """A neighbour's part in a prior: its distance, and the quality of each feature there."""

    problem: str
    distance: float
    weight: float
    """Its share of all neighbours' weight; the weights of a prior sum to one."""
    quality: Array
    """(n_features,): the quality each feature had there, 0 where it was not used."""


@dataclass(frozen=True)
class Contribution:
    """Why one feature is expected: what one neighbour added to its expectation."""

    problem: str
    distance: float
    weight: float
    quality: float

    @property
    def share(self) -> float:
        """The part of the feature's expectation that this neighbour supplied."""
        return self.weight * self.quality


@dataclass(frozen=True, eq=False)
class Prior:
    """Expectations in [0, 1], one per feature, with their provenance.

    Wherever an array of expectations is wanted a prior can be given: ``np.asarray(prior)``
    is `expected`.

    Examples
    --------
    >>> prior = Prior(np.array([0.9, 0.0, 0.3]), starts=(np.array([0, 2]),))
    >>> np.asarray(prior)
    array([0.9, 0. , 0.3])
    """

    expected: Array
    starts: tuple[Array, ...] = ()
    """Sets of feature indices worth evaluating before anything else."""
    size: int = 0
    """How many features a good set is expected to have; 0 if nothing is known of that."""
    guides: bool = False
    """Whether the search is to go by these expectations, not only to start somewhere."""
    doubtful: bool = False
    """Whether what guides deserves little trust, because nothing known is near."""
    sources: tuple[Source, ...] = field(default=(), repr=False)
    predicted: Array = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    """Indices of the features that no neighbour had: expected by their meta-features alone."""
    relevance: Array | None = field(default=None, repr=False)
    """(n_features,): the expected univariate relevance of each feature, the best 1, whichever
    selector worked on past problems; None where memory keeps no such thing."""
    relevance_sources: tuple[Source, ...] = field(default=(), repr=False)
    """The relevance of each feature in each near problem, as its `quality`."""
    weights: WeightPrior | None = field(default=None, repr=False)
    """What memory knows of the weights of a linear model on these features."""
    programs: tuple[Program, ...] = field(default=(), repr=False)
    """Programs that learners found on near problems, with features by number, to start from."""
    for_learners: bool = True
    """Whether learners may use it too; under the published rule only the search does."""

    @property
    def judged(self) -> Array:
        """Deprecated name of `predicted`."""
        warnings.warn("Prior.judged is deprecated: use predicted.", DeprecationWarning, 2)
        return self.predicted

    @property
    def speakers(self) -> tuple[Source, ...]:
        """Deprecated name of `relevance_sources`."""
        warnings.warn("Prior.speakers is deprecated: use relevance_sources.", DeprecationWarning, 2)
        return self.relevance_sources

    def columns(self, columns: Array) -> "Prior":
        """Return what is known of some features only, for a learner on these."""
        place = {feature: number for number, feature in enumerate(np.asarray(columns).tolist())}

        def kept(indices: Array) -> Array:
            found = [place[each] for each in indices.tolist() if each in place]
            return np.array(found, dtype=np.int64)

        def restricted(sources: tuple[Source, ...]) -> tuple[Source, ...]:
            return tuple(replace(each, quality=each.quality[columns]) for each in sources)

        return replace(
            self,
            expected=self.expected[columns],
            starts=tuple(found for each in self.starts if len(found := kept(each))),
            sources=restricted(self.sources),
            predicted=kept(self.predicted),
            relevance=None if self.relevance is None else self.relevance[columns],
            relevance_sources=restricted(self.relevance_sources),
            weights=None if self.weights is None else self.weights.columns(columns),
            programs=tuple(
                program
                for each in self.programs
                if (program := with_features(each, place.get)) is not None
            ),
        )

    def __array__(self, dtype: type | None = None, copy: bool | None = None) -> Array:
        expected = self.expected if dtype is None else self.expected.astype(dtype)
        return expected.copy() if copy else expected

    def __len__(self) -> int:
        return len(self.expected)

    @property
    def first(self) -> Array:
        """Indices of the features to try before all others; none, unless it guides."""
        return most_expected(self.expected) if self.guides else np.zeros(0, dtype=np.int64)

    @property
    def transferred(self) -> Array:
        """Indices of the features that memory proposes: to try first, or else to start from."""
        return self.first if self.guides or not self.starts else self.starts[0]

    def contributions(self, feature: int) -> list[Contribution]:
        """Return what each neighbour added to a feature's expectation, the largest first."""
        parts = [
            Contribution(s.problem, s.distance, s.weight, float(s.quality[feature]))
            for s in self.sources
            if s.quality[feature] > 0
        ]
        return sorted(parts, key=lambda part: -part.share)


def most_expected(expected: Array, limit: int = FIRST) -> Array:
    """Return the indices of the features of which most is expected, the best first.

    Examples
    --------
    >>> most_expected(np.array([0.2, 0.0, 0.9]))
    array([2, 0])
    """
    order = np.argsort(-expected, kind="stable")[:limit]
    return order[expected[order] > 0]


def start_from(expected: Array, threshold: float = THRESHOLD) -> Array:
    """Return the indices whose expectation reaches the threshold; nothing expected never does."""
    return np.flatnonzero((expected >= threshold) & (expected > 0))


def as_prior(prior: "Prior | ArrayLike | None", n_features: int) -> Prior | None:
    """Make a `Prior` of whatever a caller hands to ``fit(prior=...)``.

    A bare array starts the search at `THRESHOLD`, and guides it.
    """
    if prior is None:
        return None
    try:
        expected = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(
            "the prior does not consist of numbers: give one expectation per feature."
        ) from None
    if expected.shape != (n_features,):
        raise UsageError(
            f"the prior has shape {expected.shape}, but there are {n_features} features: "
            "give one expectation per feature."
        )
    if not np.all((expected >= 0) & (expected <= 1)):
        raise UsageError("the prior must hold expectations between 0 and 1, without NaN.")
    if isinstance(prior, Prior):
        return prior
    start = start_from(expected)
    starts = (start,) if len(start) else ()
    return Prior(expected, starts=starts, size=len(start), guides=True)
