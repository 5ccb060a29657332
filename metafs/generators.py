"""Generators: features that are drawn when wanted, because there are too many to list them.

A generator knows how to draw a feature near a point in the space of meta-features, what the
meta-features of a drawn one are, what it costs, and its value on instances. `metafs.hookspecs`
has the contract; a generator that is faster on many features at once, or on instances it has
seen before, also has ``prepare(images)`` and ``measure_all(features, prepared)``.
"""

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np

from metafs.typing import Array


class FeatureGenerator(Protocol):
    """What every generator can do."""

    meta_feature_names: tuple[str, ...]

    @property
    def bounds(self) -> Array:
        """The least and the largest value of each meta-feature, of shape (k, 2)."""

    def nearest(self, u: Array) -> Array:
        """Return the valid point of the meta-feature space that is nearest to u."""

    def sample(self, u: Array, rng: np.random.Generator) -> Hashable:
        """Draw a feature whose meta-features are as near to u as can be."""

    def meta_features(self, f: Any) -> Array:
        """Return the meta-features of a feature, of shape (k,)."""

    def measure(self, f: Any, images: Any) -> Array:
        """Return the value of a feature on each instance, of shape (n_images,)."""

    def cost(self, f: Any) -> float:
        """Return what measuring a feature costs."""


def prepared(generator: FeatureGenerator, images: Any) -> Any:
    """Return the instances in the form that the generator measures fastest."""
    prepare = getattr(generator, "prepare", None)
    return images if prepare is None else prepare(images)


def measure_all(generator: FeatureGenerator, features: Sequence[Any], images: Any) -> Array:
    """Return the values of many features, of shape (n_images, n_features).

    `images` are instances as they are, or as `prepared` has made them.
    """
    if hasattr(generator, "measure_all"):
        return np.asarray(generator.measure_all(features, images))
    return np.column_stack([generator.measure(f, images) for f in features])


def describe_all(generator: FeatureGenerator, features: Sequence[Any]) -> Array:
    """Return the meta-features of many features, of shape (n_features, k)."""
    return np.array([generator.meta_features(f) for f in features], dtype=np.float64)


def total_cost(generator: FeatureGenerator, features: Sequence[Any]) -> float:
    """Return what measuring all of the features costs."""
    return float(sum(generator.cost(f) for f in features))
