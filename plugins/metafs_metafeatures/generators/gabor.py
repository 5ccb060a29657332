r"""What simple cells see: Gabor responses, pooled over places and neighbouring scales.

A filter of :math:`s \times s` pixels and orientation :math:`\theta` is

.. math:: G(x, y) = \exp\left(-\frac{x_\theta^2 + \gamma^2 y_\theta^2}{2 \sigma^2}\right)
          \cos\left(\frac{2 \pi x_\theta}{\lambda}\right), \qquad
          x_\theta = x \cos\theta + y \sin\theta, \quad y_\theta = -x \sin\theta + y \cos\theta

with :math:`\gamma = 0.3`, :math:`\sigma = 0.0036 s^2 + 0.35 s + 0.18`,
:math:`\lambda = \sigma / 0.8`, then shifted to mean 0 and scaled to length 1. Filter sizes are
7, 9, 11, ...; two neighbouring sizes make a band. An image is represented by, for each band and
each of four orientations, the largest absolute response of both sizes around every ``stride``-th
place. The square around a place and the stride are the same in all bands; in Serre et al., as far
as we know, both grow with the band.

T. Serre, L. Wolf, T. Poggio, "Object recognition with features inspired by visual cortex",
CVPR 2005, as described in E. Krupka, A. Navot, N. Tishby, "Learning to select features using their
properties", JMLR 9, 2008, section 5.
"""

import numpy as np
from scipy.fft import irfft2, next_fast_len, rfft2
from scipy.ndimage import maximum_filter

from metafs.data.typing import Array
from metafs.errors import ProblemError

SMALLEST = 7
"""Pixels along the side of the smallest filter."""

ORIENTATIONS = (0.0, np.pi / 4, np.pi / 2, 3 * np.pi / 4)

_ASPECT = 0.3
_WAVES = 0.8  # sigma over wavelength
_CHUNK = 2**22  # pixels that are transformed at a time


def gabor_filter(size: int, orientation: float) -> Array:
    """Return a filter with mean 0 and length 1.

    Examples
    --------
    >>> G = gabor_filter(7, 0.0)
    >>> G.shape, abs(float(G.sum())) < 1e-12, round(float((G**2).sum()), 12)
    ((7, 7), True, 1.0)
    """
    sigma = 0.0036 * size**2 + 0.35 * size + 0.18
    half = size // 2
    y, x = np.mgrid[-half : half + 1, -half : half + 1].astype(np.float64)
    along = x * np.cos(orientation) + y * np.sin(orientation)
    across = -x * np.sin(orientation) + y * np.cos(orientation)
    envelope = np.exp(-(along**2 + (_ASPECT * across) ** 2) / (2 * sigma**2))
    G = envelope * np.cos(2 * np.pi * _WAVES * along / sigma)
    G -= G.mean()
    return np.asarray(G / np.linalg.norm(G))


def band_sizes(n_bands: int) -> list[tuple[int, int]]:
    """Return the two filter sizes of each band.

    Examples
    --------
    >>> band_sizes(3)
    [(7, 9), (11, 13), (15, 17)]
    """
    return [(SMALLEST + 4 * band, SMALLEST + 4 * band + 2) for band in range(n_bands)]


def as_images(images: object) -> Array:
    """Return images as float32 of shape (n, rows, columns), or say what is wrong with them."""
    array = np.asarray(images, dtype=np.float32)
    if array.ndim != 3 or 0 in array.shape:
        raise ProblemError(
            f"the images have shape {array.shape}; give them as (images, rows, columns)."
        )
    if not np.isfinite(array).all():
        raise ProblemError("the images hold missing or infinite values; correct them.")
    return array


def complex_responses(images: object, n_bands: int, pool: int, stride: int) -> Array:
    """Return the pooled responses, float32 of shape (n, n_bands, rows, columns, 4).

    Images are continued by their mirror image at the border. ``pool`` is the side of the square
    over which the maximum is taken.

    Examples
    --------
    >>> complex_responses(np.zeros((2, 32, 32)), n_bands=4, pool=4, stride=2).shape
    (2, 4, 16, 16, 4)
    """
    array = as_images(images)
    margin = band_sizes(n_bands)[-1][1] // 2
    rows, columns = (next_fast_len(side + 2 * margin, real=True) for side in array.shape[1:])
    at_a_time = max(1, _CHUNK // (rows * columns))
    parts = [
        _responses(array[first : first + at_a_time], n_bands, pool, stride, (rows, columns))
        for first in range(0, len(array), at_a_time)
    ]
    return np.concatenate(parts)


def _responses(
    images: Array, n_bands: int, pool: int, stride: int, shape: tuple[int, int]
) -> Array:
    sizes = band_sizes(n_bands)
    margin = sizes[-1][1] // 2
    n_rows, n_columns = images.shape[1:]
    around = ((0, 0), (margin, margin), (margin, margin))
    spectrum = rfft2(np.pad(images, around, mode="symmetric"), s=shape)
    first = (stride - 1) // 2
    bands = []
    for pair in sizes:
        quadruplet = []
        for orientation in ORIENTATIONS:
            strongest = np.zeros_like(images)
            for size in pair:
                kernel = gabor_filter(size, orientation).astype(np.float32)
                # A filter equals its half turn, so that convolving is correlating.
                response = irfft2(spectrum * rfft2(kernel, s=shape), s=shape)
                begin = margin + size // 2
                found = response[:, begin : begin + n_rows, begin : begin + n_columns]
                np.maximum(strongest, np.abs(found), out=strongest)
            pooled = maximum_filter(strongest, size=(1, pool, pool), mode="nearest")
            quadruplet.append(pooled[:, first::stride, first::stride])
        bands.append(np.stack(quadruplet, axis=-1))
    return np.stack(bands, axis=1)
