"""The result of an experiment: its outcomes, paired with those of the baseline, and as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from metafs.experiment.arms import COLD, RANKED
from metafs.experiment.design import Design
from metafs.experiment.outcome import Failed, Outcome
from metafs.experiment.summary import ArmSummary, Pair, summary
from metafs.version import __version__


@dataclass(frozen=True, eq=False)
class Experiment:
    """All outcomes of a design; complete unless it was interrupted."""

    design: Design
    n_problems: int
    all_outcomes: Sequence[Outcome]
    failures: Sequence[Failed] = ()

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """The outcomes of the problems that failed in no arm, arm by arm."""
        failed = {each.index for each in self.failures}
        arms = [arm.name for arm in self.design.arms]
        return sorted(
            (each for each in self.all_outcomes if each.index not in failed),
            key=lambda each: (arms.index(each.arm), each.seed, each.order or 0, each.position),
        )

    @property
    def complete(self) -> bool:
        """Whether every problem has either failed or been tried in every arm, seed and order."""
        left = self.n_problems - len({each.index for each in self.failures})
        return len(self.outcomes) == self.design.n_outcomes(left)

    @cached_property
    def arm_names(self) -> list[str]:
        """The arms of which there are outcomes, in the order of the design."""
        return list(dict.fromkeys(each.arm for each in self.outcomes))

    def of(self, arm: str) -> list[Outcome]:
        """Return the outcomes of one arm, seed by seed, in the order of its streams."""
        return [each for each in self.outcomes if each.arm == arm]

    def pairs(self, arm: str, baseline: str = COLD) -> list[Pair]:
        """Return the outcomes of an arm paired with the baseline's; unpaired ones are left out.

        A baseline has no memory, so one outcome serves every order.
        """
        base = {(each.seed, each.index): each for each in self.of(baseline)}
        matched = ((each, base.get((each.seed, each.index))) for each in self.of(arm))
        return [(each, other) for each, other in matched if other is not None]

    @cached_property
    def summaries(self) -> dict[str, ArmSummary]:
        """The summary of every arm, by name."""
        return {
            name: summary(
                pairs, [] if name in (COLD, RANKED) else self.pairs(name, baseline=RANKED)
            )
            for name in self.arm_names
            if (pairs := self.pairs(name))
        }

    def as_json(self) -> dict[str, Any]:
        """Return plain values: settings, arms, and one row for each problem and search."""
        return {
            "settings": settings_of(self),
            "arms": {name: each.as_json() for name, each in self.summaries.items()},
            "problems": [each.as_json() for each in self.outcomes],
            "why": [
                {"arm": each.arm, "problem": each.problem, **each.why.as_json()}
                for each in self.outcomes
                if each.why is not None
            ],
            "failed": [
                {"problem": each.problem, "arm": each.arm, "error": each.error}
                for each in self.failures
            ],
        }


def settings_of(experiment: Experiment) -> dict[str, Any]:
    """Return the settings of an experiment as plain values."""
    design, settings = experiment.design, experiment.design.settings
    return {
        "problems": experiment.n_problems,
        "arms": [arm.name for arm in design.arms],
        "seeds": design.seed_numbers(),
        "orders": design.orders,
        "selector": settings.selector_name,
        "params": dict(settings.params),
        "budget": settings.budget,
        "learner": settings.learner if design.learning else None,
        "learning": design.learning,
        "scoring": settings.scoring,
        "folds": settings.folds,
        "distance": settings.distance,
        "project": settings.project,
        "whole_below": settings.whole_below,
        "regressor": settings.regressor,
        "neighbours": settings.neighbours,
        "threshold": settings.threshold,
        "c": settings.c,
        "quality": settings.quality,
        "prefilter": settings.prefilter,
        "keep": list(settings.keep),
        "complete": experiment.complete,
        "metafs_version": __version__,
    }
