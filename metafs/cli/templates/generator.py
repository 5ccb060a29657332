"""newplugin: mean gray levels of squares of an image, drawn by place and size.

A generator stands for more features than could be listed. Each has meta-features, here x, y and
the half side of its square, and a search asks for features near some point of their space. This is
a working example: write your own features here. Of anything but images, add ``examples(n, rng)``,
which makes n instances to try the generator on.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from metafs.data.typing import Array
from metafs.plugin import Generator, hookimpl

METAFS_API = 1


class Square(NamedTuple):
    """A feature, by its meta-features: comparable and hashable."""

    x: int
    y: int
    half: int


@dataclass(frozen=True)
class NewPluginGenerator:
    """Mean gray levels of squares.

    Parameters
    ----------
    shape : (int, int), default=(28, 28)
        Rows and columns of the images.
    largest : int, default=3
        The largest half side; squares have 2 half + 1 pixels a side.

    Examples
    --------
    >>> generator = NewPluginGenerator()
    >>> f = generator.sample(np.array([9.8, 12.1, 1.0]), np.random.default_rng(0))
    >>> f, generator.measure(f, np.full((2, 28, 28), 0.5))
    (Square(x=10, y=12, half=1), array([0.5, 0.5]))
    """

    shape: tuple[int, int] = (28, 28)
    largest: int = 3

    @property
    def meta_feature_names(self) -> tuple[str, ...]:
        """The names of the meta-features."""
        return Square._fields

    @property
    def bounds(self) -> Array:
        """The least and the largest value of each meta-feature."""
        rows, columns = self.shape
        return np.array(
            [
                (self.largest, columns - 1 - self.largest),
                (self.largest, rows - 1 - self.largest),
                (0, self.largest),
            ]
        )

    def nearest(self, u: Array) -> Array:
        """Return the whole numbers within bounds that are nearest to u."""
        low, high = self.bounds.T
        point: Array = np.clip(np.rint(u), low, high)
        return point

    def sample(self, u: Array, rng: np.random.Generator) -> Square:
        """Return the square at u: there is one at each valid point."""
        x, y, half = (int(value) for value in self.nearest(u))
        return Square(x, y, half)

    def meta_features(self, f: Square) -> Array:
        """Return x, y and the half side."""
        return np.array(f, dtype=np.float64)

    def measure(self, f: Square, images: Any) -> Array:
        """Return the mean gray level of the square on each image."""
        rows = slice(f.y - f.half, f.y + f.half + 1)
        columns = slice(f.x - f.half, f.x + f.half + 1)
        values: Array = np.asarray(images)[:, rows, columns].mean(axis=(1, 2))
        return values

    def cost(self, f: Square) -> float:
        """Return the number of pixels that have to be read."""
        return float((2 * f.half + 1) ** 2)


@hookimpl
def metafs_generators() -> dict[str, Generator]:
    """Offer the generator under its public name."""
    return {"newplugin": NewPluginGenerator()}
