r"""Mufasa's walk: a stochastic local search in the space of meta-features.

1. :math:`q_{best} = -\infty`; :math:`u_0` is drawn evenly.
2. For j = 1 ... J:

   a. draw a set :math:`F_j` of features by :math:`p(v \mid u_{j-1})`;
   b. :math:`q_j = \mathrm{quality}(F_j)`;
   c. if :math:`q_j \ge q_{best}`: :math:`F_{best} = F_j`, :math:`u_{best} = u_{j-1}`,
      :math:`q_{best} = q_j`;
   d. :math:`u_j` is :math:`u_{best}` with Gaussian noise added to each coordinate, rounded to the
      nearest valid point.

3. Return :math:`F_{best}`.

With a temperature the walk is simulated annealing, one of the "standard techniques to avoid local
maxima" of section 6.1: it goes on from the set :math:`q` where it stands, not from the best, and a
worse set becomes that one with probability

.. math:: e^{(q_j - q) / \tau_j}, \qquad \tau_j = \tau \, (1 - j / J)

The best set met is returned all the same.

Of the J steps the last ones may draw their sets at several of the best points at once
(`metafs_metafeatures.mufasa.blend`); none is the published walk.

The published :math:`q_{best}` begins at the largest number there is, which no set could reach: it
is read as the least. Equal quality is accepted, so that plateaus are crossed. The noise of step j
has the standard deviation :math:`s\,\delta^{j-1}` times the range of the coordinate;
:math:`\delta = 1` is the published walk. Several points may be drawn before the walk begins
(``n_guesses``, 1 as published), because a walk that starts where no step leads out stays there.

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", Journal of
Machine Learning Research 9, 2008, algorithm 3.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from time import monotonic
from typing import Any, Protocol

import numpy as np

from metafs.data.parameters import check_at_least, check_between
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs_metafeatures.mufasa.blend import SIZES, best_apart

STEP = 0.15
"""The noise as a share of each range; the paper does not give its value."""


class Space(Protocol):
    """The part of a generator that the walk needs: where points may lie."""

    @property
    def bounds(self) -> Array:
        """The least and the largest value of each meta-feature, of shape (k, 2)."""

    def nearest(self, u: Array) -> Array:
        """Return the valid point nearest to u."""


@dataclass(frozen=True)
class Schedule:
    """How long to walk, and how far each step goes.

    Parameters
    ----------
    n_steps : int, default=50
        Sets to try from one starting point (the paper's J).
    step : float or sequence of float, default=0.15
        Standard deviation of the noise, as a share of the range of each meta-feature; one share
        for all, or one for each.
    decay : float, default=1.0
        What the noise is multiplied by after each step.
    n_guesses : int, default=1
        How many of these steps guess: points are drawn evenly, and the walk goes on from the best
        of them. One is the published method; several keep a walk from starting where no step leads
        out.
    n_blends : int, default=0
        How many of these steps, after all walks, draw sets at several of the best points at once.
    temperature : float, default=0.0
        How much worse a set may be, at first, to be accepted with probability 1/e; 0 is the
        published walk.
    restarts : int, default=0
        Further starting points, drawn evenly; the best set of all is kept.
    patience : int, default=None
        Steps without improvement after which a walk ends; None walks all of them.
    max_evaluations : int, default=None
        Sets to try at most, over all starting points.
    max_seconds : float, default=None
        Time after which no further set is tried.
    """

    n_steps: int = 50
    step: float | Sequence[float] = STEP
    decay: float = 1.0
    n_guesses: int = 1
    n_blends: int = 0
    temperature: float = 0.0
    restarts: int = 0
    patience: int | None = None
    max_evaluations: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        check_at_least("n_steps", self.n_steps)
        check_at_least("n_guesses", self.n_guesses)
        for share in np.ravel(self.step).tolist():
            check_between("step", share)
        if self.temperature != 0:
            check_between("temperature", self.temperature)
        check_at_least("restarts", self.restarts, 0)
        check_at_least("n_blends", self.n_blends, 0)
        if self.n_blends >= self.n_steps:
            raise UsageError(
                f"n_blends must be below n_steps, which is {self.n_steps}, not {self.n_blends}: "
                "only points that were tried can be blended."
            )
        if self.decay != 1:
            check_between("decay", self.decay, 0, 1)
        for name in ("patience", "max_evaluations"):
            if getattr(self, name) is not None:
                check_at_least(name, getattr(self, name))
        if self.max_seconds is not None:
            check_between("max_seconds", self.max_seconds)


@dataclass(frozen=True, eq=False)
class Step:
    """One set that was tried: from which starting point, at which point, and what it was worth."""

    start: int
    u: Array
    """A point, of shape (k,), or the points of a blend, of shape (m, k)."""
    n_features: int
    quality: float
    """Minus infinity for a set without features."""


@dataclass(frozen=True, eq=False)
class Walk:
    """What a walk found, every step of it, and why it ended."""

    features: tuple[Any, ...]
    u: Array
    quality: float
    history: tuple[Step, ...]
    stopped: str


def even_point(space: Space, rng: np.random.Generator) -> Array:
    """Draw a point evenly from within the bounds, and round it to the nearest valid one."""
    low, high = np.asarray(space.bounds, dtype=np.float64).T
    return space.nearest(rng.uniform(low, high))


def near_point(space: Space, u: Array, step: Array, rng: np.random.Generator) -> Array:
    """Draw a valid point near u, ``step`` being the noise as a share of each range."""
    low, high = np.asarray(space.bounds, dtype=np.float64).T
    return space.nearest(u + rng.normal(size=len(low)) * (step * (high - low)))


def shares(step: float | Sequence[float], k: int) -> Array:
    """Return one share of noise for each of k meta-features.

    Examples
    --------
    >>> shares(0.2, 3)
    array([0.2, 0.2, 0.2])
    """
    if np.shape(step) not in ((), (k,)):
        raise UsageError(f"step must be one number, or one for each of {k} meta-features.")
    return np.broadcast_to(np.asarray(step, dtype=np.float64), (k,))


def starting_point(space: Space, start: Any) -> Array:
    """Return the valid point nearest to where somebody wants to start."""
    k = len(np.asarray(space.bounds))
    u = np.asarray(start, dtype=np.float64)
    if u.shape != (k,) or not np.isfinite(u).all():
        raise UsageError(f"start must be {k} numbers, one for each meta-feature, not {start!r}.")
    return space.nearest(u)


def walk(
    space: Space,
    draw: Callable[[Array, np.random.Generator], Sequence[Any]],
    quality: Callable[[tuple[Any, ...]], float],
    schedule: Schedule,
    rng: np.random.Generator,
    start: Any = None,
) -> Walk:
    """Walk through the space of meta-features and return the best set met.

    ``draw(u, rng)`` gives the features of a set, where u is a point or, for a blend, several;
    ``quality`` returns the value of a set; it is not called for empty sets.
    """
    step = shares(schedule.step, len(np.asarray(space.bounds)))
    n_steps = schedule.n_steps - schedule.n_blends
    history: list[Step] = []
    limit = _limit(schedule, history)

    def tried(number: int, u: Array) -> tuple[tuple[Any, ...], float]:
        features = tuple(draw(u, rng))
        q = float(quality(features)) if features else -np.inf
        q = -np.inf if np.isnan(q) else q
        history.append(Step(number, u, len(features), q))
        return features, q

    best: tuple[tuple[Any, ...], Array, float] | None = None
    for number in range(1 + schedule.restarts):
        first = start is not None and number == 0
        u = starting_point(space, start) if first else even_point(space, rng)
        features_best, u_best, q_best, idle = (), u, -np.inf, 0
        u_there, q_there = u, -np.inf
        stopped = f"took {schedule.n_steps} steps"
        for j in range(n_steps):
            features, q = tried(number, u)
            walked = j + 1 - schedule.n_guesses
            idle = 0 if q > q_best or walked < 0 else idle + 1
            if q >= q_best:
                features_best, u_best, q_best = features, u, q
            heat = schedule.temperature * (1 - j / n_steps) if walked >= 0 else 0.0
            if q >= q_there or (heat and rng.random() < np.exp((q - q_there) / heat)):
                u_there, q_there = u, q
            if limit() or idle == schedule.patience:
                stopped = limit() or f"no better set in {idle} steps"
                break
            if walked < 0:
                u = even_point(space, rng)
            else:
                u = near_point(space, u_there, step * schedule.decay**walked, rng)
        if best is None or q_best > best[2]:
            best = features_best, u_best, q_best
        if limit():
            break
        if schedule.restarts:
            stopped += f" from the last of {1 + schedule.restarts} starting points"
    assert best is not None
    ranges = np.ptp(np.asarray(space.bounds, dtype=np.float64), axis=1)
    walked_to = [(step.u, step.quality) for step in history]
    for m in islice(cycle(SIZES), schedule.n_blends):
        points = best_apart(walked_to, m, ranges)
        if limit() or not len(points):
            break
        u = points if len(points) > 1 else points[0]
        features, q = tried(number, u)
        if q >= best[2]:
            best = features, u, q
        stopped = limit() or stopped
    return Walk(*best, tuple(history), stopped)


def _limit(schedule: Schedule, history: list[Step]) -> Callable[[], str]:
    """Return a function that says why the walk must end now, or nothing."""
    deadline = np.inf if schedule.max_seconds is None else monotonic() + schedule.max_seconds

    def limit() -> str:
        if len(history) == schedule.max_evaluations:
            return f"budget of {schedule.max_evaluations} evaluations spent"
        return "time is up" if monotonic() >= deadline else ""

    return limit
