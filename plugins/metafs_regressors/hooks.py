"""What this package offers: regressors from meta-features to quality."""

from typing import Any

from metafs.hookspecs import hookimpl


@hookimpl
def metafs_regressors() -> dict[str, Any]:
    """Offer the regressors ``knn``, ``weighted-knn``, ``gp``, ``ridge`` and ``forest``."""
    return {}
