r"""Patch prototypes on Gabor responses: how near an image comes to a piece of another one.

A prototype P is a square piece of the representation of some image
(`metafs_metafeatures.generators.gabor`): one band, four orientations, ``size`` by ``size`` places.
Its value on an image is

.. math:: e^{-\beta d^2}, \qquad d^2 = \min_{b, p} \|R_{b, p} - P\|^2

with :math:`R_{b, p}` the piece of the same size at place p of band b of the image
(`metafs_metafeatures.generators.patch_distances`). The meta-features of a prototype are its size
and the mean (DC), standard deviation, peak and quantiles 0.3 and 0.7 of its values: nothing that
would depend on the images it is measured on.

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", JMLR 9, 2008,
section 5; the features are those of T. Serre, L. Wolf, T. Poggio, "Object recognition with features
inspired by visual cortex", CVPR 2005.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, ClassVar

import numpy as np

from metafs.data.parameters import check_at_least, check_between
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs_metafeatures.generators.gabor import as_images, complex_responses
from metafs_metafeatures.generators.patch_distances import squared_distances

QUANTILES = (0.3, 0.7)

_SIDE = 48  # pixels along the side of a random image
_REFERENCE = 256  # patches of each size that bounds are taken from
_CALIBRATION = 32  # images and patches of each size that beta is taken from


@dataclass(frozen=True, order=True)
class Patch:
    """A prototype: where in the source images it was taken, and how large it is."""

    size: int
    image: int
    band: int
    row: int
    column: int


@dataclass(frozen=True, eq=False)
class Responses:
    """Images in the form in which prototypes are measured on them."""

    bands: Array
    """(n_images, n_bands, rows, columns, 4)"""

    def __len__(self) -> int:
        return len(self.bands)


def pink_images(n_images: int = 32, side: int = _SIDE, seed: int = 0) -> Array:
    """Return random images whose amplitude falls with frequency as in natural ones, in [0, 1].

    Examples
    --------
    >>> pink_images(2, 16).shape
    (2, 16, 16)
    """
    noise = np.random.default_rng(seed).normal(size=(n_images, side, side))
    frequency = np.hypot(np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side))
    frequency[0, 0] = np.inf
    images = np.fft.irfft2(np.fft.rfft2(noise) / frequency, s=(side, side))
    low, high = images.min(axis=(1, 2), keepdims=True), images.max(axis=(1, 2), keepdims=True)
    return np.asarray((images - low) / (high - low))


def described(values: Array) -> Array:
    """Return mean, standard deviation, peak and quantiles of each row of values.

    Examples
    --------
    >>> described(np.arange(11.0)[None]).round(2)
    array([[ 5.  ,  3.16, 10.  ,  3.  ,  7.  ]])
    """
    values = values.astype(np.float64)
    low, high = np.quantile(values, QUANTILES, axis=1)
    columns = values.mean(axis=1), values.std(axis=1), values.max(axis=1), low, high
    return np.column_stack(columns)


@dataclass(frozen=True, eq=False)
class PatchPrototypes:
    """Features that compare images with pieces of other images.

    Parameters
    ----------
    images : array-like of shape (n_images, rows, columns), default=None
        Where prototypes are taken from: natural images, or training images. None takes 32
        random images with a 1/f spectrum, always the same ones.
    sizes : tuple of int, default=(4, 8, 12, 16)
        Sides of the prototypes, in places of the representation.
    n_bands : int, default=4
        Bands of two scales each; the paper has 8, on larger images.
    pool : int, default=4
        Side of the square of pixels over which responses are pooled, in every band.
    stride : int, default=2
        Pixels from one place of the representation to the next. With 2, images of 32 by 32 pixels
        have 16 by 16 places, just enough for the largest prototype.
    beta : float, default=None
        How fast a value falls with distance. None takes the inverse of the median squared
        distance between 32 of the source images and random prototypes from them.
    n_candidates : int, default=16
        Random patches from which `sample` takes the one nearest to the point asked for.

    Notes
    -----
    The size of a sampled patch is exactly the nearest to the one asked for; the other
    meta-features are as near as the best of ``n_candidates`` random patches of this size comes,
    each meta-feature in units of its range. Bounds are the extremes of 256 random patches of each
    size. The cost of a patch is its number of places, size^2, which is what a comparison at one
    place takes.

    Pool and stride are the same in all bands; in Serre et al., as far as we know, both grow with
    the band.

    Examples
    --------
    >>> generator = PatchPrototypes()
    >>> patch = generator.sample(generator.bounds.mean(axis=1), np.random.default_rng(0))
    >>> patch.size, generator.cost(patch)
    (8, 64.0)
    >>> generator.measure(patch, pink_images(3, 32, seed=1)).shape
    (3,)
    """

    meta_feature_names: ClassVar[tuple[str, ...]] = (
        "size",
        "mean",
        "std",
        "peak",
        "quantile 0.3",
        "quantile 0.7",
    )

    images: Any = None
    sizes: tuple[int, ...] = (4, 8, 12, 16)
    n_bands: int = 4
    pool: int = 4
    stride: int = 2
    beta: float | None = None
    n_candidates: int = 16

    def __post_init__(self) -> None:
        for name in ("n_bands", "pool", "stride", "n_candidates"):
            check_at_least(name, getattr(self, name))
        if not self.sizes:
            raise UsageError("sizes is empty; give at least one side of a patch.")
        for size in self.sizes:
            check_at_least("a size of a patch", size)
        if self.beta is not None:
            check_between("beta", self.beta)
        sides = (_SIDE,) if self.images is None else as_images(self.images).shape[1:]
        places = min(len(range((self.stride - 1) // 2, side, self.stride)) for side in sides)
        if max(self.sizes) > places:
            raise UsageError(
                f"patches of {max(self.sizes)} places do not fit into source images with {places} "
                "places a side; give larger images, smaller sizes or a smaller stride."
            )

    @cached_property
    def source(self) -> Array:
        """The representation of the images that prototypes are taken from."""
        images = pink_images() if self.images is None else self.images
        return complex_responses(images, self.n_bands, self.pool, self.stride)

    @cached_property
    def bounds(self) -> Array:
        """The least and largest value of each meta-feature, of shape (k, 2)."""
        rng = np.random.default_rng(0)
        u = [self._described(self._at_random(size, _REFERENCE, rng)) for size in self.sizes]
        points = np.concatenate(u)
        return np.column_stack([points.min(axis=0), points.max(axis=0)])

    @cached_property
    def sharpness(self) -> float:
        """The beta in use."""
        if self.beta is not None:
            return float(self.beta)
        rng = np.random.default_rng(0)
        picked = rng.permutation(len(self.source))[:_CALIBRATION]
        each = [
            squared_distances(
                self.prototypes(self._at_random(size, _CALIBRATION, rng)), self.source[picked]
            )
            for size in self.sizes
        ]
        median = float(np.median(np.concatenate(each, axis=1)))
        return 1.0 / median if median > 0 else 1.0

    def nearest(self, u: Array) -> Array:
        """Return u within bounds, with a size that there is."""
        low, high = self.bounds.T
        point = np.clip(np.asarray(u, dtype=np.float64), low, high)
        sizes = np.array(sorted(self.sizes), dtype=np.float64)
        point[0] = sizes[np.abs(sizes - point[0]).argmin()]
        return point

    def draw(self, n_patches: int, rng: np.random.Generator) -> list[Patch]:
        """Return patches of random size from random places of random images."""
        sizes = rng.choice(self.sizes, n_patches)
        return [self._at_random(int(size), 1, rng)[0] for size in sizes]

    def sample(self, u: Array, rng: np.random.Generator) -> Patch:
        """Draw a patch whose meta-features are near to u."""
        point = self.nearest(u)
        candidates = self._at_random(int(point[0]), self.n_candidates, rng)
        low, high = self.bounds.T
        scale = np.where(high > low, high - low, 1.0)
        away = (self._described(candidates) - point) / scale
        return candidates[int((away**2).sum(axis=1).argmin())]

    def meta_features(self, f: Patch) -> Array:
        """Return size, mean, standard deviation, peak and both quantiles of a patch."""
        return np.asarray(self._described([f])[0])

    def cost(self, f: Patch) -> float:
        """Return the number of places of a patch."""
        return float(f.size**2)

    def prepare(self, images: Any) -> Responses:
        """Return the representation of images, which need not be computed for each patch anew."""
        return Responses(complex_responses(images, self.n_bands, self.pool, self.stride))

    def measure(self, f: Patch, images: Any) -> Array:
        """Return the value of a patch on each image, raw or prepared."""
        return np.asarray(self.measure_all([f], images)[:, 0])

    def measure_all(self, features: Sequence[Patch], prepared: Any) -> Array:
        """Return the values of many patches, of shape (n_images, n_patches)."""
        responses = prepared if isinstance(prepared, Responses) else self.prepare(prepared)
        values = np.empty((len(responses), len(features)))
        by_size = sorted(range(len(features)), key=lambda place: features[place].size)
        for _, group in groupby(by_size, key=lambda place: features[place].size):
            places = list(group)
            prototypes = self.prototypes([features[place] for place in places])
            values[:, places] = squared_distances(prototypes, responses.bands)
        return np.asarray(np.exp(-self.sharpness * values))

    def prototypes(self, patches: Sequence[Patch]) -> Array:
        """Return the values of patches of one size, (n_patches, size, size, 4)."""
        size = patches[0].size
        return np.stack(
            [
                self.source[p.image, p.band, p.row : p.row + size, p.column : p.column + size]
                for p in patches
            ]
        )

    def _at_random(self, size: int, n_patches: int, rng: np.random.Generator) -> list[Patch]:
        n_images, n_bands, n_rows, n_columns = self.source.shape[:4]
        highs = [n_images, n_bands, n_rows - size + 1, n_columns - size + 1]
        places = rng.integers(highs, size=(n_patches, 4)).tolist()
        return [Patch(size, *place) for place in places]

    def _described(self, patches: Sequence[Patch]) -> Array:
        values = self.prototypes(patches).reshape(len(patches), -1)
        return np.column_stack([[float(p.size) for p in patches], described(values)])
