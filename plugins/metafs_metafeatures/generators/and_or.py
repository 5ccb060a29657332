r"""Logical features of binary images: AND of a few pixels, OR over small shifts.

.. math:: f(Im) = \bigvee_{0 \le d, e < a} \; \bigwedge_{i=1}^{n} \; \pm Im(r_i + d, c_i + e)

Inputs are n pixels, each as it is or negated (-), and a is the largest shift allowed. What lies
outside the image is background: off, its negation on. Meta-features:

- ``num_inputs``: n, from 1 to 8;
- ``percent_pos``: how many per cent of the inputs are not negated, rounded;
- ``shift_inv_len``: a, from 1 to 8;
- ``scatter``: mean distance of the inputs from their centre of gravity, from 1 to 3.5;
- ``x``, ``y``: column and row of that centre.

The cost of a feature is :math:`\tfrac12 (1 + a^2)`: it grows with the places where the conjunction
is looked for.

E. Krupka, A. Navot, N. Tishby, "Learning to select features using their properties", Journal of
Machine Learning Research 9, 2008, sections 6.2 and 8.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from metafs.data.parameters import check_at_least, check_between
from metafs.data.typing import Array
from metafs.errors import UsageError
from metafs_metafeatures.generators.bit_images import (
    BitImages,
    Input,
    packed,
    thresholded,
    unpacked,
    words_of,
)
from metafs_metafeatures.generators.pixel_shapes import SCATTER_STEP, drawn_shapes, scatter

MAX_INPUTS = 8
MAX_SHIFT = 8
SCATTER = (1.0, 3.5)
PAPER = ("num_inputs", "percent_pos", "shift_inv_len", "scatter")
"""The four meta-features of section 6.2."""

_KNOWN = (*PAPER, "x", "y")


@dataclass(frozen=True)
class AndOr:
    """One feature: its inputs (row, column, positive), ascending, and its largest shift."""

    inputs: tuple[Input, ...]
    shift_inv_len: int = 1


@dataclass(frozen=True)
class AndOrGenerator:
    """Draws AND/OR features near a point of the meta-feature space.

    Parameters
    ----------
    shape : tuple of int, default=(28, 28)
        Rows and columns of the images.
    meta_feature_names : tuple of str
        The meta-features to search over, of those in the module's docstring; the paper's four
        by default.
    fixed : mapping of str to float, default={}
        Values of meta-features that are not searched over. What is neither searched over nor
        fixed is drawn evenly, feature by feature.
    window : int, default=4
        With ``x`` or ``y`` searched over, the centre of gravity is drawn evenly from this many
        columns, or rows, around the point.
    margin : int, default=0
        Rows and columns at each edge of the image that are kept free, where there is room.
    threshold : float, default=0.5
        Pixels above this share of the brightest value there can be are on.

    Notes
    -----
    Features of one point are drawn as follows, near enough to evenly: pixels from a square window
    in which the wanted scatter is common, redrawn until theirs is within 0.25 of it; then the place
    of the whole, among all that keep the inputs, shifted or not, inside the image; then which
    inputs are negated. Shapes much longer than the window are left out. One input has no scatter,
    that is 0.

    Examples
    --------
    >>> generator = AndOrGenerator()
    >>> u = generator.nearest(np.array([3.2, 40.0, 2.0, 1.6]))
    >>> u.tolist()
    [3.0, 33.0, 2.0, 1.5]
    >>> feature = generator.sample(u, np.random.default_rng(0))
    >>> len(feature.inputs), generator.cost(feature)
    (3, 2.5)
    >>> generator.measure(feature, np.zeros((2, 28, 28)))
    array([0, 0], dtype=uint8)
    """

    shape: tuple[int, int] = (28, 28)
    meta_feature_names: tuple[str, ...] = PAPER
    fixed: Mapping[str, float] = field(default_factory=dict)
    window: int = 4
    margin: int = 0
    threshold: float = 0.5

    def __post_init__(self) -> None:
        check_at_least("window", self.window)
        check_at_least("margin", self.margin, 0)
        check_between("threshold", self.threshold, 0, 1)
        named = [*self.meta_feature_names, *self.fixed]
        if (
            not self.meta_feature_names
            or len(set(named)) < len(named)
            or not set(named) <= {*_KNOWN}
        ):
            raise UsageError(
                "give at least one meta-feature to search over, and each once, searched over or "
                f"fixed, of {', '.join(_KNOWN)}; not {', '.join(named) or 'none'}."
            )
        if min(self.shape) < 4:
            raise UsageError(f"images of {self.shape} are too small; give at least 4 x 4 pixels.")
        object.__setattr__(self, "fixed", dict(self.fixed))

    def _range(self, name: str) -> tuple[float, float]:
        extent = {"x": self.shape[1] - 1, "y": self.shape[0] - 1}
        if name in extent:
            margin = min((self.window - 1) / 2, extent[name] / 2)
            return margin, extent[name] - margin
        return {
            "num_inputs": (1.0, float(MAX_INPUTS)),
            "percent_pos": (0.0, 100.0),
            "shift_inv_len": (1.0, float(MAX_SHIFT)),
            "scatter": SCATTER,
        }[name]

    @property
    def bounds(self) -> Array:
        """The least and the largest value of each meta-feature, of shape (k, 2)."""
        return np.array([self._range(name) for name in self.meta_feature_names])

    def nearest(self, u: Array) -> Array:
        """Return the valid point nearest to u: whole numbers, per cents that n inputs can have."""
        low, high = self.bounds.T
        point = dict(zip(self.meta_feature_names, np.clip(u, low, high).tolist(), strict=True))
        for name, value in point.items():
            start = self._range(name)[0]
            unit = SCATTER_STEP if name == "scatter" else 1.0
            point[name] = start + unit * np.rint((value - start) / unit)
        if "percent_pos" in point:
            n = {**point, **self.fixed}.get("num_inputs", 100)
            point["percent_pos"] = np.rint(100 * np.rint(point["percent_pos"] * n / 100) / n)
        return np.array([point[name] for name in self.meta_feature_names])

    def sample(self, u: Array, rng: np.random.Generator) -> AndOr:
        """Draw a feature whose meta-features are as near to u as can be."""
        return self.sample_all(np.asarray(u)[None], rng)[0]

    def sample_all(self, points: Array, rng: np.random.Generator) -> list[AndOr]:
        """Draw a feature near each point of shape (n_points, k), many times faster than singly."""
        m = len(points)
        given = {name: np.full(m, float(value)) for name, value in self.fixed.items()}
        given |= zip(self.meta_feature_names, np.asarray(points, dtype=np.float64).T, strict=True)
        drawn = {
            "num_inputs": rng.integers(1, MAX_INPUTS + 1, m),
            "percent_pos": rng.random(m),
            "shift_inv_len": rng.integers(1, MAX_SHIFT + 1, m),
            "scatter": rng.choice(np.arange(SCATTER[0], SCATTER[1] + 0.1, SCATTER_STEP), m),
        }
        n, percent, length, wanted = (given.get(name, drawn[name]) for name in PAPER)
        n, length = np.rint(n).astype(np.int64), np.rint(length).astype(np.int64)
        # A share that was drawn stands for one of the numbers 0 to n, each equally likely.
        even = "percent_pos" not in given
        n_on = np.floor(percent * (n + 1)) if even else np.rint(percent * n / 100)
        features: list[AndOr | None] = [None] * m
        kinds, kind = np.unique(np.stack([n, wanted], axis=1), axis=0, return_inverse=True)
        for number, (size, spread) in enumerate(kinds.tolist()):
            mine = np.flatnonzero(kind.ravel() == number)
            pixels = drawn_shapes(int(size), spread, len(mine), self.shape, rng)
            place = {name: values[mine] for name, values in given.items() if name in ("x", "y")}
            pixels = pixels + self._moves(pixels, length[mine], place, rng)[:, None]
            positive = rng.random(pixels.shape[:2]).argsort(axis=1) < n_on[mine, None]
            inputs = zip(pixels.tolist(), positive.tolist(), strict=True)
            for i, (each, signs) in zip(mine.tolist(), inputs, strict=True):
                signed = ((r, c, sign) for (r, c), sign in zip(each, signs, strict=True))
                features[i] = AndOr(tuple(sorted(signed)), int(length[i]))
        return [feature for feature in features if feature is not None]

    def _moves(
        self, pixels: Array, length: Array, place: Mapping[str, Array], rng: np.random.Generator
    ) -> Array:
        """Draw how far down and right to move shapes; their inputs stay inside the image."""
        moves = np.empty((len(pixels), 2), dtype=np.int64)
        for axis, name in enumerate(("y", "x")):
            last = self.shape[axis] - 1 - pixels[..., axis].max(axis=1)
            free = last - (length - 1) - 2 * self.margin
            if name in place:
                offset = rng.integers(self.window, size=len(pixels)) - (self.window - 1) / 2
                wanted = np.rint(place[name] + offset - pixels[..., axis].mean(axis=1))
                within = (wanted - self.margin).clip(0, np.maximum(free, 0))
            else:
                within = rng.integers(np.maximum(free, 0) + 1)
            move = self.margin + np.where(free > 0, within, free // 2)
            moves[:, axis] = move.clip(0, last)
        return moves

    def meta_features(self, f: AndOr) -> Array:
        """Return the meta-features of a feature, of shape (k,)."""
        pixels = np.array([(row, column) for row, column, _ in f.inputs], dtype=np.float64)
        y, x = pixels.mean(axis=0)
        values = {
            "num_inputs": len(f.inputs),
            "percent_pos": np.rint(100 * np.mean([sign for *_, sign in f.inputs])),
            "shift_inv_len": f.shift_inv_len,
            "scatter": scatter(pixels),
            "x": x,
            "y": y,
        }
        return np.array([values[name] for name in self.meta_feature_names], dtype=np.float64)

    def cost(self, f: AndOr) -> float:
        """Return half of one and the number of shifts."""
        return 0.5 * (1 + f.shift_inv_len**2)

    def prepare(self, images: Any) -> BitImages:
        """Pack images of shape (n_images, rows, columns), 64 to a word."""
        if isinstance(images, BitImages):
            return images
        on = thresholded(images, self.threshold)
        if on.shape[1:] != self.shape:
            raise UsageError(
                f"images of {on.shape[1]} x {on.shape[2]} pixels were given to a generator for "
                f"{self.shape[0]} x {self.shape[1]}; give it their shape."
            )
        return packed(on, MAX_SHIFT - 1)

    def measure(self, f: AndOr, images: Any) -> Array:
        """Return 0 or 1 for each image, packed or not."""
        column: Array = self.measure_all([f], images)[:, 0]
        return column

    def measure_all(self, features: Sequence[AndOr], images: Any) -> Array:
        """Return 0 or 1 for each image and feature, (n_images, n_features) of uint8.

        The values of one feature lie side by side in memory.
        """
        bits = self.prepare(images)
        return unpacked(self.words(features, bits), bits.n_images).T

    def words(self, features: Sequence[AndOr], bits: BitImages) -> Array:
        """Return the values of features on packed images, 64 to a word, (n_features, n_words)."""
        n_words = bits.planes.shape[-1]
        words = np.empty((len(features), n_words), dtype="<u8")
        order = sorted(range(len(features)), key=lambda i: features[i].shift_inv_len)
        for length, group in groupby(order, key=lambda i: features[i].shift_inv_len):
            square = np.empty((length, length, n_words), dtype="<u8")
            for i in group:
                words[i] = words_of(features[i].inputs, length, bits, square)
        return words
