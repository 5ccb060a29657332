r"""Monomials: products of the gray levels of two or three pixels, with five meta-features.

Two of the pixels are the ends of a base; the third, if there is one, lies off the middle of the
base, a quarter of its length away. With the centre of the base at :math:`(u_x, u_y)`, its length
:math:`u_r` and its orientation :math:`u_\phi`, the pixels lie at

.. math::
    p_\pm = (u_x, u_y) \pm \tfrac{u_r}{2} (\cos u_\phi, \sin u_\phi), \qquad
    p_t = (u_x, u_y) + \tfrac{u_r}{4} (-\sin u_\phi, \cos u_\phi),

each offset from the centre rounded to the nearest pixel, halves away from the centre. The fifth
meta-feature, :math:`u_t`, is the number of inputs. Turned by half a circle a pair is the same
pair, so that two inputs have orientations below 180 degrees, three below 360.

E. Krupka, N. Tishby, "Incorporating prior knowledge on features into learning", AISTATS 2007:
figure 3 has the features, table 2 the values of their meta-features.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from metafs.data.parameters import check_at_least
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs.plugin.generators import describe_all

HEIGHT = 0.25
"""The height of the triangle, as a share of its base."""

NAMES: tuple[str, ...] = ("n_inputs", "base", "orientation", "x", "y")

_AT_ONCE = 512
_ROUNDING = 1e-9


def period(n_inputs: float, *more: float) -> float:
    """Return the orientation, in degrees, at which a feature is the first one again.

    It goes by the number of inputs alone; what more an `OrientedGaussian` groups by has no say.

    Examples
    --------
    >>> period(2), period(3, 5.0)
    (180.0, 360.0)
    """
    return 180.0 if n_inputs == 2 else 360.0


class Monomial(NamedTuple):
    """A product of pixels, by its meta-features."""

    n_inputs: int
    base: float
    orientation: float
    x: int
    y: int


@dataclass(frozen=True)
class PixelRows:
    """Images with a row for each pixel, ready to be multiplied; the last row holds ones."""

    rows: Array
    shape: tuple[int, int]


def rounded(offset: float) -> int:
    """Return the nearest whole number, of two equally near ones that further from 0.

    Examples
    --------
    >>> rounded(0.5), rounded(-1.5), rounded(0.4)
    (1, -2, 0)
    """
    return int(np.copysign(np.floor(abs(offset) + 0.5 + _ROUNDING), offset))


def offsets(n_inputs: int, base: float, orientation: float) -> list[tuple[int, int]]:
    """Return where the pixels of a monomial lie, as columns and rows from its centre.

    Examples
    --------
    >>> offsets(3, 4, 90)
    [(0, 2), (0, -2), (-1, 0)]
    """
    angle = np.deg2rad(orientation)
    along, across = (np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))
    half, height = base / 2, base * HEIGHT
    ends = [(rounded(sign * half * along[0]), rounded(sign * half * along[1])) for sign in (1, -1)]
    tip = rounded(height * across[0]), rounded(height * across[1])
    return [*ends, tip][:n_inputs]


@dataclass(frozen=True)
class MonomialGenerator:
    """Monomials of two or three pixels of an image, drawn by type, base, orientation and place.

    There is one feature at each valid point, so that drawing leaves nothing to chance. Pixels are
    multiplied as they are if the images hold floating-point numbers; whole numbers are taken for
    gray levels from 0 to 255 and stretched to [-1, 1], as in the paper. Each feature costs 1.

    Parameters
    ----------
    shape : (int, int), default=(28, 28)
        Rows and columns of the images.
    margin : int, default=4
        How far from the border the centre of a feature stays. The default leaves the 20 x 20 area
        of the paper.
    orientations : tuple of (float, int), default=((2, 8), (4, 16), (6, 16))
        The lengths of base, each with the number of its orientations over the whole circle for
        three inputs; two inputs have half as many.

    Examples
    --------
    >>> generator = MonomialGenerator()
    >>> f = generator.sample(np.array([3, 4, 91, 10, 12]), np.random.default_rng(0))
    >>> f
    Monomial(n_inputs=3, base=4, orientation=90.0, x=10, y=12)
    >>> generator.measure(f, np.full((1, 28, 28), 0.5))
    array([0.125])
    """

    shape: tuple[int, int] = (28, 28)
    margin: int = 4
    orientations: tuple[tuple[float, int], ...] = ((2, 8), (4, 16), (6, 16))

    meta_feature_names = NAMES

    def __post_init__(self) -> None:
        check_at_least("margin", self.margin, 0)
        if not self.orientations or any(
            base <= 0 or count < 2 or count % 2 for base, count in self.orientations
        ):
            raise UsageError(
                "orientations must hold a base above 0 and an even number of directions each, not "
                f"{self.orientations!r}."
            )
        reach = max(abs(step) for kind in self._kinds for pair in offsets(*kind) for step in pair)
        if self.margin < reach:
            raise UsageError(
                f"margin is {self.margin}, but the longest base reaches {reach} pixels from its "
                f"centre: give at least {reach}, or a shorter base."
            )
        if min(self.shape) <= 2 * self.margin:
            raise UsageError(
                f"images of {self.shape[0]} x {self.shape[1]} leave no centre with a margin of "
                f"{self.margin}: give a smaller margin, or larger images."
            )

    @cached_property
    def _kinds(self) -> list[tuple[int, float, float]]:
        """Every combination of inputs, base and orientation, in the order of the table."""
        return [
            (n_inputs, base, 360.0 * k / count)
            for n_inputs in (3, 2)
            for base, count in self.orientations
            for k in range(count if n_inputs == 3 else count // 2)
        ]

    @property
    def bounds(self) -> Array:
        """The least and the largest value of each meta-feature."""
        _, base, orientation = np.array(self._kinds).T
        return np.array(
            [
                [2, 3],
                [base.min(), base.max()],
                [0, orientation.max()],
                [self.margin, self.shape[1] - self.margin - 1],
                [self.margin, self.shape[0] - self.margin - 1],
            ],
            dtype=np.float64,
        )

    def nearest(self, u: Array) -> Array:
        """Return the valid point nearest to u; orientations go round."""
        n_inputs = 2 if u[0] < 2.5 else 3
        base, count = min(self.orientations, key=lambda each: abs(each[0] - u[1]))
        step = 360.0 / count
        orientation = step * (np.rint(u[2] / step) % (period(n_inputs) // step))
        place = np.clip(np.rint(u[3:]), *self.bounds[3:].T)
        return np.array([n_inputs, base, orientation, *place])

    def sample(self, u: Array, rng: np.random.Generator) -> Monomial:
        """Return the feature at the valid point nearest to u."""
        n_inputs, base, orientation, x, y = self.nearest(np.asarray(u, dtype=np.float64)).tolist()
        known = next(each for each, _ in self.orientations if each == base)
        return Monomial(int(n_inputs), known, orientation, int(x), int(y))

    def meta_features(self, f: Monomial) -> Array:
        """Return number of inputs, base, orientation and centre of a feature."""
        return np.array(f, dtype=np.float64)

    def cost(self, f: Monomial) -> float:
        """Return 1: a product of pixels that are there anyway."""
        return 1.0

    def all_features(self) -> list[Monomial]:
        """Return every feature there is, those that differ in place only next to each other."""
        rows, columns = (range(self.margin, size - self.margin) for size in self.shape)
        return [Monomial(*kind, x, y) for kind in self._kinds for y in rows for x in columns]

    def prepare(self, images: Any) -> PixelRows:
        """Return images with a row for each pixel, gray levels in [-1, 1]."""
        images = np.asarray(images)
        if images.shape[1:] != self.shape:
            raise UsageError(
                f"the images have shape {images.shape}, but the monomials are of images of "
                f"{self.shape[0]} x {self.shape[1]}: give (n_images, {self.shape[0]}, "
                f"{self.shape[1]}), or another shape to the generator."
            )
        n_pixels = self.shape[0] * self.shape[1]
        dtype = images.dtype if images.dtype in (np.float32, np.float64) else np.float32
        rows = np.ones((n_pixels + 1, len(images)), dtype=dtype)
        rows[:-1] = images.reshape(len(images), n_pixels).T
        if images.dtype.kind in "iu":
            rows[:-1] = rows[:-1] / 127.5 - 1
        return PixelRows(rows, self.shape)

    def measure(self, f: Monomial, images: Any) -> Array:
        """Return the product of a feature's pixels on each image."""
        return np.asarray(self.measure_all([f], images)[:, 0])

    def measure_all(self, features: Sequence[Monomial], images: Any) -> Array:
        """Return the products of many features, of shape (n_images, n_features)."""
        pixels = images if isinstance(images, PixelRows) else self.prepare(images)
        first, second, third = self._pixels(features)
        values = np.empty((pixels.rows.shape[1], len(features)), dtype=pixels.rows.dtype)
        for start in range(0, len(features), _AT_ONCE):
            some = slice(start, start + _AT_ONCE)
            products = pixels.rows[first[some]]
            products *= pixels.rows[second[some]]
            products *= pixels.rows[third[some]]
            values[:, some] = products.T
        return values

    def _pixels(self, features: Sequence[Monomial]) -> Array:
        """Return the rows of three pixels for each feature, of shape (3, n_features)."""
        known: dict[tuple[int, float, float], list[int]] = {}
        found = np.full((3, len(features)), self.shape[0] * self.shape[1])
        for j, (n_inputs, base, orientation, x, y) in enumerate(features):
            kind = n_inputs, base, orientation
            if kind not in known:
                known[kind] = [dy * self.shape[1] + dx for dx, dy in offsets(*kind)]
            found[:n_inputs, j] = [y * self.shape[1] + x + step for step in known[kind]]
        return found


def all_monomials(generator: MonomialGenerator | None = None) -> tuple[list[Monomial], Array]:
    """Return every feature of a generator, and their meta-features.

    Without a generator these are the 24,000 features of the paper's table 2.

    Examples
    --------
    >>> features, U = all_monomials()
    >>> U.shape
    (24000, 5)
    >>> features[0]
    Monomial(n_inputs=3, base=2, orientation=0.0, x=4, y=4)
    """
    generator = generator or MonomialGenerator()
    features = generator.all_features()
    return features, describe_all(generator, features)
