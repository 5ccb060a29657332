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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csc_array, hstack, issparse

from metafs.columns import number_text
from metafs.errors import UsageError
from metafs.runs import Runs, runs_of
from metafs.typing import Array, Matrix

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


def discretise(
    X: Matrix, *, n_bins: int = 4, categories: Mapping[int, tuple[str, ...]] | None = None
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
    if not 2 <= n_bins <= MAX_BINS:
        raise UsageError(f"n_bins is {n_bins}; give a number from 2 to {MAX_BINS}.")
    columns = [np.zeros(0, dtype=np.int64)]
    blocks = [csc_array((X.shape[0], 0), dtype=np.uint8)]
    labels: list[tuple[str, ...]] = []
    for runs in runs_of(X):
        bins, texts = _bins(runs, n_bins, categories or {})
        codes, block_labels = _most_frequent_first(runs, bins, texts)
        columns.append(runs.columns)
        blocks.append(runs.spread(codes))
        labels += block_labels
    matrix = hstack(blocks, format="csc", dtype=np.uint8)
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


def discretise_target(y: Array, *, n_bins: int = 4) -> Array:
    """Return int64 codes of a target: its classes, or equal-frequency bins of its numbers.

    A float target counts as numbers when it has more than ``n_bins`` distinct values, one of
    them not whole, or more than 16 distinct whole ones.

    Examples
    --------
    >>> discretise_target(np.array(["b", "a", "b"])).tolist()
    [1, 0, 1]
    >>> discretise_target(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), n_bins=2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    y = np.asarray(y)
    values, inverse, counts = np.unique(y, return_inverse=True, return_counts=True)
    if y.dtype.kind != "f" or len(values) <= n_bins:
        return inverse.astype(np.int64)
    if len(values) <= MAX_CATEGORIES and np.all(values == np.floor(values)):
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


def _bins(
    runs: Runs, n_bins: int, categories: Mapping[int, tuple[str, ...]]
) -> tuple[Array, Array]:
    """Return the bin of each run, numbered within its column, and the label of that bin.

    Bin 0 is a zero beside quantiles; from 1 on are values or quantiles in ascending order;
    the highest number is missing.
    """
    column, n_columns = runs.column, len(runs.columns)

    def total(of_run: Array) -> Array:
        return np.bincount(column, of_run, n_columns).astype(np.int64)

    missing, zero = np.isnan(runs.value), runs.value == 0
    few = total(~missing) <= n_bins
    zero_apart = ~few & (total(runs.count * zero) * n_bins >= runs.n_samples)

    shared = runs.count * ~(missing | (zero & zero_apart[column]))
    in_column = total(shared)
    before = np.cumsum(shared) - shared - (np.cumsum(in_column) - in_column)[column]
    quantiles = n_bins - zero_apart
    bins = 1 + _equal_frequency(before, shared, in_column[column], quantiles[column])
    bins[zero & zero_apart[column]] = 0
    starts = np.searchsorted(column, np.arange(n_columns + 1))
    by_value = few[column]
    bins[by_value] = (1 + np.arange(len(column)) - starts[column])[by_value]

    highest = max(n_bins, MAX_CATEGORIES) + 1
    names = ["0", *(f"q{bin}" for bin in range(1, highest)), "missing"]
    bins[missing] = highest
    texts = np.array(names, dtype=object)[bins]
    by_value &= ~missing
    numbers, which = np.unique(runs.value[by_value], return_inverse=True)
    texts[by_value] = np.array([number_text(number) for number in numbers], dtype=object)[which]

    for j in [j for j, name in enumerate(runs.columns.tolist()) if name in categories]:
        own = np.arange(starts[j], starts[j + 1])
        own = own[~missing[own]]
        labels = categories[int(runs.columns[j])]
        bins[own], texts[own] = _category_bins(runs.value[own], runs.count[own], labels)
    return bins, texts


def _category_bins(codes: Array, counts: Array, labels: Sequence[str]) -> tuple[Array, Array]:
    """Return bin and label of each category that occurs in a column, as rule 1 has it."""
    texts = np.array([f"={labels[int(code)]}" for code in codes], dtype=object)
    kept = np.ones(len(codes), dtype=bool)
    if len(codes) > MAX_CATEGORIES:
        kept[np.argsort(-counts, kind="stable")[MAX_CATEGORIES - 1 :]] = False
        texts[~kept] = "other"
    return np.where(kept, np.cumsum(kept), MAX_CATEGORIES), texts


def _most_frequent_first(
    runs: Runs, bins: Array, texts: Array
) -> tuple[Array, list[tuple[str, ...]]]:
    """Return the code of each run, 0 for the most frequent bin of its column, and the labels."""
    n_columns, n_bins = len(runs.columns), int(bins.max(initial=0)) + 1
    cell = runs.column * n_bins + bins
    counts = np.bincount(cell, runs.count, n_columns * n_bins).reshape(n_columns, n_bins)
    used = counts > 0
    others = used.copy()
    others[np.arange(n_columns), counts.argmax(axis=1)] = False
    codes = np.cumsum(others, axis=1) * others

    text_of = np.empty(counts.size, dtype=object)
    text_of[cell] = texts
    column, bin = np.nonzero(used)
    by_code = np.lexsort((codes[column, bin], column))
    ordered = text_of[used.ravel()][by_code].tolist()
    ends = np.cumsum(used.sum(axis=1)).tolist()
    labels = [tuple(ordered[start:end]) for start, end in pairwise([0, *ends])]
    return codes.ravel()[cell].astype(np.uint8), labels
