"""What this package offers: selection and learning by properties of features."""

from typing import Any

from metafs.hookspecs import hookimpl


@hookimpl
def metafs_selectors() -> dict[str, Any]:
    """Offer the selectors ``mf-pfs`` and ``mufasa``."""
    return {}


@hookimpl
def metafs_learners() -> dict[str, Any]:
    """Offer the learner ``gp-prior``."""
    return {}


@hookimpl
def metafs_generators() -> dict[str, Any]:
    """Offer the generators ``and-or``, ``monomials`` and ``patches``."""
    return {}
