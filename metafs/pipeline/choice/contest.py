"""Who takes part in the choice of a pipeline: what the settings and the installed plugins leave."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from sklearn.base import is_classifier, is_regressor

from metafs.data.problem import Problem
from metafs.errors import UsageError, describe
from metafs.pipeline.choice.candidates import ALL, Candidate, sizes
from metafs.pipeline.choice.costs import seconds_to_learn
from metafs.pipeline.fitting.scoring import require_fitting_learner
from metafs.plugin.protocols import SupportsCost, SupportsSizes
from metafs.plugin.registry import Registry

AUTO: Final = "auto"
DEFAULT_LEARNER = "remembered"
"""The learner that, on all columns, others are compared with."""
MOST_SECONDS = 4.0
"""A fit that is expected to take longer is not tried, unless nothing else is left."""
Size = int | Literal["all", "auto"]


@dataclass(frozen=True, eq=False)
class Contest:
    """Selectors and learners that are tried, by name, and how many features may be kept."""

    selectors: Mapping[str, Any]
    learners: Mapping[str, Any]
    size: Size = AUTO
    max_features: int | None = None
    own_selection: str | None = None
    """The one selector that was asked for, which decides itself what to select."""

    def named(self) -> dict[str, Any]:
        """Return selectors and learners by what they are called in sentences."""
        selectors = {f"selector {name!r}": each for name, each in self.selectors.items()}
        return selectors | {f"learner {name!r}": each for name, each in self.learners.items()}

    def candidates(self, problem: Problem) -> list[Candidate]:
        """Return the candidates for a problem, the default first.

        Those whose fit would take far longer than that of others are left out, unless nothing else
        is left.
        """
        if len(self.learners) == 1:
            for name, each in self.learners.items():
                require_fitting_learner(each, name, problem)
        suitable = [name for name, each in self.learners.items() if _suits(each, problem)]
        if not suitable:
            raise UsageError(
                f"no learner that was asked for suits the target {problem.target!r} of "
                f"{problem.name!r}: choose another with --learner."
            )
        found = [each for name in suitable for each in self._of_learner(name, problem)]
        quick = [
            each for each in found if seconds_to_learn(problem, each, self.learners) <= MOST_SECONDS
        ]
        return quick or found[:1]

    def _of_learner(self, learner: str, problem: Problem) -> list[Candidate]:
        if self.own_selection is not None:
            return [Candidate(learner, self.own_selection)]
        n_features = problem.n_features
        most = min(n_features, self.max_features or n_features)
        everything = [Candidate(learner)] if most == n_features else []
        if self.size == ALL:
            return [Candidate(learner)]
        if isinstance(self.size, int):
            if self.size >= n_features:
                return [Candidate(learner)]
            return [Candidate(learner, ranking, self.size) for ranking in self.selectors]
        found = []
        for name, each in self.selectors.items():
            tried = each.sizes(n_features) if isinstance(each, SupportsSizes) else sizes(n_features)
            numbers = [size for size in tried if size <= most]
            if not everything:
                numbers = sorted({*numbers, most}, reverse=True)  # the default is the largest
            found += [Candidate(learner, name, size) for size in numbers]
        return [*everything, *found]


def contest_of(
    registry: Registry,
    *,
    selector: tuple[str, Any] | None,
    learner: tuple[str, Any] | None,
    size: Size = AUTO,
    max_features: int | None = None,
) -> Contest:
    """Return the contest of everything installed, or of the selector or learner asked for."""
    learners = dict([learner]) if learner else _with_costs(registry.learners)
    if not learners:
        raise UsageError("no plugin offers a learner to choose from: give one with --learner.")
    if DEFAULT_LEARNER in learners:
        learners = {DEFAULT_LEARNER: learners[DEFAULT_LEARNER]} | learners
    if selector is not None:
        return Contest(dict([selector]), learners, own_selection=selector[0])
    return Contest(_with_costs(registry.selectors), learners, size, max_features)


def _with_costs(offers: Mapping[str, Any]) -> dict[str, Any]:
    """Return what says what it costs: that takes part, unless what it says makes no sense."""
    found = {name: each for name, each in offers.items() if isinstance(each, SupportsCost)}
    return {name: each for name, each in found.items() if _makes_sense(name, each)}


def _makes_sense(name: str, offered: Any) -> bool:
    """Tell whether an offer's cost and sizes can be used; warn of one where they cannot."""
    try:
        seconds = offered.expected_seconds(100, 10, 1)
        sizes_tried = offered.sizes(10) if isinstance(offered, SupportsSizes) else [1]
        if np.isfinite(seconds) and seconds >= 0 and all(int(size) >= 1 for size in sizes_tried):
            return True
        reason = f"expected_seconds is {seconds!r}, and sizes are {sizes_tried!r}"
    except Exception as error:  # a broken plugin must not stop the others
        reason = describe(error)
    warnings.warn(f"{name!r} takes no part in the automatic choice: {reason}", stacklevel=3)
    return False


def _suits(learner: Any, problem: Problem) -> bool:
    return not (is_regressor(learner) if problem.is_classification else is_classifier(learner))
