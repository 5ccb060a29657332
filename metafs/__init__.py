"""Feature selection that remembers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from metafs.version import __version__

if TYPE_CHECKING:
    from metafs.data.problem import Problem
    from metafs.estimator import MetaClassifier, MetaRegressor, MetaSelector
    from metafs.pipeline.loop import solve
    from metafs.pipeline.solution import Solution
    from metafs.pipeline.solutions import Solutions
    from metafs.plugin.prior import Prior
    from metafs.plugin.registry import Registry
    from metafs.plugin.signature import Signature

__all__ = [
    "MetaClassifier",
    "MetaRegressor",
    "MetaSelector",
    "Prior",
    "Problem",
    "Registry",
    "Signature",
    "Solution",
    "Solutions",
    "__version__",
    "solve",
]

# Loaded when first used, so that `metafs sql` need not wait for scikit-learn.
_HOME = {
    "MetaClassifier": "metafs.estimator",
    "MetaRegressor": "metafs.estimator",
    "MetaSelector": "metafs.estimator",
    "Prior": "metafs.plugin.prior",
    "Problem": "metafs.data.problem",
    "Registry": "metafs.plugin.registry",
    "Signature": "metafs.plugin.signature",
    "Solution": "metafs.pipeline.solution",
    "Solutions": "metafs.pipeline.solutions",
    "solve": "metafs.pipeline.loop",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'metafs' has no attribute {name!r}")
