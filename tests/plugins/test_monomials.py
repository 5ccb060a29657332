from math import cos, floor, radians, sin

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs.errors import UsageError
from metafs.plugin.generators import measure_all, prepared
from metafs_metafeatures import MonomialGenerator, all_monomials
from metafs_metafeatures.generators.monomials import Monomial, offsets

GENERATOR = MonomialGenerator()


def nearest_pixel(value):
    """Halves go away from 0."""
    return floor(value + 0.5 + 1e-9) if value >= 0 else -floor(-value + 0.5 + 1e-9)


def slow_pixels(f):
    """Figure 3: the ends of the base, and the tip a quarter of the base above its middle."""
    angle = radians(f.orientation)
    points = [
        (f.base / 2 * cos(angle), f.base / 2 * sin(angle)),
        (-f.base / 2 * cos(angle), -f.base / 2 * sin(angle)),
        (-f.base / 4 * sin(angle), f.base / 4 * cos(angle)),
    ]
    return [(f.y + nearest_pixel(dy), f.x + nearest_pixel(dx)) for dx, dy in points[: f.n_inputs]]


def slow_value(f, image):
    product = 1.0
    for row, column in slow_pixels(f):
        product *= image[row, column]
    return product


points = st.tuples(
    st.sampled_from([2.0, 3.0]),
    st.floats(0, 8),
    st.floats(-400, 800),
    st.floats(0, 30),
    st.floats(0, 30),
)


@settings(max_examples=60, deadline=None)
@given(points)
def test_values_are_products_of_the_pixels_of_figure_3(u):
    images = np.random.default_rng(0).uniform(-1, 1, size=(3, 28, 28))
    f = GENERATOR.sample(np.array(u), np.random.default_rng(0))
    expected = [slow_value(f, image) for image in images]
    np.testing.assert_allclose(GENERATOR.measure(f, images), expected)
    assert len(set(slow_pixels(f))) == f.n_inputs


def test_the_default_features_are_those_of_table_2():
    features, U = all_monomials()
    assert len(features) == len(set(features)) == 24_000
    for n_inputs, count in ((3, 16_000), (2, 8_000)):
        own = U[U[:, 0] == n_inputs]
        assert len(own) == count
        for base, step in ((2, 45), (4, 22.5), (6, 22.5)):
            angles = np.unique(own[own[:, 1] == base, 2])
            np.testing.assert_array_equal(angles, np.arange(0, 360 if n_inputs == 3 else 180, step))
    for column in (3, 4):
        np.testing.assert_array_equal(np.unique(U[:, column]), np.arange(4, 24))
    np.testing.assert_array_equal(U[777], GENERATOR.meta_features(features[777]))


def test_a_pair_turned_by_half_a_circle_is_the_same_pair():
    for base, count in GENERATOR.orientations:
        for k in range(count):
            angle = 360 * k / count
            assert set(offsets(2, base, angle)) == set(offsets(2, base, angle + 180))


@settings(max_examples=60, deadline=None)
@given(points)
def test_no_valid_orientation_is_nearer(u):
    u = np.array(u)
    found = GENERATOR.nearest(u)
    period = 180 if found[0] == 2 else 360
    step = 45 if found[1] == 2 else 22.5

    def apart(angle):
        return min((u[2] - angle) % period, (angle - u[2]) % period)

    assert 0 <= found[2] < period
    assert apart(found[2]) <= min(apart(a) for a in np.arange(0, period, step)) + 1e-9
    assert abs(found[1] - u[1]) == min(abs(base - u[1]) for base in (2, 4, 6))


def test_many_at_once_are_as_one_by_one():
    features, _ = all_monomials()
    some = features[::311]
    images = np.random.default_rng(1).integers(0, 256, size=(6, 28, 28), dtype=np.uint8)
    gray = images / 127.5 - 1
    expected = [[slow_value(f, image) for f in some] for image in gray]
    found = measure_all(GENERATOR, some, prepared(GENERATOR, images))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(GENERATOR.measure_all(some, gray), expected, atol=1e-12)
    np.testing.assert_array_equal(GENERATOR.measure(some[3], images), found[:, 3])


def test_gray_levels_reach_from_minus_one_to_one():
    images = np.zeros((2, 28, 28), dtype=np.uint8)
    images[1] = 255
    f = Monomial(3, 4, 0.0, 10, 10)
    np.testing.assert_array_equal(GENERATOR.measure(f, images), [-1.0, 1.0])


def test_other_images_have_other_features():
    generator = MonomialGenerator((12, 9), 2, ((3, 4),))
    features, U = all_monomials(generator)
    assert len(features) == (4 + 2) * 8 * 5
    np.testing.assert_array_equal(generator.bounds, np.stack([U.min(0), U.max(0)], axis=1))
    images = np.random.default_rng(0).normal(size=(2, 12, 9))
    expected = [[slow_value(f, image) for f in features] for image in images]
    np.testing.assert_allclose(generator.measure_all(features, images), expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MonomialGenerator(margin=2), "give at least 3"),
        (lambda: MonomialGenerator(margin=14), "leave no centre"),
        (lambda: MonomialGenerator(margin=0.5), "margin must be at least 0"),
        (lambda: MonomialGenerator(orientations=((2, 7),)), "even number of directions"),
        (lambda: MonomialGenerator(orientations=()), "even number of directions"),
        (lambda: GENERATOR.prepare(np.zeros((2, 784))), "give \\(n_images, 28, 28\\)"),
        (lambda: GENERATOR.measure(Monomial(2, 2, 0.0, 9, 9), np.zeros((2, 8, 8))), "28 x 28"),
    ],
)
def test_wrong_parameters_are_a_sentence(make, message):
    with pytest.raises(UsageError, match=message):
        make()
