"""What this plugin offers."""

from metafs.plugin import Distance, hookimpl
from metafs_distances.features import JsdFeatures, JsdLabelled
from metafs_distances.rows import ALL_ROWS, JsdRows


@hookimpl
def metafs_distances() -> dict[str, Distance]:
    """Offer the paper's distance over whole rows, short and in full, and ours over features."""
    return {
        "jsd-rows": JsdRows(),
        "jsd-all-rows": JsdRows(max_keys=ALL_ROWS, named_classes=False),
        "jsd-features": JsdFeatures(),
        "jsd-labelled": JsdLabelled(),
    }
