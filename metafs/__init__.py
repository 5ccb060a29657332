"""Feature selection that remembers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from metafs.version import __version__

if TYPE_CHECKING:
    from metafs.estimator import MetaSelector
    from metafs.loop import solve
    from metafs.prior import Prior
    from metafs.problem import Problem
    from metafs.registry import Registry
    from metafs.signature import Signature
    from metafs.solution import Solution

__all__ = [
    "MetaSelector",
    "Prior",
    "Problem",
    "Registry",
    "Signature",
    "Solution",
    "__version__",
    "solve",
]

# Loaded when first used, so that `metafs sql` need not wait for scikit-learn.
_HOME = {
    "MetaSelector": "metafs.estimator",
    "Prior": "metafs.prior",
    "Problem": "metafs.problem",
    "Registry": "metafs.registry",
    "Signature": "metafs.signature",
    "Solution": "metafs.solution",
    "solve": "metafs.loop",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'metafs' has no attribute {name!r}")
