"""Folds for cross-validation of few labels: stratified, and repeated if rows are few."""

import numpy as np

from metafs.data.typing import Array
from metafs.errors import NoScore
from metafs.stats import folds

N_FOLDS = 5
_ROWS_TO_JUDGE = 150  # repeats go on until so many rows were predicted


def folds_of(
    codes: Array | None, n_rows: int, seed: int, groups: Array | None = None
) -> list[list[Array]]:
    """Return repeats of folds, each a list of the rows to hold out; none if labels are too few.

    Parameters
    ----------
    codes : array of shape (n_rows,) or None
        The class of each row as a number from 0; None for a number.
    n_rows : int
        How many rows there are.
    seed : int
        How they are shuffled.
    groups : array of shape (n_rows,), optional
        Rows of one group are never divided.

    Examples
    --------
    >>> repeats = folds_of(np.array([0, 0, 1, 1]), 4, seed=0)
    >>> [sorted(np.array([0, 0, 1, 1])[fold].tolist()) for fold in repeats[0]]
    [[0, 1], [0, 1]]
    """
    if groups is not None:
        return _folds_of_groups(codes, groups, seed)
    strata = np.zeros(n_rows, dtype=np.int64) if codes is None else codes
    counts = np.bincount(strata)
    if counts.min() < 2 or n_rows < 3:
        return []
    n_folds = min(N_FOLDS, int(counts.min()) if codes is not None else n_rows)
    n_repeats = int(np.clip(_ROWS_TO_JUDGE // n_rows, 1, 6))
    rng = np.random.default_rng(seed)
    repeats = []
    for _ in range(n_repeats):
        fold = np.empty(n_rows, dtype=np.int64)
        start = 0
        for stratum in range(len(counts)):
            rows = rng.permutation(np.flatnonzero(strata == stratum))
            fold[rows] = (np.arange(len(rows)) + start) % n_folds
            start += len(rows)
        repeats.append([np.flatnonzero(fold == k) for k in range(n_folds)])
    return repeats


def _folds_of_groups(codes: Array | None, groups: Array, seed: int) -> list[list[Array]]:
    """Return repeats of folds that divide no group; none if a class is in one group only."""
    y = np.zeros(len(groups)) if codes is None else codes
    n_repeats = int(np.clip(_ROWS_TO_JUDGE // len(np.unique(groups)), 1, 6))
    try:
        repeats = [
            folds.folds_of(y, N_FOLDS, (seed + repeat) % 2**32, groups=groups)
            for repeat in range(n_repeats)
        ]
    except NoScore:
        return []
    return [[test for _, test in repeat] for repeat in repeats]


def some_rows(codes: Array | None, n_rows: int, n_wanted: int, seed: int) -> Array:
    """Return a sample of the rows, of each class its share but at least two.

    Examples
    --------
    >>> some_rows(np.array([0] * 9 + [1] * 90), 99, 11, seed=0).shape
    (12,)
    """
    rng = np.random.default_rng(seed)
    if codes is None:
        return np.sort(rng.permutation(n_rows)[:n_wanted])
    chosen = []
    for code, count in enumerate(np.bincount(codes)):
        rows = rng.permutation(np.flatnonzero(codes == code))
        chosen.append(rows[: max(2, round(count * n_wanted / n_rows))])
    return np.sort(np.concatenate(chosen))
