import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metafs.errors import ProblemError, UsageError
from metafs_metafeatures import AndOr, AndOrGenerator
from metafs_metafeatures.generators.and_or import MAX_INPUTS
from metafs_metafeatures.generators.bit_images import packed, thresholded, unpacked
from metafs_metafeatures.generators.pixel_shapes import (
    SCATTER_STEP,
    drawn_shapes,
    scatter,
    window_side,
)

ROWS, COLUMNS = 7, 9
PIXELS = st.tuples(st.integers(0, ROWS - 1), st.integers(0, COLUMNS - 1), st.booleans())
FEATURES = st.builds(
    AndOr,
    st.lists(PIXELS, min_size=1, max_size=8, unique_by=lambda p: p[:2]).map(tuple),
    st.integers(1, 8),
)
POINTS = st.tuples(
    st.integers(1, 8), st.floats(-20, 120), st.integers(1, 8), st.floats(0.5, 4.0)
).map(np.array)


def slow_value(feature, image):
    """OR over shifts of AND over inputs, pixel by pixel; what is outside is background."""
    for d in range(feature.shift_inv_len):
        for e in range(feature.shift_inv_len):
            everything = True
            for row, column, positive in feature.inputs:
                inside = row + d < len(image) and column + e < len(image[0])
                pixel = bool(image[row + d][column + e]) if inside else False
                everything = everything and (pixel == positive)
            if everything:
                return 1
    return 0


def random_images(seed, n, share=0.5):
    return np.random.default_rng(seed).random((n, ROWS, COLUMNS)) < share


@settings(max_examples=80, deadline=None)
@given(
    st.lists(FEATURES, min_size=1, max_size=4),
    st.sampled_from([1, 2, 63, 64, 65, 130]),
    st.floats(0.05, 0.95),
    st.integers(0, 2**31),
)
def test_words_of_64_images_hold_what_pixel_by_pixel_gives(features, n, share, seed):
    images = random_images(seed, n, share)
    generator = AndOrGenerator((ROWS, COLUMNS))
    found = generator.measure_all(features, generator.prepare(images))
    expected = [[slow_value(f, image) for f in features] for image in images.tolist()]
    assert found.dtype == np.uint8 and found.tolist() == expected
    assert generator.measure(features[0], images).tolist() == [row[0] for row in expected]


def test_the_example_of_the_paper():
    """Two inputs and shifts of 2: four conjunctions, joined by OR."""
    images = random_images(0, 200)
    (r1, c1), (r2, c2) = (1, 2), (3, 0)
    expected = np.zeros(200, dtype=bool)
    for d, e in ((0, 0), (0, 1), (1, 0), (1, 1)):
        expected |= images[:, r1 + d, c1 + e] & images[:, r2 + d, c2 + e]
    feature = AndOr(((r1, c1, True), (r2, c2, True)), 2)
    found = AndOrGenerator((ROWS, COLUMNS)).measure(feature, images)
    np.testing.assert_array_equal(found, expected)
    assert 0 < expected.mean() < 1


