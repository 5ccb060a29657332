"""Pairs of classes of images, as problems over pixels.

A feature is a pixel, named by its row and column, which are also its meta-features. From each class
images are drawn once, so a class has the same ones in all its pairs.
"""

import zipfile
import zlib
from collections.abc import Sequence
from itertools import combinations
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from text_stream import order_of, some

from metafs import Problem
from metafs.data.checks import listing
from metafs.data.parameters import check_at_least, check_between
from metafs.data.readers.files import shown
from metafs.data.typing import Array
from metafs.errors import UsageError

SPLITS = {"train": 0, "test": 1}


def digit_pairs(
    path: str | Path,
    *,
    images: int = 150,
    seed: int = 0,
    pairs: int | None = None,
    split: str | None = None,
    binary: float | None = None,
) -> list[Problem]:
    """Return one problem for each pair of classes of square images, in the order of the classes.

    Classes with fewer than `images` are left out. Of all pairs `pairs` are drawn, if given. With
    `split`, train or test, only those images are drawn from. With `binary` a pixel is 1 where it is
    at least this share of the brightest one of the file, else 0.
    """
    where = shown(Path(path))
    check_at_least("images", images)
    check_at_least("seed", seed, 0)
    X, y = images_of(path, split)
    side = isqrt(X.shape[1])
    if side * side != X.shape[1]:
        raise UsageError(f"{where}: {X.shape[1]} columns are not the pixels of a square image.")
    if binary is not None:
        check_between("binary", binary, 0, 1)
        X = X >= binary * float(X.max())
    rows_of = rows_of_classes(y, images, seed)
    drawn = {digit: rows for digit, rows in rows_of.items() if len(rows) == images}
    if len(drawn) < 2:
        raise UsageError(
            f"{where}: a pair needs two classes with at least {images} images; lower --images."
        )
    places = [(row, column) for row in range(side) for column in range(side)]
    return [
        Problem.of(
            X[np.concatenate([drawn[one], drawn[two]])].astype(float),
            np.repeat([str(one), str(two)], images),
            feature_names=[f"pixel_{row}_{column}" for row, column in places],
            name=f"{Path(path).stem} {one} vs {two}",
            source=where,
            meta_features=np.array(places, dtype=float),
            meta_feature_names=("row", "column"),
        )
        for one, two in some(list(combinations(drawn, 2)), pairs, seed)
    ]


def images_of(path: str | Path, split: str | None = None) -> tuple[Array, Array]:
    """Return the images of an npz file, or those of one split, and their classes."""
    if split is None:
        X, y = load_arrays(path, "X", "y")
        return X, y
    if split not in SPLITS:
        raise UsageError(f"there is no split '{split}'; say train or test.")
    X, y, split_of = load_arrays(path, "X", "y", "split")
    rows = split_of == SPLITS[split]
    return X[rows], y[rows]


def rows_of_classes(y: Array, n: int, seed: int) -> dict[Any, Array]:
    """Return at most n rows of each class, in random order; fewer are a part of more."""
    rows_of = {c: np.flatnonzero(y == c) for c in np.unique(y).tolist()}
    return {c: rows[order_of(str(c), len(rows), seed)[:n]] for c, rows in rows_of.items()}


def load_arrays(path: str | Path, *keys: str) -> Sequence[Array]:
    """Return these arrays of an npz file, with one row for each value of `y`."""
    where = shown(Path(path))
    try:
        with np.load(path, allow_pickle=False) as file:
            missing = [key for key in keys if key not in file]
            if missing:
                raise UsageError(f"{where}: holds no array {listing(missing)}; add it.")
            arrays = [file[key] for key in keys]
    except FileNotFoundError:
        raise UsageError(f"there is no file '{where}'; check the path.") from None
    except UsageError:  # a ValueError too, but one that already is a sentence
        raise
    except (OSError, ValueError, EOFError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise UsageError(f"{where}: cannot be read as npz: {error}.") from None
    if arrays[0].ndim != 2 or {len(array) for array in arrays} != {len(arrays[0])}:
        raise UsageError(f"{where}: X is no table with one row for each value of y.")
    return arrays
