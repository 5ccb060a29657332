r"""A step of a deme: from a centre to the next, by hill climbing or by a sampled distribution.

A row that the centre gets wrong is drawn in proportion to its weight, and the programs one knob
away that could change the output for it are scored:

.. math:: s(f) = \sum_{i: f(x_i) \neq y_i} b_i w_i + c\,\text{size}(f)

with the weights w of the rows, and their boosts b. The best of those that get the drawn row right
is the next centre if it is better than the present one. Otherwise programs with several knobs on
are drawn from a univariate distribution, and the first that is better is the next centre. If none
is, it is the best program that gets the row right all the same, and the row is to be boosted.
"""

from dataclasses import dataclass

import numpy as np

from metafs.data.typing import Array
from metafs_moses.budget import Budget
from metafs_moses.distribution import drawn, first_chances, learnt, outputs_of
from metafs_moses.knobs import Pool, Representation
from metafs_moses.literals import Literals
from metafs_moses.neighbourhood import Neighbourhood
from metafs_moses.packed import Target, unpacked
from metafs_moses.program import Program

ROUNDING = 1e-9
UNIT = 4
"""Boosted weights are whole numbers of quarters."""
_GENERATIONS = 2
_SAMPLED_KNOBS = 60


@dataclass(frozen=True)
class Task:
    """What is to be learnt from which rows, and how.

    Attributes
    ----------
    literals : Literals
    pool : Pool
        What the rows say of the literals, and what knobs draw.
    wanted : array of bool, shape (n_rows,)
        Rows of which the program should hold.
    weights : array of int, shape (n_rows,)
        What an error on each row costs.
    complexity : float
        What a literal costs.
    n_samples : int
        Programs drawn from a distribution at a time; 0 for hill climbing alone.
    patience : int
        Steps of a deme without a better program.
    """

    literals: Literals
    pool: Pool
    wanted: Array
    weights: Array
    complexity: float
    n_samples: int = 30
    patience: int = 100

    def target(self, boosts: Array) -> Target:
        """Return what is wanted, with boosted weights in units of 1 / `UNIT`."""
        weights = np.rint(UNIT * boosts).astype(np.int64) * self.weights
        return Target.of(self.wanted, weights)


@dataclass(frozen=True)
class Step:
    """Where a step leads, and the row to boost if it leads to nothing better."""

    program: Program
    boosted: int | None = None


def step(
    centre: Program, task: Task, boosts: Array, rng: np.random.Generator, budget: Budget
) -> Step:
    """Return the next centre of a deme; the present one must get a row wrong."""
    knobs = Representation(centre, task.pool, rng)
    near = Neighbourhood(knobs)
    wrong = unpacked(near.output, len(task.wanted)) != task.wanted
    costs = boosts * task.weights * wrong
    row = int(rng.choice(len(costs), p=costs / costs.sum()))
    scored = _Scored(near, near.mattering(row), row, task, task.target(boosts), budget)
    right = np.where(scored.says == task.wanted[row], scored.scores, np.inf)
    best = float(right.min(initial=np.inf))
    on: list[tuple[int, int]] = []
    if best < np.inf:
        at, knob = rng.choice(np.argwhere(right <= best + ROUNDING)).tolist()
        on = [(int(scored.places[at]), knob)]
    if best < scored.here - ROUNDING:
        return Step(knobs.program(set(on)))
    several = scored.sampled(rng)
    if several:
        return Step(knobs.program(set(several)))
    return Step(knobs.program(set(on)), row)


class _Scored:
    """The programs one knob away from a centre, and those with several knobs on."""

    def __init__(
        self,
        near: Neighbourhood,
        places: Array,
        row: int,
        task: Task,
        target: Target,
        budget: Budget,
    ) -> None:
        self.near, self.places, self.task = near, places, task
        self.target, self.budget = target, budget
        tried = _granted(near.allowed(places), budget)
        errors, self.says = near.scored(places, target, row)
        self.here = int(target.errors(near.output)) / UNIT
        self.longer = task.complexity * near.longer(places)
        self.scores = np.where(tried, errors / UNIT + self.longer, np.inf)

    def sampled(self, rng: np.random.Generator) -> list[tuple[int, int]]:
        """Return knobs that together make a program better than the centre, or none."""
        scores = self.scores.copy()
        if self.near.knobs.pool.has_missing:
            scores[:, self.near.knobs.turned] = np.inf
        order = np.argsort(scores, axis=None, kind="stable")[:_SAMPLED_KNOBS]
        order = order[np.isfinite(scores.ravel()[order])]
        at, knob = np.divmod(order, self.near.knobs.n_knobs)
        knobs = np.column_stack([self.places[at], knob])
        longer = self.longer.ravel()[order]
        chances = first_chances(scores.ravel()[order])
        for _ in range(_GENERATIONS):
            on = drawn(chances, self.task.n_samples, rng)
            on = on[: self.budget.grant(len(on))]
            if not len(on):
                break
            errors = self.target.errors(outputs_of(self.near, on, knobs))
            found = errors / UNIT + on @ longer
            best = int(np.argmin(found))
            if found[best] < self.here - ROUNDING:
                return [(place, number) for place, number in knobs[on[best]].tolist()]
            chances = learnt(chances, on, found)
        return []


def _granted(allowed: Array, budget: Budget) -> Array:
    """Return which programs may be scored: all that are allowed, or the first of them."""
    n = budget.grant(int(np.count_nonzero(allowed)))
    return allowed & (np.cumsum(allowed).reshape(allowed.shape) <= n)
