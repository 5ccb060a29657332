import pickle
from math import cos, exp, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import correlate2d

from metafs.errors import ProblemError, UsageError
from metafs.plugin.generators import describe_all, measure_all, prepared
from metafs.plugin.registry import Registry
from metafs.testing.generators import CHECKS
from metafs_metafeatures.generators.gabor import (
    ORIENTATIONS,
    band_sizes,
    complex_responses,
    gabor_filter,
)
from metafs_metafeatures.generators.patch_distances import squared_distances, windows
from metafs_metafeatures.generators.patches import Patch, PatchPrototypes, pink_images


def slow_responses(image, n_bands, pool, stride):
    """Section 5's representation of one image, place by place."""
    rows, columns = image.shape
    first = (stride - 1) // 2
    centres = [(r, c) for r in range(first, rows, stride) for c in range(first, columns, stride)]
    shape = len(range(first, rows, stride)), len(range(first, columns, stride))
    bands = np.zeros((n_bands, *shape, 4))
    for band, sizes in enumerate(band_sizes(n_bands)):
        for o, orientation in enumerate(ORIENTATIONS):
            responses = []
            for size in sizes:
                mirrored = np.pad(image, size // 2, mode="symmetric")
                kernel = gabor_filter(size, orientation)
                responses.append(np.abs(correlate2d(mirrored, kernel, mode="valid")))
            for place, (r, c) in enumerate(centres):
                near = [
                    each[max(0, r - pool // 2) : r - pool // 2 + pool,
                         max(0, c - pool // 2) : c - pool // 2 + pool].max()
                    for each in responses
                ]  # fmt: skip
                bands[band, place // shape[1], place % shape[1], o] = max(near)
    return bands


def slow_squared_distance(prototype, bands):
    """The least squared distance over all bands and places, one at a time."""
    size = prototype.shape[0]
    best = np.inf
    for band in bands:
        for r in range(band.shape[0] - size + 1):
            for c in range(band.shape[1] - size + 1):
                piece = band[r : r + size, c : c + size].astype(float)
                best = min(best, ((piece - prototype) ** 2).sum())
    return best


@pytest.fixture(scope="module")
def generator():
    return PatchPrototypes(pink_images(6, 32, seed=3), n_bands=2)


@pytest.fixture(scope="module")
def images():
    return pink_images(5, 32, seed=4)


def test_a_filter_is_the_published_one():
    """By hand for 7 pixels: sigma = 0.0036 * 49 + 0.35 * 7 + 0.18 = 2.8064, lambda = 3.508."""
    sigma, wavelength = 2.8064, 3.508
    raw = np.array(
        [
            [
                exp(-(x**2 + 0.09 * y**2) / (2 * sigma**2)) * cos(2 * pi * x / wavelength)
                for x in range(-3, 4)
            ]
            for y in range(-3, 4)
        ]
    )
    G = gabor_filter(7, 0.0)
    centred = raw - raw.mean()
    np.testing.assert_allclose(G, centred / np.sqrt((centred**2).sum()), atol=1e-12)
    np.testing.assert_allclose(gabor_filter(7, np.pi / 2), G.T, atol=1e-12)
    assert G[3, 3] == pytest.approx(0.25876508)


def test_a_filter_sees_the_orientation_it_is_made_for():
    x = np.mgrid[0:40, 0:40][1]
    stripes = np.cos(2 * np.pi * x / 5.6)[None]  # the wavelength of filters of 11 pixels
    responses = complex_responses(stripes, 3, pool=4, stride=2)[0, 1].mean(axis=(0, 1))
    assert responses.argmax() == 0
    turned = complex_responses(stripes.transpose(0, 2, 1), 3, 4, 2)[0, 1].mean(axis=(0, 1))
    assert turned.argmax() == 2


@pytest.mark.parametrize(("pool", "stride"), [(4, 2), (3, 1), (8, 4), (1, 3)])
def test_the_representation_is_the_published_one(pool, stride):
    images = pink_images(2, 24, seed=5)[:, :, :19]
    found = complex_responses(images, 2, pool, stride)
    for image, bands in zip(images, found, strict=True):
        np.testing.assert_allclose(bands, slow_responses(image, 2, pool, stride), atol=2e-6)


def test_an_image_without_contrast_gives_no_response():
    assert np.abs(complex_responses(np.full((1, 20, 20), 0.7), 2, 4, 2)).max() < 1e-5


@pytest.mark.parametrize("size", [4, 8, 12, 16])
def test_distances_are_the_least_over_places_and_bands(generator, images, size):
    rng = np.random.default_rng(size)
    patches = generator._at_random(size, 3, rng)
    bands = generator.prepare(images).bands
    prototypes = generator.prototypes(patches)
    expected = [
        [slow_squared_distance(p.astype(float), each) for p in prototypes] for each in bands
    ]
    found = squared_distances(prototypes, bands)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    values = generator.measure_all(patches, images)
    np.testing.assert_allclose(values, np.exp(-generator.sharpness * np.array(expected)), rtol=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 5), st.integers(1, 7), st.integers(1, 7))
def test_distances_in_pieces_of_memory_are_the_same(seed, size, rows, columns):
    rng = np.random.default_rng(seed)
    bands = rng.normal(size=(3, 2, rows, columns, 4))
    prototypes = rng.normal(size=(2, size, size, 4))
    R = windows(bands, size)
    P = prototypes.reshape(2, -1)
    expected = ((R[:, :, None, :] - P) ** 2).sum(axis=-1).min(axis=1)
    np.testing.assert_allclose(squared_distances(prototypes, bands), expected, rtol=1e-9)


def test_many_images_at_once_are_the_same_as_few(generator, monkeypatch):
    images = pink_images(20, 32, seed=8)
    patches = generator.draw(30, np.random.default_rng(0))
    expected = generator.measure_all(patches, images)
    monkeypatch.setattr("metafs_metafeatures.generators.patch_distances._WINDOWS", 1)
    monkeypatch.setattr("metafs_metafeatures.generators.gabor._CHUNK", 1)
    np.testing.assert_allclose(generator.measure_all(patches, images), expected, rtol=1e-5)


def test_an_image_that_holds_the_prototype_has_value_1(generator):
    source = pink_images(6, 32, seed=3)
    for patch in generator.draw(10, np.random.default_rng(1)):
        values = generator.measure(patch, source)
        assert values[patch.image] == pytest.approx(1.0)
        assert (values <= 1.0).all() and (values >= 0.0).all()


def test_meta_features_are_those_of_the_values(generator):
    for patch in generator.draw(10, np.random.default_rng(2)):
        values = generator.source[
            patch.image,
            patch.band,
            patch.row : patch.row + patch.size,
            patch.column : patch.column + patch.size,
        ].astype(float)
        expected = [patch.size, values.mean(), values.std(), values.max(),
                    *np.quantile(values, [0.3, 0.7])]  # fmt: skip
        np.testing.assert_allclose(generator.meta_features(patch), expected)


def test_a_sampled_patch_is_the_nearest_of_its_candidates(generator):
    rng = np.random.default_rng(3)
    low, high = generator.bounds.T
    for _ in range(20):
        u = generator.nearest(rng.uniform(low, high))
        seed = int(rng.integers(2**31))
        found = generator.sample(u, np.random.default_rng(seed))
        assert found.size == u[0]
        candidates = generator._at_random(found.size, 16, np.random.default_rng(seed))
        away = (describe_all(generator, candidates) - u) / np.where(high > low, high - low, 1)
        assert found == candidates[int((away**2).sum(axis=1).argmin())]


def test_more_candidates_come_nearer(images):
    source = pink_images(6, 32, seed=3)
    one, many = (PatchPrototypes(source, n_bands=2, n_candidates=n) for n in (1, 64))
    low, high = many.bounds.T
    rng = np.random.default_rng(4)

    def away(generator):
        points = [generator.nearest(rng.uniform(low, high)) for _ in range(40)]
        drawn = describe_all(generator, [generator.sample(u, rng) for u in points])
        return np.mean(((drawn - points) / (high - low)) ** 2)

    assert away(many) < away(one)


def test_drawing_goes_over_sizes_images_and_bands(generator):
    patches = generator.draw(400, np.random.default_rng(0))
    assert {p.size for p in patches} == {4, 8, 12, 16}
    assert {p.image for p in patches} == set(range(6))
    assert {p.band for p in patches} == {0, 1}
    assert all(p.row + p.size <= 16 and p.column + p.size <= 16 for p in patches)
    assert {p.row for p in patches if p.size == 4} == set(range(13))


def test_a_patch_costs_its_number_of_places(generator):
    assert [generator.cost(Patch(size, 0, 0, 0, 0)) for size in (4, 8, 12)] == [16.0, 64.0, 144.0]


def test_a_registry_computes_nothing(monkeypatch):
    def refused(*arguments):
        raise AssertionError("computed")

    for name in ("pink_images", "complex_responses"):
        monkeypatch.setattr(f"metafs_metafeatures.generators.patches.{name}", refused)
    registry = Registry()
    assert not registry.failures()
    assert not {"source", "bounds", "sharpness"} & vars(registry.generators["patches"]).keys()


def test_beta_is_the_inverse_of_a_typical_distance(generator):
    source = generator.source
    patches = [generator._at_random(size, 100, np.random.default_rng(9)) for size in (4, 8, 12, 16)]
    squared = [squared_distances(generator.prototypes(each), source) for each in patches]
    median = np.median(np.concatenate(squared, axis=1))
    assert generator.sharpness == pytest.approx(1 / median, rel=0.4)
    assert PatchPrototypes(beta=0.25).sharpness == 0.25
    flat = PatchPrototypes(np.zeros((2, 32, 32)))
    assert (
        flat.sharpness == 1.0 and flat.measure(Patch(4, 0, 0, 0, 0), np.zeros((2, 32, 32)))[0] == 1
    )


def test_prepared_images_are_measured_like_raw_ones(generator, images):
    patches = generator.draw(8, np.random.default_rng(5))
    raw = measure_all(generator, patches, images)
    again = measure_all(generator, patches, prepared(generator, images))
    np.testing.assert_array_equal(raw, again)
    assert len(generator.prepare(images)) == len(images)
    reversed_ = measure_all(generator, patches[::-1], images)
    np.testing.assert_allclose(reversed_, raw[:, ::-1], rtol=1e-9)


def test_an_image_smaller_than_the_patch_is_continued_with_zeros(generator):
    small = pink_images(3, 20, seed=6)
    bands = generator.prepare(small).bands
    assert bands.shape[2:4] == (10, 10)
    patch = generator._at_random(16, 1, np.random.default_rng(0))[0]
    padded = np.zeros((3, 2, 16, 16, 4))
    padded[:, :, :10, :10] = bands
    prototype = generator.prototypes([patch])[0].astype(float)
    expected = ((padded - prototype) ** 2).sum(axis=(2, 3, 4)).min(axis=1)
    found = generator.measure(patch, small)
    np.testing.assert_allclose(found, np.exp(-generator.sharpness * expected), rtol=1e-9)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_laws_hold_for_other_settings(check):
    check(PatchPrototypes(sizes=(3, 5), n_bands=1, pool=3, stride=3, n_candidates=8))


def test_pink_images_have_a_falling_spectrum():
    images = pink_images(30, 32, seed=0)
    assert images.min() == 0.0 and images.max() == 1.0
    power = np.abs(np.fft.fft2(images)).mean(axis=0)
    assert power[0, 1] > 1.5 * power[0, 4] > 1.5 * 1.5 * power[0, 12]
    np.testing.assert_array_equal(images, pink_images(30, 32, seed=0))


def test_it_survives_pickling_before_and_after_use(images):
    fresh = PatchPrototypes(n_bands=1)
    patch = fresh.draw(1, np.random.default_rng(0))[0]
    used = pickle.loads(pickle.dumps(fresh))
    unused = pickle.loads(pickle.dumps(PatchPrototypes(n_bands=1)))
    np.testing.assert_array_equal(used.measure(patch, images), unused.measure(patch, images))


def test_wrong_parameters_are_sentences():
    with pytest.raises(UsageError, match=r"16 places do not fit .* 10 places a side; give larger"):
        PatchPrototypes(np.zeros((2, 20, 20)))
    with pytest.raises(UsageError, match="n_bands must be at least 1"):
        PatchPrototypes(n_bands=0)
    with pytest.raises(UsageError, match="beta must be more than 0"):
        PatchPrototypes(beta=-1.0)
    with pytest.raises(UsageError, match="sizes is empty"):
        PatchPrototypes(sizes=())
    with pytest.raises(UsageError, match="a size of a patch must be at least 1"):
        PatchPrototypes(sizes=(4, 0))
    with pytest.raises(ProblemError, match=r"shape \(20, 20\); give them as \(images, rows"):
        PatchPrototypes(np.zeros((20, 20)))
    with pytest.raises(ProblemError, match="missing or infinite"):
        PatchPrototypes().prepare(np.full((1, 32, 32), np.nan))
