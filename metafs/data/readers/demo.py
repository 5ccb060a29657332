"""Built-in streams of related problems, for trying things out.

`demo:digits`: the 45 pairs of scikit-learn's handwritten digits, 64 pixels as features, and the
row and column of each pixel as its meta-features.

`demo:few-labels`: 30 problems, each four of the ten digits. The first 25 have 60 rows a digit. The
last five have 2 labels of each and 38 rows without target; no row of theirs is in the others,
and `held_back` gives further rows that no choice has seen, to test on.
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


_FEW = f"{PREFIX}few-labels"
_N_PAST, _N_NEW, _DIGITS_EACH = 25, 5, 4
_POOL, _ROWS, _LABELS, _UNLABELLED = 100, 60, 2, 38


def few_label_sets() -> list[tuple[int, ...]]:
    """Return the digits of each of the 30 problems, in their order."""
    sets = list(combinations(range(10), _DIGITS_EACH))
    order = np.random.default_rng(0).permutation(len(sets))
    return [sets[place] for place in order[: _N_PAST + _N_NEW].tolist()]


def _rows_of(number: int, digit: int) -> tuple[Array, Array]:
    """Return the rows of a digit that problem `number` holds, and those that are held back.

    The first 25 problems draw from the first hundred rows of a digit, the others from the rest.
    """
    _, y = _digits()
    rows = np.random.default_rng(1).permutation(np.flatnonzero(y == digit))
    rng = np.random.default_rng([2, number, digit])
    if number < _N_PAST:
        return rng.permutation(rows[:_POOL])[:_ROWS], np.zeros(0, dtype=np.int64)
    order = rng.permutation(rows[_POOL:])
    return order[: _LABELS + _UNLABELLED], order[_LABELS + _UNLABELLED :]


def few_label_name(number: int) -> str:
    """Return the name of a problem of few labels.

    Examples
    --------
    >>> few_label_name(29)
    'digits 1 5 6 8'
    """
    return "digits " + " ".join(map(str, few_label_sets()[number]))


def read_few_labels(number: int, options: ReadOptions) -> Problem:
    """Return one of the 30 problems."""
    X, _ = _digits()
    name = few_label_name(number)
    found: list[int] = []
    labels: list[str] = []
    for digit in few_label_sets()[number]:
        rows, _ = _rows_of(number, digit)
        n_labelled = _ROWS if number < _N_PAST else _LABELS
        found += rows.tolist()
        labels += [str(digit) if k < n_labelled else "" for k in range(len(rows))]
    pixels = feature_positions(_PIXELS, target=None, options=options, where=name)
    return Problem.of(
        X[found][:, pixels],
        np.array(labels),
        name=name,
        source=f"{_FEW} {number + 1}",
        space=options.space or "digits",
        feature_names=[_PIXELS[j] for j in pixels],
        target="digit",
        task="classes",
        meta_features=_PLACES[pixels],
        meta_feature_names=("row", "column"),
    )


def held_back(number: int) -> tuple[Array, Array]:
    """Return pixels and digits of rows that one of the last five problems does not hold."""
    X, y = _digits()
    rows = np.concatenate([_rows_of(number, digit)[1] for digit in few_label_sets()[number]])
    return X[rows], y[rows].astype(str)


def few_labels(options: ReadOptions) -> list[Source]:
    """Return the 30 problems of four digits as sources."""
    return [
        Source(
            name=few_label_name(number),
            origin=_FEW,
            reader=partial(read_few_labels, number, options),
            keep=options.keep,
        )
        for number in range(_N_PAST + _N_NEW)
    ]


DEMOS = {f"{PREFIX}digits": digits, _FEW: few_labels}
