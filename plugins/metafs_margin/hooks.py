"""What this package offers."""

from metafs.plugin import Measure, Selector, hookimpl
from metafs_margin.gflip import GFlip
from metafs_margin.margin import Margin
from metafs_margin.relief import Relief
from metafs_margin.relieff import ReliefF, SampleWeightedReliefF
from metafs_margin.simba import Simba


@hookimpl
def metafs_selectors() -> dict[str, Selector]:
    """Offer the selectors of the Relief family, ``simba`` and ``gflip``."""
    return {
        "relief": Relief(),
        "relieff": ReliefF(),
        "sw-relieff": SampleWeightedReliefF(),
        "simba": Simba(),
        "gflip": GFlip(),
    }


@hookimpl
def metafs_measures() -> dict[str, Measure]:
    """Offer the set measure ``margin``."""
    return {"margin": Margin()}
