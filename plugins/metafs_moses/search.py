r"""The search for one program: demes that walk from exemplar to exemplar, with boosted rows.

A step of a deme draws a row that its centre gets wrong, with probability proportional to the
weight of the row, and scores the programs one knob away that could change what is said of it:

.. math:: s(f) = \sum_{i: f(x_i) \neq y_i} b_i w_i + c\,\text{size}(f)

The best of those that get the drawn row right is the next centre, reduced to normal form. Where
none of them is better than the centre, programs with several knobs on are drawn from a univariate
distribution; if these are no better either, the step goes to the best program one knob away all
the same, and the row is boosted: :math:`b_i` grows by 1, and all boosts b shrink towards 1. So what
the programs get wrong for long is worth a detour over worse programs. After `patience` steps without
a better program the deme ends, and the next starts from an exemplar drawn from the metapopulation.

A search that continues does what a longer one would have done: a step that the budget cuts short
leaves its best program, but is made anew from its start.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from metafs.data.typing import Array
from metafs_moses.budget import Budget
from metafs_moses.distribution import drawn, first_chances, learnt, outputs_of
from metafs_moses.knobs import Pool, Representation
from metafs_moses.literals import Literals
from metafs_moses.metapopulation import Metapopulation
from metafs_moses.neighbourhood import Neighbourhood
from metafs_moses.normal_form import normal_form
from metafs_moses.packed import Target, outputs, packed, unpacked
from metafs_moses.program import FALSE, TRUE, Program, size

UNIT = 4
"""Weights are whole numbers of quarters, so that boosts may be fractions."""
_DECAY = 0.8
_TEMPERATURE = 1.0
_MOST_MEMBERS = 100
_SAMPLED_KNOBS = 60
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Found:
    """A program with its score; the lower the better."""

    score: float
    errors: int
    program: Program
    behaviour: Array

    def __lt__(self, other: "Found") -> bool:
        return self.score < other.score - _ROUNDING


@dataclass(frozen=True)
class Task:
    """What is to be learnt, and how much a literal costs.

    Attributes
    ----------
    literals : Literals
    pool : Pool
    wanted : array of bool, shape (n_rows,)
    weights : array of int, shape (n_rows,)
    complexity : float
    """

    literals: Literals
    pool: Pool
    wanted: Array
    weights: Array
    complexity: float
    n_samples: int = 30
    patience: int = 100


@dataclass
class Search:
    """A search that can be continued.

    Attributes
    ----------
    best : Program
        The best program of all finished steps.
    n_evaluations : int
        Programs scored in all finished steps.
    """

    task: Task
    rng: np.random.Generator
    known: Metapopulation = field(init=False)
    boosts: Array = field(init=False)
    centre: Program = field(init=False)
    n_evaluations: int = 0
    n_demes: int = 1
    _idle: int = 0

    def __post_init__(self) -> None:
        task = self.task
        self.known = Metapopulation(task.complexity, _MOST_MEMBERS)
        self.boosts = np.ones(len(task.wanted))
        self._plain = Target.of(task.wanted, task.weights)
        self._rows = packed(np.ones(len(task.wanted), dtype=bool))
        self.best: Found = self._meet(FALSE)
        self.best = min(self.best, self._meet(TRUE))
        self.centre = self.best.program

    def start_from(self, programs: Sequence[Program]) -> None:
        """Let the first deme start from the best of some programs."""
        for program in programs:
            self.best = min(self.best, self._meet(normal_form(program, self.task.literals)))
        self.centre = self.best.program

    def run(self, budget: Budget) -> Found:
        """Search until the budget is spent or nothing is wrong, and return the best program."""
        budget.used = self.n_evaluations
        while self.best.errors and not budget.is_spent:
            state = self.rng.bit_generator.state
            found = self._step(budget)
            if budget.was_short:
                self.rng.bit_generator.state = state
                return min(self.best, self._met(found))
            self.n_evaluations = budget.used
            self._move(found)
        return self.best

    def _step(self, budget: Budget) -> Program:
        """Return the next centre."""
        task = self.task
        knobs = Representation(self.centre, task.pool, self.rng)
        near = Neighbourhood(knobs)
        wrong = unpacked(near.output, len(task.wanted)) != task.wanted
        costs = self.boosts * task.weights * wrong
        row = int(self.rng.choice(len(costs), p=costs / costs.sum()))
        target = self._boosted()
        places = near.mattering(row)
        tried = first_true(near.allowed(places), budget)
        errors, says = near.scored(places, target, row)
        longer = task.complexity * near.longer(places)
        here = int(target.errors(near.output)) / UNIT
        scores = errors / UNIT + longer
        right = tried & (says == task.wanted[row])
        on: list[tuple[int, int]] = []
        if right.any():
            least = np.where(right, scores, np.inf)
            which = np.argwhere(least <= least.min() + _ROUNDING)
            at, knob = which[self.rng.integers(len(which))].tolist()
            on, best = [(int(places[at]), knob)], float(least.min())
        if not right.any() or best > here - _ROUNDING:
            usable = tried.copy()
            usable[:, knobs.turned] = False
            several = self._sample(near, places, np.where(usable, scores, np.inf), longer, target, here, budget)
            if several:
                on = several
            else:
                self._boost(row, budget)
        return knobs.program(set(on))

    def _sample(self, near, places, scores, longer, target, here, budget) -> list[tuple[int, int]]:
        """Return knobs that together make a better program than the centre, or none."""
        if not self.task.n_samples: return []
        order = np.argsort(scores, axis=None, kind="stable")[:_SAMPLED_KNOBS]
        order = order[np.isfinite(scores.ravel()[order])]
        if len(order) < 2: return []
        at, knob = np.divmod(order, near.knobs.n_knobs)
        which = np.column_stack([places[at], knob])
        more = longer.ravel()[order]
        chances = first_chances(scores.ravel()[order])
        for _ in range(2):
            on = drawn(chances, self.task.n_samples, self.rng)
            on = on[: budget.grant(len(on))]
            if not len(on): return []
            words = outputs_of(near, on, which)
            found = target.errors(words) / UNIT + on @ more
            i = int(np.argmin(found))
            if found[i] < here - _ROUNDING:
                return [tuple(e) for e in which[on[i]].tolist()]
            chances = learnt(chances, on, found)
        return []

    def _boost(self, row: int, budget) -> None:
        if budget.was_short: return
        self.boosts[row] += 1
        self.boosts = 1 + _DECAY * (self.boosts - 1)

    def _boosted(self) -> Target:
        weights = np.rint(UNIT * self.boosts).astype(np.int64) * self.task.weights
        return Target.of(self.task.wanted, weights)

    def _move(self, program: Program) -> None:
        """Go on from a program, or from another exemplar if the deme has long found nothing."""
        found = self._met(program)
        self.known.add(found.program, found.behaviour, self._plain)
        self.centre, self._idle = found.program, self._idle + 1
        if found < self.best:
            self.best, self._idle = found, 0
        if self._idle >= self.task.patience:
            self.centre, self._idle, self.n_demes = self.known.draw(self._boosted(), _TEMPERATURE, self.rng, UNIT).program, 0, self.n_demes + 1

    def _met(self, program: Program) -> "Found":
        program = normal_form(program, self.task.literals)
        behaviour = outputs(program, self.task.pool.truth) & self._rows
        errors = int(self._plain.errors(behaviour))
        return Found(errors + self.task.complexity * size(program), errors, program, behaviour)

    def _meet(self, program):
        found = self._met(program)
        self.known.add(found.program, found.behaviour, self._plain)
        return found


def first_true(mask: Array, budget: Budget) -> Array:
    """Return a mask with only as many of its elements as may be evaluated."""
    granted = budget.grant(int(np.count_nonzero(mask)))
    return mask & (np.cumsum(mask).reshape(mask.shape) <= granted)
