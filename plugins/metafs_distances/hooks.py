"""What this plugin offers."""

from metafs.plugin import Distance, hookimpl
from metafs_distances.features import JsdFeatures, JsdLabelled
from metafs_distances.rows import JsdRows


@hookimpl
def metafs_distances() -> dict[str, Distance]:
    """Offer the paper's distance over whole rows, and ours over single features."""
    return {
        "jsd-rows": JsdRows(),
        "jsd-features": JsdFeatures(),
        "jsd-labelled": JsdLabelled(),
    }
