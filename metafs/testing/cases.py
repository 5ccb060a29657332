"""Every offer of a plugin, crossed with every law of its kind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metafs.plugin.offers import Offer
from metafs.plugin.registry import Registry
from metafs.testing import distances, generators, learners, measures, regressors, selectors

Check = Callable[[Any], None]

CHECKS: Mapping[str, Sequence[Check]] = {
    "selectors": selectors.CHECKS,
    "measures": measures.CHECKS,
    "regressors": regressors.CHECKS,
    "generators": generators.CHECKS,
    "distances": distances.CHECKS,
    "learners": learners.CHECKS,
}


@dataclass(frozen=True)
class Case:
    """One law held against one object; call it, and it raises AssertionError if it is broken."""

    offer: Offer
    check: Check

    def __call__(self) -> None:
        """Hold the law against the object."""
        self.check(self.offer.value)

    def __str__(self) -> str:
        return f"{self.offer.kind}-{self.offer.name}-{self.check.__name__}"


def cases(registry: Registry) -> list[Case]:
    """Return a case for each offer in a registry and each law of its kind."""
    return [Case(offer, check) for offer in registry.offers() for check in CHECKS[offer.kind]]


def cases_of(*plugins: Any) -> list[Case]:
    """Return the cases of plugins given by hand, whatever else is installed."""
    return cases(Registry(plugins, entry_points=False))


def check_plugin(plugin: Any) -> None:
    """Hold every law against everything a plugin offers; the first one broken raises.

    Examples
    --------
    >>> import metafs_distances
    >>> check_plugin(metafs_distances)
    """
    for case in cases_of(plugin):
        case()
