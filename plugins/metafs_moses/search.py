r"""The search for one program: demes, one after the other, over a metapopulation.

A deme starts from an exemplar and steps from centre to centre (`metafs_moses.deme`), each reduced
to its normal form and kept in the metapopulation. A step that finds nothing better boosts the
row it wanted to get right: :math:`b_i` grows by 1, and then all boosts shrink towards 1,
:math:`b \leftarrow 1 + 0.8 (b - 1)`. So what the programs get wrong for long is worth a detour over
worse programs. After `patience` steps without a new best program the next deme starts, from an
exemplar drawn by its score on the boosted rows. A search ends when nothing is wrong, or when its
budget is spent.

A search that continues does what a longer one would have done: a step for which the budget is too
short may leave a best program, but is made again from its start.

M. Looks, "Competent program evolution", 2006; M. Looks, "Meta-optimizing semantic evolutionary
search", GECCO 2007. There a deme keeps the representation of its exemplar; here the representation
is built around each centre, as hill climbing moves. Boosted rows are of later versions of MOSES.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from metafs.data.typing import Array
from metafs_moses.budget import Budget
from metafs_moses.deme import ROUNDING, UNIT, Task, step
from metafs_moses.metapopulation import Metapopulation
from metafs_moses.normal_form import NormalForms
from metafs_moses.packed import as_words, output
from metafs_moses.program import FALSE, TRUE, Program, size

DECAY = 0.8
TEMPERATURE = 1.0
MOST_MEMBERS = 100


@dataclass(frozen=True)
class Found:
    """A program in normal form, what it says of the rows, and how good that is.

    Attributes
    ----------
    errors : int
        The weight of the rows that the program gets wrong.
    score : float
        Errors and the price of the literals together, the lower the better.
    """

    program: Program
    behaviour: Array
    errors: int
    score: float

    def is_better_than(self, other: "Found") -> bool:
        """Tell whether the score is lower, by more than rounding."""
        return self.score < other.score - ROUNDING


class Search:
    """A search that can be continued, for a program that may be like some exemplars.

    Attributes
    ----------
    best : Found
        The best program of all whole steps.
    n_evaluations : int
        Programs scored in whole steps.
    n_demes : int
        Demes begun.
    """

    def __init__(
        self, task: Task, rng: np.random.Generator, exemplars: Sequence[Program] = ()
    ) -> None:
        self.task = task
        self.n_evaluations, self.n_demes = 0, 1
        self._rng, self._idle, self._exemplars = rng, 0, list(exemplars)
        self._boosts = np.ones(len(task.wanted))
        self._rows = (1 << len(task.wanted)) - 1
        self._target = task.target(self._boosts)
        self._short = NormalForms(task.literals)
        self._known = Metapopulation(task.complexity, MOST_MEMBERS)
        self.best = self._met(FALSE)
        self._keep(self.best)
        self._keep(self._met(TRUE))
        self._centre = self.best.program

    @property
    def population(self) -> list[tuple[Program, int]]:
        """The programs that are kept, each with the weight of the rows that it gets wrong."""
        plain = self.task.target(np.ones(len(self.task.wanted)))
        members = list(self._known.members.values())
        errors = plain.errors(np.array([member.behaviour for member in members])) // UNIT
        return [(each.program, n) for each, n in zip(members, errors.tolist(), strict=True)]

    def run(self, budget: Budget) -> Found:
        """Search until the budget is spent or nothing is wrong, and return the best program."""
        found = self._run(budget)
        self._short.forget()
        return found

    def _run(self, budget: Budget) -> Found:
        budget.used = self.n_evaluations
        while self._exemplars and budget.grant(1):
            self._keep(self._met(self._exemplars.pop(0)))
            self._centre, self.n_evaluations = self.best.program, budget.used
        while self.best.errors and self.task.literals.cuts and not budget.is_spent:
            state = self._rng.bit_generator.state
            found = step(self._centre, self.task, self._boosts, self._rng, budget)
            met = self._met(found.program)
            if budget.was_short:
                self._rng.bit_generator.state = state
                return met if met.is_better_than(self.best) else self.best
            self.n_evaluations = budget.used
            self._move(met, found.boosted)
        return self.best

    def _move(self, met: Found, boosted: int | None) -> None:
        """Go on from a program, or from another exemplar where the deme is at its end."""
        if boosted is not None:
            self._boosts[boosted] += 1
            self._boosts = 1 + DECAY * (self._boosts - 1)
        self._idle = 0 if met.is_better_than(self.best) else self._idle + 1
        self._keep(met)
        self._centre = met.program
        if self.best.errors and (not met.errors or self._idle >= self.task.patience):
            target = self.task.target(self._boosts)
            self._centre = self._known.draw(target, TEMPERATURE, self._rng, UNIT).program
            self._idle, self.n_demes = 0, self.n_demes + 1

    def _met(self, program: Program) -> Found:
        program = self._short.of(program)
        outputs = output(program, self.task.pool.whole, self._rows) & self._rows
        behaviour = as_words([outputs], self.task.pool.truth.shape[1])[0]
        errors = int(self._target.errors(behaviour)) // UNIT
        return Found(program, behaviour, errors, errors + self.task.complexity * size(program))

    def _keep(self, met: Found) -> None:
        self._known.add(met.program, met.behaviour, self._target, UNIT)
        if met.is_better_than(self.best):
            self.best = met
