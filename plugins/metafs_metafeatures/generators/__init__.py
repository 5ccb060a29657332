"""Generators of features of images: logical, products of pixels, patches."""

from metafs_metafeatures.generators.and_or import AndOr, AndOrGenerator
from metafs_metafeatures.generators.monomials import MonomialGenerator, all_monomials
from metafs_metafeatures.generators.patches import Patch, PatchPrototypes

__all__ = [
    "AndOr",
    "AndOrGenerator",
    "MonomialGenerator",
    "Patch",
    "PatchPrototypes",
    "all_monomials",
]
