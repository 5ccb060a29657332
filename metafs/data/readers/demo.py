"""Built-in streams of related problems, for trying things out.

`demo:digits`: the 45 pairs of scikit-learn's handwritten digits, 64 pixels as features, and the
row and column of each pixel as its meta-features.
"""

from functools import cache, partial
from itertools import combinations

import numpy as np
from sklearn.datasets import load_digits

from metafs.data.problem import Problem
from metafs.data.readers.source import ReadOptions, Source, feature_positions
from metafs.data.typing import Array

PREFIX = "demo:"
_SIDE = 8
_PIXELS = tuple(f"pixel_{row}_{column}" for row in range(_SIDE) for column in range(_SIDE))
_PLACES = np.array([(row, column) for row in range(_SIDE) for column in range(_SIDE)], dtype=float)


@cache
def _digits() -> tuple[Array, Array]:
    return load_digits(return_X_y=True)  # type: ignore[no-any-return]


def read_digit_pair(low: int, high: int, options: ReadOptions) -> Problem:
    """Return the problem of telling two digits apart."""
    X, y = _digits()
    name = f"digits {low} vs {high}"
    pair = (y == low) | (y == high)
    pixels = feature_positions(_PIXELS, target=None, options=options, where=name)
    return Problem.of(
        X[np.ix_(pair, pixels)],
        y[pair],
        name=name,
        source=f"{PREFIX}digits",
        space=options.space or "digits",
        feature_names=[_PIXELS[j] for j in pixels],
        target="digit",
        task=options.task,
        meta_features=_PLACES[pixels],
        meta_feature_names=("row", "column"),
    )


def digits(options: ReadOptions) -> list[Source]:
    """Return the 45 pairs of digits as sources: 0 vs 1, 0 vs 2, ..., 8 vs 9."""
    return [
        Source(
            name=f"digits {low} vs {high}",
            origin=f"{PREFIX}digits",
            reader=partial(read_digit_pair, low, high, options),
            keep=options.keep,
        )
        for low, high in combinations(range(10), 2)
    ]


DEMOS = {f"{PREFIX}digits": digits}
