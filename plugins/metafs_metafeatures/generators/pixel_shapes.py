"""Shapes of a few pixels with a given scatter, the mean distance from their centre of gravity."""

import numpy as np

from metafs.data.typing import Array

SCATTER_STEP = 0.5
"""Valid scatters lie this far apart; what is drawn is within half of it."""

_BATCH = 2000  # shapes drawn at once, at most
_ROUNDS = 50


def scatter(pixels: Array) -> Array:
    """Return the mean distance of pixels (..., n, 2) from their centre of gravity.

    Examples
    --------
    >>> scatter(np.array([[0, 0], [0, 4]]))
    array(2.)
    """
    away = pixels - pixels.mean(axis=-2, keepdims=True)
    return np.asarray(np.sqrt((away**2).sum(axis=-1)).mean(axis=-1))


def window_side(n: int, wanted: float) -> int:
    """Return one more than the side of a square in which n even draws have the wanted scatter.

    Points of a square of side 1 lie 0.38 from its centre on average, and a little less from the
    centre of gravity of n of them.
    """
    return int(np.ceil(wanted / (0.38 * np.sqrt((n - 1) / n)))) + 1


def drawn_shapes(
    n: int, wanted: float, n_shapes: int, limit: tuple[int, int], rng: np.random.Generator
) -> Array:
    """Draw shapes of n distinct pixels whose scatter is within half a step of the wanted one.

    Pixels are drawn evenly from a square window, again and again until they fit, and moved to the
    upper left corner. After 50 rounds what has the nearest scatter so far is taken instead.
    """
    if n == 1:
        return np.zeros((n_shapes, 1, 2), dtype=np.int64)
    side = window_side(n, wanted)
    rows, columns = min(side, limit[0]), min(side, limit[1])
    found = np.zeros((0, n, 2), dtype=np.int64)
    nearest, least = found, np.inf
    for _ in range(_ROUNDS):
        size = (min(4 * (n_shapes - len(found)) + 4, _BATCH), rows * columns)
        cells = rng.random(size).argpartition(n - 1, axis=1)[:, :n]
        shapes = np.stack(np.divmod(cells, columns), axis=-1)
        off = np.abs(scatter(shapes) - wanted)
        if off.min() < least:
            nearest, least = shapes[[off.argmin()]], off.min()
        found = np.concatenate([found, shapes[off <= SCATTER_STEP / 2]])
        if len(found) >= n_shapes:
            break
    missing = max(n_shapes - len(found), 0)
    found = np.concatenate([found[:n_shapes], np.repeat(nearest, missing, axis=0)])
    return np.asarray(found - found.min(axis=1, keepdims=True))
