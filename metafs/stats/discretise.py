"""Small integer codes for any matrix: each column's values in a handful of labelled bins.

A column, dense or sparse alike, is read by the first rule that fits:

1. a categorical column: each category is a bin, labelled by its text after a "="; beyond 16,
   the rarer ones share "other";
2. at most ``n_bins`` distinct values: each value is a bin, labelled by its number;
3. zeros fill at least 1/``n_bins`` of the rows: "0" is a bin, the other values share
   ``n_bins`` - 1 bins of equal frequency, "q1", "q2", ...;
4. otherwise all values share ``n_bins`` bins of equal frequency.

Missing values are a bin of their own, "missing". Equal values always share a bin. The most
frequent bin of a column is code 0, which is not stored, so codes of sparse data stay sparse.
The "=" keeps a category that is called "0" or "missing" apart from zeros and missing values.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csc_array, hstack, issparse

from metafs.data.columns import number_text
from metafs.data.problem import Problem
from metafs.data.target import holds_classes
from metafs.data.typing import Array, Matrix
from metafs.errors import UsageError
from metafs.stats.value_runs import Runs, runs_of

N_BINS = 4
MAX_CATEGORIES = 16
MAX_BINS = 250


@dataclass(frozen=True, eq=False)
class Codes:
    """The codes of a matrix and what they stand for.

    Attributes
    ----------
    matrix : csc_array of shape (n_samples, n_features), uint8
        Code 0, each column's most frequent bin, is not stored.
    labels : tuple of tuple of str
        ``labels[j][code]`` is comparable across problems: "2.5" for a number, "=red" for a
        category, "q1" for a bin of numbers, "other" for the rare categories, "missing".
    """

    matrix: csc_array
    labels: tuple[tuple[str, ...], ...]


def check_n_bins(n_bins: Any) -> None:
    """Refuse a number of bins that is none, or too many."""
    if not (isinstance(n_bins, Integral) and 2 <= int(n_bins) <= MAX_BINS):
        raise UsageError(f"n_bins is {n_bins!r}; give a whole number from 2 to {MAX_BINS}.")


def discretise(
    X: Matrix, *, n_bins: int = N_BINS, categories: Mapping[int, tuple[str, ...]] | None = None
) -> Codes:
    """Return the codes of X; ``categories`` maps a column to the labels of its values 0, 1, ...

    Examples
    --------
    >>> X = np.array([[0.0, 1.5, 0.0], [0.0, np.nan, 1.0], [1.0, 1.5, 1.0]])
    >>> codes = discretise(X, categories={2: ("blue", "red")})
    >>> codes.matrix.toarray().tolist()
    [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    >>> codes.labels
    (('0', '1'), ('1.5', 'missing'), ('=red', '=blue'))
    """
    check_n_bins(n_bins)
    kept = _KEPT.get()
    if kept is None or kept.address != _address(X):
        return _discretise(X, n_bins, categories or {})
    key = _key(n_bins, categories or {})
    if key not in kept.codes:
        kept.codes[key] = _discretise(X, n_bins, categories or {})
    return kept.codes[key]


@dataclass(frozen=True, eq=False)
class _Kept:
    """The codes of the table at an address, by number of bins and categories."""

    address: tuple[Any, ...]
    codes: dict[Any, Codes]


_KEPT: ContextVar[_Kept | None] = ContextVar("kept", default=None)
_OF_PROBLEMS: WeakKeyDictionary[Problem, _Kept] = WeakKeyDictionary()


@contextmanager
def codes_kept(problem: Problem) -> Iterator[None]:
    """Discretise the table of a problem once, however often the block asks for it.

    A distance, a measure and the qualities of features need the same codes. The table of a problem
    is read-only, so that every view of it has the same values.
    """
    kept = _OF_PROBLEMS.get(problem)
    if kept is None:
        kept = _OF_PROBLEMS[problem] = _Kept(_address(problem.X), {})
    before = _KEPT.set(kept)
    try:
        yield
    finally:
        _KEPT.reset(before)


def codes_of(problem: Problem, columns: Sequence[int]) -> csc_array:
    """Return the codes of some columns: from those of the whole table, if they are kept."""
    kept = _OF_PROBLEMS.get(problem)
    whole = None if kept is None else kept.codes.get(_key(N_BINS, problem.categories))
    if whole is not None:
        return whole.matrix[:, columns]
    used = problem.columns(list(columns))
    return discretise(used.X, categories=used.categories).matrix


def _key(n_bins: int, categories: Mapping[int, tuple[str, ...]]) -> tuple[Any, ...]:
    return n_bins, tuple(sorted(categories.items()))


def _address(X: Matrix) -> tuple[Any, ...]:
    """Return what identifies the memory of a matrix while it is alive."""
    parts = [X]
    if issparse(X):
        parts = [getattr(X, name) for name in ("data", "indices", "indptr") if hasattr(X, name)]
    where = [(each.ctypes.data, each.strides, each.dtype.str) for each in parts]
    return X.shape, getattr(X, "format", None), where


def _discretise(X: Matrix, n_bins: int, categories: Mapping[int, tuple[str, ...]]) -> Codes:
    columns = [np.zeros(0, dtype=np.int64)]
    blocks = [csc_array((X.shape[0], 0), dtype=np.uint8)]
    labels: list[tuple[str, ...]] = []
    for runs in runs_of(X):
        block, block_labels = _block_codes(runs, n_bins, categories)
        columns.append(runs.columns)
        blocks.append(block)
        labels += block_labels
    matrix = hstack(blocks, format="csc")
    place = np.argsort(np.concatenate(columns))
    if np.any(place[1:] < place[:-1]):  # sparse columns came before full ones
        matrix = matrix[:, place]
    return Codes(matrix, tuple(labels[j] for j in place.tolist()))


def categories_of(X: Matrix, columns: Sequence[int] | None) -> dict[int, tuple[str, ...]]:
    """Return, for columns that hold the codes 0, 1, ... of categories, a label for each code.

    Examples
    --------
    >>> categories_of(np.array([[0.0, 9.5], [2.0, 7.5]]), [0])
    {0: ('0', '1', '2')}
    """
    found = {}
    for column in columns or ():
        values = X[:, [column]]
        codes = values.data if issparse(values) else values
        largest = np.max(codes, initial=0.0, where=~np.isnan(codes))
        found[int(column)] = tuple(str(code) for code in range(int(largest) + 1))
    return found


def discretise_target(y: Array, *, n_bins: int = N_BINS) -> Array:
    """Return int64 codes of a settled target: its classes, or equal-frequency bins of its numbers.

    Numbers with at most ``n_bins`` distinct values have a bin for each. What is classes and what
    numbers, `metafs.data.target` decides.

    Examples
    --------
    >>> discretise_target(np.array(["b", "a", "b"])).tolist()
    [1, 0, 1]
    >>> discretise_target(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), n_bins=2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    y = np.asarray(y)
    values, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
    if holds_classes(y) or len(values) <= n_bins:
        return inverse.astype(np.int64)
    before = np.cumsum(counts) - counts
    bins = _equal_frequency(before, counts, len(y), n_bins)
    return np.unique(bins[inverse], return_inverse=True)[1].astype(np.int64)


def _equal_frequency(
    before: Array, counts: Array, total: Array | int, n_bins: Array | int
) -> Array:
    """Return the bin of each distinct value: where the middle of its run of equals falls."""
    bins: Array = (2 * before + counts) * n_bins // (2 * np.maximum(total, 1))
    return bins


def _block_codes(
    runs: Runs, n_bins: int, categories: Mapping[int, tuple[str, ...]]
) -> tuple[csc_array, list[tuple[str, ...]]]:
    """Return the codes of a block of columns and their labels."""
    bins, by_value = _bins(runs, n_bins, categories)
    shape = len(runs.columns), _last_bins(n_bins)[1] + 1
    cell = runs.column * shape[1] + bins
    counts = np.bincount(cell, runs.count, shape[0] * shape[1]).reshape(shape)
    others = counts > 0
    others[np.arange(shape[0]), counts.argmax(axis=1)] = False
    codes = np.cumsum(others, axis=1, dtype=np.uint8) * others

    values = np.empty(shape)
    values.flat[cell] = runs.value
    column, bin = np.nonzero(counts)
    texts = _texts(
        runs.columns[column], bin, values[column, bin], by_value[column], n_bins, categories
    )
    by_code = np.lexsort((codes[column, bin], column))
    ordered = texts[by_code].tolist()
    ends = np.cumsum(np.bincount(column, minlength=shape[0])).tolist()
    labels = [tuple(ordered[start:end]) for start, end in pairwise([0, *ends])]
    return runs.spread(codes.ravel()[cell]), labels


def _bins(
    runs: Runs, n_bins: int, categories: Mapping[int, tuple[str, ...]]
) -> tuple[Array, Array]:
    """Return the bin of each run, and of each column whether its bins are single values.

    Bins are numbered within their column: 0 is the zero of a column with quantiles, from 1 on are
    the values or the quantiles in ascending order, and the last two are other and missing.
    """
    column, n_columns = runs.column, len(runs.columns)
    other, missing = _last_bins(n_bins)
    starts = np.searchsorted(column, np.arange(n_columns + 1))
    is_missing, is_zero = np.isnan(runs.value), runs.value == 0

    def total(of_run: Array) -> Array:
        return np.bincount(column, of_run, n_columns).astype(np.int64)

    few = np.diff(starts) - total(is_missing) <= n_bins
    zero_apart = ~few & (total(runs.count * is_zero) * n_bins >= runs.n_samples)
    is_apart = is_zero & zero_apart[column]
    shared = runs.count * ~(is_missing | is_apart)
    in_column = total(shared)
    before = np.cumsum(shared) - shared - (np.cumsum(in_column) - in_column)[column]
    quantiles = n_bins - zero_apart
    bins = 1 + _equal_frequency(before, shared, in_column[column], quantiles[column])
    position = 1 + np.arange(len(column)) - starts[column]
    bins = np.where(few[column], position, bins)
    bins[is_apart] = 0
    for j, name in enumerate(runs.columns.tolist()):
        if name in categories:
            own = slice(starts[j], starts[j + 1] - is_missing[starts[j + 1] - 1])
            bins[own] = _category_bins(runs.count[own], other)
            few[j] = True
    bins[is_missing] = missing
    return bins, few


def _last_bins(n_bins: int) -> tuple[int, int]:
    """Return the numbers of the bins other and missing, above all that a column may have."""
    other = max(n_bins, MAX_CATEGORIES) + 1
    return other, other + 1


def _category_bins(counts: Array, other: int) -> Array:
    kept = np.ones(len(counts), dtype=bool)
    if len(counts) > MAX_CATEGORIES:
        kept[np.argsort(-counts, kind="stable")[MAX_CATEGORIES - 1 :]] = False
    return np.where(kept, np.cumsum(kept), other)


def _texts(
    column: Array,
    bin: Array,
    value: Array,
    by_value: Array,
    n_bins: int,
    categories: Mapping[int, tuple[str, ...]],
) -> Array:
    """Return the label of each bin."""
    other, _ = _last_bins(n_bins)
    names = ["0", *(f"q{quantile}" for quantile in range(1, other)), "other", "missing"]
    texts = np.array(names, dtype=object)[bin]
    single = by_value & (bin < other)
    numbers, which = np.unique(value[single], return_inverse=True)
    texts[single] = np.array([number_text(number) for number in numbers], dtype=object)[which]
    for i in np.flatnonzero(single & np.isin(column, list(categories))):
        texts[i] = f"={categories[int(column[i])][int(value[i])]}"
    return texts
