"""What this package offers."""

from metafs.plugin.hookspecs import hookimpl
from metafs_graph.inffs import InfFS


@hookimpl
def metafs_selectors() -> dict[str, InfFS]:
    """Offer the selector ``inffs``."""
    return {"inffs": InfFS()}
