"""Sets of generated features within a budget: how they are drawn, measured, and searched for.

A set is filled with features drawn one by one, each taken if it is new and what is left of the
budget pays for it, until nothing more fits. `search` walks through the space of meta-features for
the point that gives the best sets (`metafs_metafeatures.walk`).
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from metafs.errors import ProblemError, UsageError
from metafs.generators import FeatureGenerator, measure_all, prepared, total_cost
from metafs.parameters import check_between
from metafs.typing import Array
from metafs_metafeatures.svm_accuracy import SVMAccuracy
from metafs_metafeatures.walk import STEP, Schedule, Step, walk

MISSES = 20
"""Draws in a row that bring nothing new which fits, after which a set is full."""

_CORNERS = 64
_FIRST_DRAWS = 64
_MOST_DRAWS = 4096


@dataclass(frozen=True, eq=False)
class MufasaResult:
    """The best set of features that a search found.

    Attributes
    ----------
    features : tuple
        The features.
    u : ndarray of shape (k,) or None
        The point they were drawn at; None for a method that draws from everywhere.
    quality : float
        What the set was worth.
    cost : float
        What measuring the set costs.
    history : tuple of Step
        Every set that was tried.
    failed : tuple
        Features that could not be measured; they were left out.
    stopped : str
        Why the search ended.
    """

    features: tuple[Any, ...]
    u: Array | None
    quality: float
    cost: float
    history: tuple[Step, ...]
    failed: tuple[Any, ...]
    stopped: str


def seeded(random_state: Any) -> np.random.Generator:
    """Return a generator of random numbers for a seed, a RandomState or None."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


def check_budget(generator: FeatureGenerator, budget: Any) -> None:
    """Refuse a budget that is no number, or below the cheapest feature of all corners."""
    check_between("budget", budget)
    corners = islice(product(*np.asarray(generator.bounds, dtype=np.float64)), _CORNERS)
    rng = np.random.default_rng(0)
    points = (generator.nearest(np.array(corner)) for corner in corners)
    cheapest = min(generator.cost(generator.sample(u, rng)) for u in points)
    if budget < cheapest:
        raise UsageError(
            f"the budget of {budget:g} is below the cheapest feature, which costs {cheapest:g}: "
            "give at least that."
        )


def drawn(
    generator: FeatureGenerator, point: Callable[[], Array], rng: np.random.Generator
) -> Iterator[Any]:
    """Draw features for ever, each at a point of its own.

    A generator with ``sample_all(points, rng)`` is asked for more and more at once.
    """
    if not hasattr(generator, "sample_all"):
        while True:
            yield generator.sample(point(), rng)
    size = _FIRST_DRAWS
    while True:
        yield from generator.sample_all(np.array([point() for _ in range(size)]), rng)
        size = min(2 * size, _MOST_DRAWS)


def filled(
    draws: Iterator[Any], cost: Callable[[Any], float], budget: float, unwanted: Any = ()
) -> tuple[Any, ...]:
    """Take features until the budget is used up: until `MISSES` in a row are known or too dear.

    Examples
    --------
    >>> filled(iter([3, 4, 3, 5] + MISSES * [9]), float, budget=12)
    (3, 4, 5)
    """
    taken: dict[Any, None] = {}
    left, misses = float(budget), 0
    while misses < MISSES and left > 0:
        feature = next(draws)
        price = cost(feature)
        if price > left or feature in taken or feature in unwanted:
            misses += 1
        else:
            taken[feature] = None
            left -= price
            misses = 0
    return tuple(taken)


@dataclass(eq=False)
class Measurer:
    """Measures sets of features; one that cannot be measured is named, left out and remembered."""

    generator: FeatureGenerator
    images: Any
    failed: dict[Any, None] = field(default_factory=dict)

    def table(self, features: tuple[Any, ...]) -> tuple[Array, tuple[Any, ...]]:
        """Return the values of those features that can be measured, and which these are."""
        try:
            return measure_all(self.generator, features, self.images), features
        except Exception:  # whatever a stranger's generator raises
            return self._one_by_one(features)

    def _one_by_one(self, features: tuple[Any, ...]) -> tuple[Array, tuple[Any, ...]]:
        measured = {}
        for feature in features:
            try:
                measured[feature] = np.asarray(self.generator.measure(feature, self.images))
            except Exception as error:
                self.failed[feature] = None
                warnings.warn(
                    f"{feature!r} cannot be measured and is left out: {error}", stacklevel=2
                )
        if not measured:
            return np.zeros((0, 0)), ()
        return np.column_stack(list(measured.values())), tuple(measured)


