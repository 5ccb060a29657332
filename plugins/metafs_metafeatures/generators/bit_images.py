r"""Binary images side by side in machine words: one operation serves 64 images.

Word k of pixel (r, c) holds the pixel of images 64 k to 64 k + 63, one bit each. A conjunction of
pixels i with signs, shifted over a square of side a and joined by OR, is then

.. math:: \bigvee_{0 \le d, e < a} \; \bigwedge_i \; \mathrm{plane}_{s_i}[r_i + d, c_i + e]

where plane 1 holds the images and plane 0 their negation. Beyond the right and the lower edge lies
background: 0 in the image, 1 in its negation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metafs.data.typing import Array
from metafs.errors import ProblemError

_WORD = 64

Input = tuple[int, int, bool]
"""Row, column, and whether the pixel is taken as it is rather than negated."""


@dataclass(frozen=True, eq=False)
class BitImages:
    """Packed images: ``planes[sign, row, column]`` are the words of one pixel, over all images."""

    planes: Array
    n_images: int


def thresholded(images: Any, threshold: float) -> Array:
    """Return which pixels are on: those above a share of the brightest value there can be.

    That is 1 for floats, and for whole numbers 1, 255 or 65,535, whichever holds the largest.

    Examples
    --------
    >>> thresholded(np.array([[[0, 127, 128, 255]]], dtype=np.uint8), 0.5)
    array([[[False, False,  True,  True]]])
    """
    images = np.asarray(images)
    if images.ndim != 3:
        raise ProblemError(
            f"the images have {images.ndim} dimensions; give them as (n_images, rows, columns)."
        )
    if images.dtype == bool:
        return np.asarray(images)
    if images.dtype.kind not in "iuf" or not np.isfinite(images).all():
        raise ProblemError("the images hold values that are not numbers; correct or drop them.")
    brightest = 1
    if images.dtype.kind in "iu" and images.dtype != np.uint8:
        largest = int(images.max(initial=0))
        brightest = next((top for top in (1, 255, 65_535) if largest <= top), largest)
    elif images.dtype == np.uint8:
        brightest = 255
    on: Array = images > threshold * brightest
    return on


def packed(on: Array, border: int) -> BitImages:
    """Pack booleans (n_images, rows, columns), with a border of background below and right.

    Examples
    --------
    >>> images = packed(np.ones((3, 1, 1), dtype=bool), border=1)
    >>> images.planes[1, :, :, 0]
    array([[7, 0],
           [0, 0]], dtype=uint64)
    """
    n_images, rows, columns = on.shape
    n_words = -(-n_images // _WORD)
    bits = np.zeros((rows, columns, n_words * _WORD // 8), dtype=np.uint8)
    together = np.packbits(np.moveaxis(on, 0, -1), axis=-1, bitorder="little")
    bits[..., : together.shape[-1]] = together
    planes = np.zeros((2, rows + border, columns + border, n_words), dtype="<u8")
    planes[1, :rows, :columns] = bits.view("<u8")
    np.bitwise_not(planes[1], out=planes[0])
    return BitImages(planes, n_images)


def words_of(inputs: Sequence[Input], length: int, images: BitImages, square: Array) -> Array:
    """Return the words of a conjunction, joined by OR over all shifts below ``length``.

    ``square`` is room for the shifted conjunctions, of shape (length, length, n_words).
    """
    views = [
        images.planes[int(sign), row : row + length, column : column + length]
        for row, column, sign in inputs
    ]
    first, *others = views
    if not others:
        square[...] = first
    for view in others:
        first = np.bitwise_and(first, view, out=square)
    words: Array = np.bitwise_or.reduce(square.reshape(length * length, -1), axis=0)
    return words


def unpacked(words: Array, n_images: int) -> Array:
    """Return the bits of words of shape (n_features, n_words) as 0 and 1, (n_features, n_images).

    Examples
    --------
    >>> unpacked(np.array([[5]], dtype="<u8"), 4)
    array([[1, 0, 1, 0]], dtype=uint8)
    """
    table: Array = np.unpackbits(words.view(np.uint8), axis=-1, count=n_images, bitorder="little")
    return table
