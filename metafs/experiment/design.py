"""The design of an experiment: arms, seeds, orders and settings, checked before it begins."""

from dataclasses import dataclass, field

import numpy as np

from metafs.data.parameters import check_at_least
from metafs.errors import UsageError
from metafs.experiment.arms import Arm, arms_named
from metafs.pipeline.fitting.selection import takes_prior
from metafs.pipeline.settings import Settings
from metafs.plugin.registry import Registry

TARGET = "target_score"
"""The parameter by which a selector stops once it has found a set with this fitness."""


@dataclass(frozen=True)
class Design:
    """The arms to compare, and how often."""

    arms: tuple[Arm, ...] = field(default_factory=arms_named)
    seeds: int = 1
    orders: int = 1
    learning: bool = True
    """Whether a learner is scored; the search alone takes a fraction of the time."""
    settings: Settings = field(default_factory=Settings)
    """The settings that all arms share; their seed is the first of the seeds."""

    def check(self, registry: Registry) -> None:
        """Refuse what cannot be run, before any problem is read."""
        check_at_least("seeds", self.seeds)
        check_at_least("orders", self.orders)
        plan = self.settings.resolve(registry)
        name = self.settings.selector_name
        if not takes_prior(plan.selector):
            raise UsageError(
                f"selector {name!r} takes no prior, so memory cannot help it: choose one that does."
            )
        if TARGET in self.settings.params:
            raise UsageError(f"the experiment sets {TARGET} itself: leave it out.")

    def seed_numbers(self) -> list[int]:
        """Return the seeds, beginning with that of the settings."""
        return [(self.settings.seed or 0) + number for number in range(self.seeds)]

    def sequences(self, n_problems: int) -> list[list[int]]:
        """Return the orders of the stream: first its own, then shuffles.

        Examples
        --------
        >>> own, shuffled = Design(orders=2).sequences(4)
        >>> own, sorted(shuffled)
        ([0, 1, 2, 3], [0, 1, 2, 3])
        """
        first = self.settings.seed or 0
        shuffles = (np.random.default_rng([first, number]) for number in range(1, self.orders))
        return [
            list(range(n_problems)),
            *(rng.permutation(n_problems).tolist() for rng in shuffles),
        ]

    def n_outcomes(self, n_problems: int) -> int:
        """Return how many outcomes there will be if nothing fails."""
        runs = sum(self.orders if arm.remembers else 1 for arm in self.arms)
        return n_problems * self.seeds * runs
