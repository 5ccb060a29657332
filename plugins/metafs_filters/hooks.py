"""What this package offers: each measure under one name, as a measure and as a ranker."""

from metafs.plugin import Measure, Selector, hookimpl
from metafs_filters.fisher import Fisher, FisherSelector
from metafs_filters.importance import ImportanceSelector
from metafs_filters.infogain import InfoGain, InfoGainSelector
from metafs_filters.shrunk import ShrunkSelector


@hookimpl
def metafs_selectors() -> dict[str, Selector]:
    """Offer the selectors ``infogain``, ``fisher``, ``importance``, and ``shrunk``."""
    return {
        "infogain": InfoGainSelector(),
        "fisher": FisherSelector(),
        "importance": ImportanceSelector(),
        "shrunk": ShrunkSelector(),
    }


@hookimpl
def metafs_measures() -> dict[str, Measure]:
    """Offer the measures ``infogain`` and ``fisher``."""
    return {"infogain": InfoGain(), "fisher": Fisher()}
