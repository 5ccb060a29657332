"""What this package offers."""

from typing import Any

from metafs.hookspecs import hookimpl
from metafs_margin.relieff import ReliefF, SampleWeightedReliefF


@hookimpl
def metafs_selectors() -> dict[str, Any]:
    """Offer the selectors of the Relief family."""
    return {
        "relieff": ReliefF(),
        "sw-relieff": SampleWeightedReliefF(),
    }
