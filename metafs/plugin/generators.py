"""Generators: features that are drawn when wanted, because there are too many to list them.

A generator knows how to draw a feature near a point in the space of meta-features, what the meta-
features of a drawn one are, what it costs, and its value on instances. `metafs.plugin.hookspecs`
has the contract; a generator that is faster on many features at once, or on instances it has seen
before, also has ``prepare(images)``, ``measure_all(features, prepared)`` and ``sample_all(points,
rng)``.
"""

from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np

from metafs.data.typing import Array
from metafs.errors import ProblemError


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


def measure_sound(
    generator: FeatureGenerator, features: Sequence[Any], images: Any, n_images: int
) -> tuple[Array, dict[Any, str]]:
    """Return the values of those features that can be measured, and why the others cannot."""
    try:
        table = measure_all(generator, features, images)
        if table.shape == (n_images, len(features)) and np.isfinite(table).all():
            return table, {}
    except Exception:  # whatever a stranger's generator raises: the one to blame is found below
        pass
    columns, failed = [], {}
    for f in features:
        try:
            columns.append(_one_value_each(generator.measure(f, images), n_images))
        except Exception as error:
            failed[f] = str(error) or type(error).__name__
    return (np.column_stack(columns) if columns else np.zeros((n_images, 0))), failed


def _one_value_each(values: Any, n_images: int) -> Array:
    column = np.asarray(values)
    if column.shape != (n_images,):
        raise ProblemError(f"its values have shape {column.shape} for {n_images} instances")
    if not np.isfinite(column).all():
        raise ProblemError("it has missing or infinite values")
    return column


def describe_all(generator: FeatureGenerator, features: Sequence[Any]) -> Array:
    """Return the meta-features of many features, of shape (n_features, k)."""
    return np.array([generator.meta_features(f) for f in features], dtype=np.float64)


def total_cost(generator: FeatureGenerator, features: Sequence[Any]) -> float:
    """Return what measuring all of the features costs."""
    return float(sum(generator.cost(f) for f in features))
