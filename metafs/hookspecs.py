"""Former place of `metafs.plugin.hookspecs`, kept for plugins written before version 0.2."""

import warnings

from metafs.plugin.hookspecs import hookimpl

__all__ = ["hookimpl"]

warnings.warn(
    "metafs.hookspecs is deprecated since 0.2 and goes with 0.4: use metafs.plugin.",
    DeprecationWarning,
    stacklevel=2,
)
