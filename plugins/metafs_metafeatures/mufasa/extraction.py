"""Sets of generated features within a budget: how they are drawn, measured, and searched for.

A set is filled with features drawn one by one, each taken if it is new and what is left of the
budget pays for it, until 20 draws in a row are known or too expensive. `search` walks through the
space of meta-features for the point that gives the best sets (`metafs_metafeatures.mufasa.walk`).
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from metafs.data.parameters import check_between
from metafs.data.typing import Array
from metafs.errors import ProblemError, UsageError
from metafs.plugin.generators import measure_sound, prepared, total_cost
from metafs.plugin.protocols import Generator, SetMeasure, SupportsSampleAll
from metafs_metafeatures.mufasa.svm_accuracy import SVMAccuracy
from metafs_metafeatures.mufasa.walk import STEP, Schedule, Step, even_point, walk

MISSES = 20
"""Draws in a row that bring nothing new which fits, after which a set is full."""

_FIRST_DRAWS = 64
_MOST_DRAWS = 4096


@dataclass(frozen=True, eq=False)
class MufasaResult:
    """The best set of features that a search found.

    Attributes
    ----------
    features : tuple
        The features.
    u : ndarray of shape (k,) or (m, k), or None
        The point they were drawn at, or the points of a blend; None for a method that draws from
        everywhere.
    quality : float
        What the set was worth.
    cost : float
        What measuring the set costs.
    history : tuple of Step
        Every set that was tried.
    failed : dict
        For each feature that could not be measured, why; these were left out.
    stopped : str
        Why the search ended.
    """

    features: tuple[Any, ...]
    u: Array | None
    quality: float
    cost: float
    history: tuple[Step, ...]
    failed: dict[Any, str]
    stopped: str


def seeded(random_state: Any) -> np.random.Generator:
    """Return a generator of random numbers for a seed, a RandomState or None."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))


def drawn(
    generator: Generator, point: Callable[[], Array], rng: np.random.Generator
) -> Iterator[Any]:
    """Draw features for ever, each at a point of its own.

    A generator with ``sample_all(points, rng)`` is asked for more and more at once.
    """
    if not isinstance(generator, SupportsSampleAll):
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


def quality_of_table(quality: Any) -> Callable[[Array, Any], float]:
    """Return what a table is worth by a set measure, a function of (X, y), or None.

    None is the 2-fold cross-validated accuracy of a linear SVM on the values as they are.
    """
    if quality is None:
        return SVMAccuracy(standardise=False).of_table
    if isinstance(quality, SetMeasure):
        return lambda X, y: float(quality.of_set(X, y, np.arange(X.shape[1])))
    if callable(quality):
        return lambda X, y: float(quality(X, y))
    raise UsageError(
        f"quality is {quality!r}; give a function of (X, y), a measure of sets, or None."
    )


class Extraction:
    """One search under way: the data, the budget, what a set is worth, and the best one so far."""

    def __init__(
        self, generator: Generator, images: Any, y: Any, budget: float, quality: Any
    ) -> None:
        check_between("budget", budget)
        self.generator, self.budget, self.y = generator, float(budget), np.asarray(y)
        self.images = prepared(generator, images)
        self.failed: dict[Any, str] = {}
        self._worth = quality_of_table(quality)
        self._cheapest = np.inf

    def draw(self, u: Array, rng: np.random.Generator) -> tuple[Any, ...]:
        """Draw a set at one point, or at several, each with an equal part of what is left."""
        points = np.atleast_2d(u)
        taken: tuple[Any, ...] = ()
        left = self.budget
        for n_left, point in zip(range(len(points), 0, -1), points, strict=True):
            draws = drawn(self.generator, repeat(point).__next__, rng)
            new = filled(draws, self.cost, left / n_left, {*self.failed, *taken})
            taken += new
            left -= total_cost(self.generator, new)
        return taken

    def draw_everywhere(self, rng: np.random.Generator) -> tuple[Any, ...]:
        """Draw a set, each feature at a point of its own."""
        draws = drawn(self.generator, lambda: even_point(self.generator, rng), rng)
        return filled(draws, self.cost, self.budget, self.failed)

    def cost(self, feature: Any) -> float:
        """Return what a feature costs, and remember the cheapest that was ever drawn."""
        price = self.generator.cost(feature)
        self._cheapest = min(self._cheapest, price)
        return price

    def measured(self, features: tuple[Any, ...]) -> tuple[Array, tuple[Any, ...]]:
        """Return the values of the features that can be measured, and which; others are named."""
        X, failed = measure_sound(self.generator, features, self.images, len(self.y))
        for feature, why in failed.items():
            warnings.warn(f"{feature!r} cannot be measured and is left out: {why}", stacklevel=2)
        self.failed |= failed
        return X, tuple(feature for feature in features if feature not in failed)

    def quality(self, features: tuple[Any, ...]) -> float:
        """Return what the features that can be measured are worth together."""
        X, measured = self.measured(features)
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
        kept = tuple(feature for feature in features if feature not in self.failed)
        if not kept and self._cheapest > self.budget:
            raise UsageError(
                f"the budget of {self.budget:g} is below the cheapest feature drawn, which costs "
                f"{self._cheapest:g}: give at least that."
            )
        if not kept:
            raise ProblemError(
                f"no set of features within the budget of {self.budget:g} could be measured: "
                "raise the budget, or fix the generator."
            )
        cost = total_cost(self.generator, kept)
        return MufasaResult(kept, u, quality, cost, history, self.failed, stopped)


def search(
    generator: Generator,
    images: Any,
    y: Any,
    *,
    budget: float,
    n_steps: int = 50,
    quality: Any = None,
    step: float | Sequence[float] = STEP,
    decay: float = 1.0,
    n_guesses: int = 1,
    n_blends: int = 0,
    temperature: float = 0.0,
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
        Draws, describes and measures features (`metafs.plugin.hookspecs`).
    images : instances
        What the generator measures features on.
    y : array-like of shape (n_images,)
        The target.
    budget : float
        What all features together may cost.
    n_steps, step, decay, n_guesses, n_blends, temperature, restarts, patience
    max_evaluations, max_seconds
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
    >>> from metafs_metafeatures.generators.and_or import AndOrGenerator
    >>> rng = np.random.default_rng(0)
    >>> images = rng.random((60, 8, 8)) < np.repeat([0.2, 0.6], 30)[:, None, None]
    >>> y = np.repeat([0, 1], 30)
    >>> found = search(AndOrGenerator((8, 8)), images, y, budget=50, random_state=0)
    >>> found.cost <= 50, found.quality > 0.9, len(found.history)
    (True, True, 50)
    """
    schedule = Schedule(
        n_steps,
        step,
        decay,
        n_guesses,
        n_blends,
        temperature,
        restarts,
        patience,
        max_evaluations,
        max_seconds,
    )
    work = Extraction(generator, images, y, budget, quality)
    found = walk(generator, work.draw, work.quality, schedule, seeded(random_state), start)
    return work.result(found.features, found.u, found.quality, found.history, found.stopped)
