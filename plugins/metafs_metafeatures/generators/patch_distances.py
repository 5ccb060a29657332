r"""How near images come to prototypes: the least squared distance over all pieces of an image.

.. math:: d^2 = \min_R \|R - P\|^2, \qquad \|R - P\|^2 = \|R\|^2 - 2 R \cdot P + \|P\|^2

so that the distances of all pieces R of an image to all prototypes P come out of one matrix
product. A piece is a square of one band of the image's representation
(`metafs_metafeatures.generators.gabor`), as large as the prototype.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from metafs.data.typing import Array

_WINDOWS = 2**21  # values that are unfolded at a time


def windows(bands: Array, size: int) -> Array:
    """Return every piece of some images, (n_images, n_pieces, 4 size^2).

    Where an image has no room for a single piece, it is continued with zeros.

    Examples
    --------
    >>> windows(np.zeros((3, 2, 6, 5, 4)), 4).shape
    (3, 12, 64)
    """
    short = [max(0, size - side) for side in bands.shape[2:4]]
    if any(short):
        bands = np.pad(bands, ((0, 0), (0, 0), (0, short[0]), (0, short[1]), (0, 0)))
    pieces = sliding_window_view(bands, (size, size), axis=(2, 3))
    return np.moveaxis(pieces, 4, -1).reshape(len(bands), -1, 4 * size**2)


def squared_distances(prototypes: Array, bands: Array) -> Array:
    """Return the least squared distance of each prototype to each image.

    Parameters
    ----------
    prototypes : ndarray of shape (n_prototypes, size, size, 4)
        All of one size.
    bands : ndarray of shape (n_images, n_bands, rows, columns, 4)
        The representations of the images.

    Returns
    -------
    ndarray of shape (n_images, n_prototypes)
    """
    size = prototypes.shape[1]
    P = prototypes.reshape(len(prototypes), -1).astype(np.float64)
    P_squares = np.einsum("ij,ij->i", P, P)
    found = np.empty((len(bands), len(P)))
    n_pieces = bands.shape[1] * np.prod([max(1, side - size + 1) for side in bands.shape[2:4]])
    at_a_time = max(1, int(_WINDOWS // (n_pieces * max(P.shape))))
    for first in range(0, len(bands), at_a_time):
        R = windows(bands[first : first + at_a_time], size).astype(np.float64)
        products = R.reshape(-1, R.shape[2]) @ (-2.0 * P.T)
        squares = np.einsum("ijk,ijk->ij", R, R)
        products = products.reshape(*R.shape[:2], len(P))
        products += squares[:, :, None]
        found[first : first + at_a_time] = products.min(axis=1) + P_squares
    return np.maximum(found, 0.0)