def quality_of_table(quality: Any) -> Callable[[Array, Any], float]:
    """Return what a table is worth by a set measure, a function of (X, y), or None.

    None is the 2-fold cross-validated accuracy of a linear SVM on the values as they are.
    """
    if quality is None:
        return SVMAccuracy(standardise=False).of_table
    if hasattr(quality, "of_set"):
        return lambda X, y: float(quality.of_set(X, y, np.arange(X.shape[1])))
    if callable(quality):
        return lambda X, y: float(quality(X, y))
    raise UsageError(
        f"quality is {quality!r}; give a function of (X, y), a measure of sets, or None."
    )


class Extraction:
    """One search under way: the data, the budget, what a set is worth, and the best one so far."""

    def __init__(
        self, generator: FeatureGenerator, images: Any, y: Any, budget: float, quality: Any
    ) -> None:
        check_budget(generator, budget)
        self.generator, self.budget, self.y = generator, float(budget), np.asarray(y)
        self.measurer = Measurer(generator, prepared(generator, images))
        self._worth = quality_of_table(quality)

    def draw(self, u: Array, rng: np.random.Generator) -> tuple[Any, ...]:
        """Draw a set at one point."""
        return self.fill(lambda: u, rng)

    def fill(self, point: Callable[[], Array], rng: np.random.Generator) -> tuple[Any, ...]:
        """Draw a set, each feature at a point of its own; none that could not be measured."""
        draws = drawn(self.generator, point, rng)
        return filled(draws, self.generator.cost, self.budget, self.measurer.failed)

    def quality(self, features: tuple[Any, ...]) -> float:
        """Return what the features that can be measured are worth together."""
        X, measured = self.measurer.table(features)
        return self._worth(X, self.y) if measured else -np.inf

    def result(
        self,
        features: tuple[Any, ...],
        u: Array | None,
        quality: float,
        history: tuple[Step, ...],
        stopped: str,
    ) -> MufasaResult:
        """Sum up, or say that nothing could be selected."""
        failed = self.measurer.failed
        kept = tuple(feature for feature in features if feature not in failed)
        if not kept:
            raise ProblemError(
                f"no set of features within the budget of {self.budget:g} could be measured: "
                "raise the budget, or mend the generator."
            )
        cost = total_cost(self.generator, kept)
        return MufasaResult(kept, u, quality, cost, history, tuple(failed), stopped)


def search(
    generator: FeatureGenerator,
    images: Any,
    y: Any,
    *,
    budget: float,
    n_steps: int = 50,
    quality: Any = None,
    step: float | Sequence[float] = STEP,
    decay: float = 1.0,
    restarts: int = 0,
    patience: int | None = None,
    max_evaluations: int | None = None,
    max_seconds: float | None = None,
    start: Any = None,
    random_state: Any = None,
) -> MufasaResult:
    """Search the meta-features for the best set of generated features within a budget (Mufasa).

    Parameters
    ----------
    generator : feature generator
        Draws, describes and measures features (`metafs.hookspecs`).
    images : instances
        What the generator measures features on.
    y : array-like of shape (n_images,)
        The target.
    budget : float
        What all features together may cost.
    n_steps, step, decay, restarts, patience, max_evaluations, max_seconds
        How long to walk, and how far each step goes; see `Schedule`.
    quality : set measure or function of (X, y), default=None
        What a table of measured features is worth, larger is better; None is the 2-fold
        cross-validated accuracy of a linear SVM.
    start : array-like of shape (k,), default=None
        The point to start from; None draws one evenly.
    random_state : int, RandomState instance or None, default=None
        Same seed, same answer.

    Examples
    --------
    >>> from metafs_metafeatures.and_or import AndOrGenerator
    >>> rng = np.random.default_rng(0)
    >>> images = rng.random((60, 8, 8)) < np.repeat([0.2, 0.6], 30)[:, None, None]
    >>> y = np.repeat([0, 1], 30)
    >>> found = search(AndOrGenerator((8, 8)), images, y, budget=50, random_state=0)
    >>> found.cost <= 50, found.quality > 0.9, len(found.history)
    (True, True, 50)
    """
    schedule = Schedule(n_steps, step, decay, restarts, patience, max_evaluations, max_seconds)
    work = Extraction(generator, images, y, budget, quality)
    found = walk(generator, work.draw, work.quality, schedule, seeded(random_state), start)
    return work.result(found.features, found.u, found.quality, found.history, found.stopped)
