"""Laws of feature generators, tried on small random images unless one brings its own instances.

A generator of features of something else than images has ``examples(n, rng)``, which makes n
instances to try it on.
"""

import pickle
from typing import Any

import numpy as np

from metafs.data.typing import Array
from metafs.plugin.generators import measure_all, prepared

_N = 12


def _instances(generator: Any) -> Any:
    rng = np.random.default_rng(0)
    if hasattr(generator, "examples"):
        return generator.examples(_N, rng)
    return rng.random((_N, 28, 28))


def _points(generator: Any, n: int = 20) -> list[Array]:
    """Return valid points of the meta-feature space, drawn evenly."""
    rng = np.random.default_rng(1)
    low, high = np.asarray(generator.bounds, dtype=np.float64).T
    return [generator.nearest(rng.uniform(low, high)) for _ in range(n)]


def _features(generator: Any) -> list[Any]:
    rng = np.random.default_rng(2)
    return [generator.sample(u, rng) for u in _points(generator)]


def check_points_are_valid_and_stay_so(generator: Any) -> None:
    """Rounding gives a point within bounds, and a valid point rounds to itself."""
    low, high = np.asarray(generator.bounds, dtype=np.float64).T
    assert len(low) == len(generator.meta_feature_names)
    for u in [*_points(generator), generator.nearest(low - 1), generator.nearest(high + 1)]:
        assert u.shape == low.shape
        assert np.all((low <= u) & (u <= high))
        np.testing.assert_allclose(generator.nearest(u), u)


def check_same_seed_same_feature(generator: Any) -> None:
    """The same seed draws the same feature, and features can be compared and hashed."""
    for u in _points(generator):
        one, two = (generator.sample(u, np.random.default_rng(3)) for _ in range(2))
        assert one == two
        assert hash(one) == hash(two)


def check_drawn_features_are_near_the_point(generator: Any) -> None:
    """A feature drawn at a point is nearer to it, on average, than one drawn elsewhere."""
    low, high = np.asarray(generator.bounds, dtype=np.float64).T
    scale = np.where(high > low, high - low, 1.0)
    points, features = _points(generator), _features(generator)
    u = np.array([generator.meta_features(f) for f in features]) / scale
    assert u.shape == (len(points), len(low))
    assert np.isfinite(u).all()
    at = np.array(points) / scale
    assert np.mean((u - at) ** 2) < np.mean((np.roll(u, 1, axis=0) - at) ** 2)


def check_one_finite_value_an_instance(generator: Any) -> None:
    """A feature has one finite value on each instance, and a cost above 0."""
    images = _instances(generator)
    for f in _features(generator):
        values = np.asarray(generator.measure(f, images))
        assert values.shape == (_N,)
        assert np.isfinite(values).all()
        assert generator.cost(f) > 0


def check_many_at_once_are_the_same(generator: Any) -> None:
    """Measuring many at once, on prepared instances, gives what measuring each alone gives."""
    images, features = _instances(generator), _features(generator)
    expected = np.column_stack([generator.measure(f, images) for f in features])
    found = measure_all(generator, features, prepared(generator, images))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def check_pickles(generator: Any) -> None:
    """It survives pickling, and so do its features."""
    images, again = _instances(generator), pickle.loads(pickle.dumps(generator))
    for f in _features(generator)[:3]:
        same = pickle.loads(pickle.dumps(f))
        assert same == f
        np.testing.assert_array_equal(again.measure(same, images), generator.measure(f, images))


CHECKS = (
    check_points_are_valid_and_stay_so,
    check_same_seed_same_feature,
    check_drawn_features_are_near_the_point,
    check_one_finite_value_an_instance,
    check_many_at_once_are_the_same,
    check_pickles,
)
