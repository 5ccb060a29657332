"""What this package offers."""

from metafs.plugin import Selector, hookimpl
from metafs_graph.inffs import InfFS


@hookimpl
def metafs_selectors() -> dict[str, Selector]:
    """Offer the selector ``inffs``."""
    return {"inffs": InfFS()}
