"""Generators: features that are drawn when wanted, because there are too many to list them.

`metafs.plugin.protocols.Generator` is the contract. These functions use a generator's faster ways
where it has them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from metafs.data.typing import Array
from metafs.errors import ProblemError
from metafs.plugin.protocols import Generator, SupportsMeasureAll, SupportsPrepare


def prepared(generator: Generator, images: Any) -> Any:
    """Return the instances in the form that the generator measures fastest."""
    return generator.prepare(images) if isinstance(generator, SupportsPrepare) else images


def measure_all(generator: Generator, features: Sequence[Any], images: Any) -> Array:
    """Return the values of many features, of shape (n_images, n_features).

    `images` are instances as they are, or as `prepared` has made them.
    """
    if isinstance(generator, SupportsMeasureAll):
        return np.asarray(generator.measure_all(features, images))
    return np.column_stack([generator.measure(f, images) for f in features])


def measure_sound(
    generator: Generator, features: Sequence[Any], images: Any, n_images: int
) -> tuple[Array, dict[Any, str]]:
    """Return the values of those features that can be measured, and why the others cannot."""
    try:
        table = measure_all(generator, features, images)
        if table.shape == (n_images, len(features)) and np.isfinite(table).all():
            return table, {}
    except Exception:  # a generator may raise anything: the one to blame is found below
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


def describe_all(generator: Generator, features: Sequence[Any]) -> Array:
    """Return the meta-features of many features, of shape (n_features, k)."""
    return np.array([generator.meta_features(f) for f in features], dtype=np.float64)


def total_cost(generator: Generator, features: Sequence[Any]) -> float:
    """Return what measuring all of the features costs."""
    return float(sum(generator.cost(f) for f in features))
