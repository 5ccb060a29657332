"""What this package offers."""

from typing import Any

from metafs.plugin.hookspecs import hookimpl
from metafs_moses.classifier import MosesClassifier


@hookimpl
def metafs_learners() -> dict[str, Any]:
    """Offer the learner ``moses``, for classes."""
    return {"moses": MosesClassifier()}