@given(st.integers(0, 2**31), st.integers(1, 140), st.integers(0, 3))
def test_packing_loses_nothing(seed, n, border):
    on = random_images(seed, n)
    images = packed(on, border)
    assert images.planes.shape == (2, ROWS + border, COLUMNS + border, -(-n // 64))
    pixels = images.planes[1, :ROWS, :COLUMNS].reshape(ROWS * COLUMNS, -1)
    back = unpacked(np.ascontiguousarray(pixels), n).T.reshape(n, ROWS, COLUMNS)
    np.testing.assert_array_equal(back, on)
    assert not images.planes[1, ROWS:].any() and not images.planes[1, :, COLUMNS:].any()
    np.testing.assert_array_equal(images.planes[0], ~images.planes[1])


def test_pixels_are_on_above_half_of_the_brightest():
    grey = np.array([0, 127, 128, 255], dtype=np.uint8).reshape(1, 2, 2)
    on = [[[False, False], [True, True]]]
    assert thresholded(grey, 0.5).tolist() == on
    assert thresholded(grey / 255, 0.5).tolist() == on
    assert thresholded(grey > 127, 0.9).tolist() == on
    assert thresholded(grey, 0.3).sum() == 3
    with pytest.raises(ProblemError, match="2 dimensions"):
        thresholded(grey[0], 0.5)


@settings(max_examples=150, deadline=None)
@given(POINTS, st.integers(0, 2**31))
def test_features_have_the_meta_features_of_their_point(u, seed):
    generator = AndOrGenerator((16, 18))
    u = generator.nearest(u)
    feature = generator.sample(u, np.random.default_rng(seed))
    n, percent, length, spread = generator.meta_features(feature)
    assert (n, percent, length) == tuple(u[:3])
    assert spread == 0 if n == 1 else abs(spread - u[3]) <= SCATTER_STEP / 2 + 1e-9
    pixels = [(row, column) for row, column, _ in feature.inputs]
    assert len(set(pixels)) == n and list(feature.inputs) == sorted(feature.inputs)
    assert all(0 <= row < 16 and 0 <= column < 18 for row, column in pixels)
    assert generator.cost(feature) == 0.5 * (1 + length**2)


@given(st.tuples(*[st.floats(-200, 200)] * 4).map(np.array))
def test_the_nearest_valid_point_is_the_nearest_of_all(u):
    """All valid values, listed: per cents are those that n inputs can have."""
    found = AndOrGenerator().nearest(u)
    percents = [round(100 * k / found[0]) for k in range(int(found[0]) + 1)]
    whole, halves = range(1, 9), np.arange(1.0, 3.6, 0.5)
    for value, wanted, valid in zip(found, u, (whole, percents, whole, halves), strict=True):
        slack = 1.0 if valid is percents else 1e-9  # two roundings: of the share, of its per cent
        assert value in valid
        assert abs(value - wanted) <= min(abs(v - wanted) for v in valid) + slack


def test_scatter_is_the_mean_distance_from_the_centre_of_gravity():
    pixels = np.array([[0, 0], [3, 0], [0, 6]])
    y, x = 1.0, 2.0
    expected = np.mean([np.hypot(r - y, c - x) for r, c in pixels])
    np.testing.assert_allclose(scatter(pixels), expected)


@pytest.mark.parametrize("n", range(2, MAX_INPUTS + 1))
@pytest.mark.parametrize("wanted", [1.0, 2.0, 3.5])
def test_every_scatter_can_be_drawn_and_shapes_differ(n, wanted):
    rng = np.random.default_rng(0)
    shapes = drawn_shapes(n, wanted, 30, (28, 28), rng)
    assert all(abs(scatter(shape) - wanted) <= SCATTER_STEP / 2 + 1e-9 for shape in shapes)
    assert all((shape.min(axis=0) == 0).all() for shape in shapes)
    assert max(shape.max() for shape in shapes) < window_side(n, wanted)
    distinct = {tuple(sorted(map(tuple, shape.tolist()))) for shape in shapes}
    assert len(distinct) > (1 if wanted == 1.0 else 10)


def test_where_no_shape_fits_the_nearest_is_taken():
    """Two pixels of a 4 x 4 image are at most 2.2 from their middle."""
    shapes = drawn_shapes(2, 3.5, 3, (4, 4), np.random.default_rng(0))
    assert scatter(shapes).tolist() == pytest.approx([4.5**0.5] * 3)
    generator = AndOrGenerator((4, 4))
    feature = generator.sample(np.array([2, 50, 8, 3.5]), np.random.default_rng(0))
    assert all(0 <= row < 4 and 0 <= column < 4 for row, column, _ in feature.inputs)


def test_many_at_once_lie_each_at_its_own_point():
    generator, rng = AndOrGenerator(), np.random.default_rng(0)
    points = [generator.nearest(rng.uniform(*generator.bounds.T)) for _ in range(200)]
    features = generator.sample_all(np.array(points), rng)
    assert len(set(features)) > 190
    for u, feature in zip(points, features, strict=True):
        found = generator.meta_features(feature)
        np.testing.assert_array_equal(found[:3], u[:3])
        assert u[0] == 1 or abs(found[3] - u[3]) <= SCATTER_STEP / 2 + 1e-9
    assert generator.sample_all(np.zeros((0, 4)), rng) == []


def test_places_and_signs_are_drawn_evenly():
    generator, rng = AndOrGenerator((6, 6)), np.random.default_rng(0)
    one = [generator.sample(np.array([1, 100, 1, 1.0]), rng).inputs[0] for _ in range(3600)]
    counts = np.zeros((6, 6))
    for row, column, positive in one:
        assert positive
        counts[row, column] += 1
    assert abs(counts - 100).max() < 45  # 4.5 standard deviations
    four = [generator.sample(np.array([4, 50, 1, 1.5]), rng).inputs for _ in range(1000)]
    signs = np.array([[sign for *_, sign in inputs] for inputs in four])
    assert (signs.sum(axis=1) == 2).all() and abs(signs.mean(axis=0) - 0.5).max() < 0.08


@settings(max_examples=60, deadline=None)
@given(POINTS, st.integers(0, 2**31), st.integers(0, 4), st.booleans())
def test_shifted_inputs_stay_inside_the_image_and_off_its_margin(u, seed, margin, placed):
    """Whether features are drawn anywhere, or around a place that may lie at the very edge."""
    generator = AndOrGenerator((28, 28), margin=margin)
    if placed:
        generator = AndOrGenerator((28, 28), meta_feature_names=("x", "y"), margin=margin)
        u = np.array([27.0, 0.0])
    feature = generator.sample(generator.nearest(u), np.random.default_rng(seed))
    places = np.array([(row, column) for row, column, _ in feature.inputs])
    low, high = places.min(axis=0), places.max(axis=0) + feature.shift_inv_len - 1
    room = 28 - 2 * margin
    for first, last in zip(low, high, strict=True):
        assert (margin <= first and last < 28 - margin) or last - first + 1 >= room
        assert first >= 0


def test_the_centre_can_be_searched_over():
    """Section 8: no shifts, fixed scatter, and centres even in a window of 4 x 4."""
    fixed = {"shift_inv_len": 1, "scatter": 2.0}
    generator = AndOrGenerator(meta_feature_names=("x", "y"), fixed=fixed)
    np.testing.assert_array_equal(generator.bounds, [[1.5, 25.5], [1.5, 25.5]])
    u = generator.nearest(np.array([12.2, 7.9]))
    assert u.tolist() == [12.5, 7.5]
    rng = np.random.default_rng(0)
    drawn = [generator.sample(u, rng) for _ in range(600)]
    centres = np.array([generator.meta_features(f) for f in drawn])
    assert abs(centres - u).max() <= 2.0
    assert abs(centres.mean(axis=0) - u).max() < 0.2
    cells = np.floor(centres - u + 2).clip(0, 3)
    assert (np.unique(cells, axis=0, return_counts=True)[1] > 12).sum() == 16
    sizes = [len(f.inputs) for f in drawn]
    assert set(sizes) == set(range(1, 9)) and {f.shift_inv_len for f in drawn} == {1}
    assert len(set(drawn)) > 500
    corner = generator.sample(generator.nearest(np.array([0.0, 99.0])), rng)
    assert all(0 <= row < 28 and 0 <= column < 28 for row, column, _ in corner.inputs)


def test_the_number_of_inputs_alone_can_be_searched_over():
    fixed = {"shift_inv_len": 1, "scatter": 2.0}
    generator = AndOrGenerator(meta_feature_names=("num_inputs",), fixed=fixed)
    rng = np.random.default_rng(0)
    drawn = [generator.sample(generator.nearest(np.array([3.4])), rng) for _ in range(400)]
    assert {len(f.inputs) for f in drawn} == {3} and {generator.cost(f) for f in drawn} == {1.0}
    n_on = np.bincount([sum(sign for *_, sign in f.inputs) for f in drawn])
    assert len(n_on) == 4 and abs(n_on - 100).max() < 40
    per_cent = AndOrGenerator(meta_feature_names=("percent_pos",))
    assert per_cent.nearest(np.array([33.4])).tolist() == [33.0]


def test_features_and_generators_can_be_pickled_and_compared():
    generator = AndOrGenerator(fixed={"x": 4.0})
    again = pickle.loads(pickle.dumps(generator))
    assert again == generator
    feature = AndOr(((1, 2, True),), 3)
    assert {feature, AndOr(((1, 2, True),), 3), AndOr(((1, 2, False),), 3)} == {
        feature,
        AndOr(((1, 2, False),), 3),
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"meta_feature_names": ()},
        {"meta_feature_names": ("x", "z")},
        {"fixed": {"scatter": 1.0}},
        {"shape": (3, 9)},
        {"window": 0},
        {"threshold": 1.5},
    ],
)
def test_impossible_settings_are_a_sentence(wrong):
    with pytest.raises(UsageError):
        AndOrGenerator(**wrong)


def test_images_of_another_shape_are_a_sentence():
    with pytest.raises(UsageError, match="7 x 9 pixels were given to a generator for 28 x 28"):
        AndOrGenerator().measure(AndOr(((0, 0, True),)), random_images(0, 3))


@pytest.mark.parametrize("kind", [bool, np.uint8, np.uint16, np.int32, np.int64, np.float32])
@pytest.mark.parametrize("brightest", [1, 255])
def test_images_of_any_type_are_the_same_images(kind, brightest):
    on = np.random.default_rng(0).random((5, 8, 8)) > 0.5
    whole = kind in (np.uint16, np.int32, np.int64)
    scale = 255 if kind is np.uint8 else brightest if whole else 1
    np.testing.assert_array_equal(thresholded((on * scale).astype(kind), 0.5), on)


@pytest.mark.parametrize("images", [np.full((2, 8, 8), np.nan), np.full((2, 8, 8), "on")])
def test_images_of_something_else_are_refused(images):
    with pytest.raises(ProblemError, match="values that are not numbers"):
        AndOrGenerator((8, 8)).prepare(images)
