"""What this package offers."""

from typing import Any

from metafs.plugin.hookspecs import hookimpl
from metafs_remembered.learner import RememberedLearner
from metafs_remembered.projected import ProjectedSelector
from metafs_remembered.voting import VotingLearner


@hookimpl
def metafs_learners() -> dict[str, Any]:
    """Offer the learners ``remembered`` and ``voting``, for classes and for numbers."""
    return {"remembered": RememberedLearner(), "voting": VotingLearner()}


@hookimpl
def metafs_selectors() -> dict[str, Any]:
    """Offer the selector ``projected``."""
    return {"projected": ProjectedSelector()}
