"""Small integer codes for any matrix: each column's values in a handful of labelled bins.

A column, dense or sparse alike, is read by the first rule that fits:

1. a categorical column: each category is a bin; beyond 16, the rarer ones share "other";
2. at most ``n_bins`` distinct values: each value is a bin, labelled by its number;
3. zeros fill at least 1/``n_bins`` of the rows: "0" is a bin, the other values share
   ``n_bins`` - 1 bins of equal frequency, "q1", "q2", ...;
4. otherwise all values share ``n_bins`` bins of equal frequency.

Missing values are a bin of their own, "missing". Equal values always share a bin. The most
frequent bin of a column is code 0, which is not stored, so codes of sparse data stay sparse.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csc_array, issparse

from metafs.columns import number_text
from metafs.errors import UsageError
from metafs.typing import Array, Matrix

MAX_CATEGORIES = 16
MAX_BINS = 250
_BLOCK = 300_000  # stored values worked on at once, so that no second copy of X arises


@dataclass(frozen=True, eq=False)
class Codes:
    """The codes of a matrix and what they stand for.

    Attributes
    ----------
    matrix : csc_array of shape (n_samples, n_features), uint8
        Code 0, each column's most frequent bin, is not stored.
    labels : tuple of tuple of str
        ``labels[j][code]`` is comparable across problems: "2.5", "q1", "missing", a category.
    """

    matrix: csc_array
    labels: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class _Block:
    """The stored values of some columns, column by column; all other values are zero."""

    first: int
    n_samples: int
    rows: Array
    values: Array
    starts: Array  # column j of the block holds values[starts[j] : starts[j + 1]]

    @property
    def n_columns(self) -> int:
        return len(self.starts) - 1


def discretise(
    X: Matrix, *, n_bins: int = 4, categories: Mapping[int, tuple[str, ...]] | None = None
) -> Codes:
    """Return the codes of X; ``categories`` maps a column to the labels of its values 0, 1, ...

    Examples
    --------
    >>> codes = discretise(np.array([[0.0, 1.5], [0.0, np.nan], [1.0, 1.5]]))
    >>> codes.matrix.toarray().tolist()
    [[0, 0], [0, 1], [1, 0]]
    >>> codes.labels
    (('0', '1'), ('1.5', 'missing'))
    """
    if not 2 <= n_bins <= MAX_BINS:
        raise UsageError(f"n_bins is {n_bins}; give a number from 2 to {MAX_BINS}.")
    n_samples, n_features = X.shape
    categories = categories or {}
    rows, codes, sizes = [], [], [np.zeros(1, dtype=np.int64)]
    labels: list[tuple[str, ...]] = []
    for block in _blocks(X):
        slots, zero_slot, names = _slots(block, n_bins)
        for j in categories.keys() & range(block.first, block.first + block.n_columns):
            _replace_by_categories(block, j - block.first, categories[j], slots, zero_slot, names)
        block_rows, block_codes, block_sizes, block_labels = _most_frequent_first(
            block, slots, zero_slot, names, max(n_bins + 2, MAX_CATEGORIES + 1)
        )
        rows.append(block_rows)
        codes.append(block_codes)
        sizes.append(block_sizes)
        labels.extend(block_labels)
    indptr = np.cumsum(np.concatenate(sizes))
    index_type = np.int32 if max(indptr[-1], n_samples) < 2**31 else np.int64
    matrix = csc_array(
        (
            np.concatenate([np.zeros(0, np.uint8), *codes]),
            np.concatenate([np.zeros(0, index_type), *rows]).astype(index_type, copy=False),
            indptr.astype(index_type),
        ),
        shape=(n_samples, n_features),
    )
    return Codes(matrix, tuple(labels))


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


def _blocks(X: Matrix) -> Iterator[_Block]:
    """Yield X as blocks of whole columns, without a dense copy of more than one block."""
    n_samples, n_features = X.shape
    if issparse(X):
        by_column = X.tocsc()
        by_column.sum_duplicates()
        heads = by_column.indptr
        first = 0
        while first < n_features:
            last = int(np.searchsorted(heads, heads[first] + _BLOCK, side="right")) - 1
            last = min(max(last, first + 1), n_features)
            part = slice(heads[first], heads[last])
            rows, values = by_column.indices[part], by_column.data[part]
            starts = heads[first : last + 1].astype(np.int64) - heads[first]
            if not values.all():
                kept = np.flatnonzero(values)
                rows, values, starts = rows[kept], values[kept], np.searchsorted(kept, starts)
            yield _Block(first, n_samples, rows, values.astype(np.float64, copy=False), starts)
            first = last
        return
    width = max(1, _BLOCK // max(n_samples, 1))
    for first in range(0, n_features, width):
        columns = np.ascontiguousarray(X[:, first : first + width].T, dtype=np.float64)
        flat = np.flatnonzero(columns)
        starts = np.searchsorted(flat, np.arange(len(columns) + 1) * n_samples)
        rows = (flat % max(n_samples, 1)).astype(np.int32)
        yield _Block(first, n_samples, rows, columns.ravel()[flat], starts)


def _sorted_within_columns(block: _Block) -> Array:
    """Return the block's values in ascending order inside each column, missing ones last."""
    values, starts = block.values, block.starts
    rises = values[1:] >= values[:-1]
    rises[starts[(starts > 0) & (starts < len(values))] - 1] = True
    if rises.all() and not np.isnan(values).any():
        return values
    if len(values) > 500 * block.n_columns:
        values = values.copy()
        for start, stop in pairwise(starts):
            values[start:stop].sort()
        return values
    columns = np.repeat(np.arange(block.n_columns), np.diff(starts))
    return values[np.lexsort((values, columns))]


def _runs(block: _Block) -> tuple[Array, Array, Array, Array]:
    """Return column, value and count of each distinct value, ascending; and missing counts."""
    values = _sorted_within_columns(block)
    columns = np.repeat(np.arange(block.n_columns), np.diff(block.starts))
    missing = np.isnan(values)
    n_missing = np.bincount(columns[missing], minlength=block.n_columns)
    if missing.any():
        values, columns = values[~missing], columns[~missing]
    new = np.ones(len(values), dtype=bool)
    new[1:] = (values[1:] != values[:-1]) | (columns[1:] != columns[:-1])
    heads = np.flatnonzero(new)
    run_column, run_value = columns[heads], values[heads]
    run_count = np.diff(heads, append=len(values))
    # Zeros are not stored: give each column that has some its run of zeros, in its place.
    n_zeros = block.n_samples - np.diff(block.starts)
    with_zeros = np.flatnonzero(n_zeros)
    negative = np.bincount(run_column[run_value < 0], minlength=block.n_columns)
    places = np.searchsorted(run_column, with_zeros) + negative[with_zeros]
    return (
        np.insert(run_column, places, with_zeros),
        np.insert(run_value, places, 0.0),
        np.insert(run_count, places, n_zeros[with_zeros]),
        n_missing,
    )


Names = list[list[tuple[int, str]]]


def _slots(block: _Block, n_bins: int) -> tuple[Array, Array, Names]:
    """Return each stored value's slot, each column's slot of zero, and the slots in use.

    Slot 0 is a zero that is its own bin beside quantiles, 1 to n_bins are the values in
    ascending order, n_bins + 1 is missing.
    """
    run_column, run_value, run_count, n_missing = _runs(block)
    n_columns = block.n_columns
    n_distinct = np.bincount(run_column, minlength=n_columns)
    is_zero = run_value == 0
    n_zeros = np.bincount(run_column[is_zero], run_count[is_zero], n_columns).astype(np.int64)
    few = n_distinct <= n_bins
    zero_apart = ~few & (n_zeros * n_bins >= block.n_samples)

    counted = np.where(is_zero & zero_apart[run_column], 0, run_count)
    reached = np.cumsum(counted)
    total = np.bincount(run_column, counted, n_columns).astype(np.int64)
    before = reached - counted - (np.cumsum(total) - total)[run_column]
    quantiles = (n_bins - zero_apart)[run_column]
    quantile = _equal_frequency(before, counted, total[run_column], quantiles)
    run_starts = np.cumsum(n_distinct) - n_distinct
    position = np.arange(len(run_column)) - run_starts[run_column]
    run_slot = 1 + np.where(few[run_column], position, quantile)
    run_slot[is_zero & zero_apart[run_column]] = 0

    # A stored value's slot is found by comparing it with the largest value of every slot.
    limits = np.full((n_bins + 1, n_columns), -np.inf)
    limits[run_slot, run_column] = run_value  # ascending, so each slot keeps its last value
    limits[0] = -np.inf
    limits = np.maximum.accumulate(limits, axis=0)
    lengths = np.diff(block.starts)
    slots = np.ones(len(block.values), dtype=np.uint8)
    for limit in limits[1:n_bins]:
        slots += block.values > np.repeat(limit, lengths)
    slots[np.isnan(block.values)] = n_bins + 1
    zero_slot = np.zeros(n_columns, dtype=np.int64)
    zero_slot[run_column[is_zero]] = run_slot[is_zero]

    names = _names(run_column, run_slot, run_value, few, n_missing, n_bins)
    return slots, zero_slot, names


def _names(
    run_column: Array, run_slot: Array, run_value: Array, few: Array, n_missing: Array, n_bins: int
) -> Names:
    """Return for each column its slots in use, in order, with their labels."""
    first = np.ones(len(run_slot), dtype=bool)
    first[1:] = (run_slot[1:] != run_slot[:-1]) | (run_column[1:] != run_column[:-1])
    # One entry for each slot, except that a zero apart may cut a quantile in two.
    names: Names = [[] for _ in few]
    texts: dict[float, str] = {}
    by_value = few.tolist()
    columns, slots, values = (a[first].tolist() for a in (run_column, run_slot, run_value))
    for column, slot, value in zip(columns, slots, values, strict=True):
        if slot == 0:
            names[column].insert(0, (0, "0"))
        elif by_value[column]:
            if value not in texts:
                texts[value] = number_text(value)
            names[column].append((slot, texts[value]))
        elif not names[column] or names[column][-1][0] != slot:
            names[column].append((slot, f"q{slot}"))
    for column in np.flatnonzero(n_missing).tolist():
        names[column].append((n_bins + 1, "missing"))
    return names


def _replace_by_categories(
    block: _Block, j: int, labels: tuple[str, ...], slots: Array, zero_slot: Array, names: Names
) -> None:
    """Overwrite column j of a block's slots by its categories, as rule 1 has it."""
    part = slice(block.starts[j], block.starts[j + 1])
    stored = block.values[part]
    missing = np.isnan(stored)
    category = np.where(missing, 0, stored).astype(np.int64)
    counts = np.bincount(category[~missing], minlength=max(len(labels), 1))
    counts[0] += block.n_samples - len(stored)
    present = np.flatnonzero(counts)
    kept = present
    if len(present) > MAX_CATEGORIES:
        frequent = np.argsort(-counts[present], kind="stable")[: MAX_CATEGORIES - 1]
        kept = np.sort(present[frequent])
    slot_of = np.full(len(counts), len(kept))
    slot_of[kept] = np.arange(len(kept))
    slots[part] = np.where(missing, MAX_CATEGORIES, slot_of[category])
    zero_slot[j] = slot_of[0]
    names[j] = [(slot, labels[code]) for slot, code in enumerate(kept.tolist())]
    if len(kept) < len(present):
        names[j].append((len(kept), "other"))
    if missing.any():
        names[j].append((MAX_CATEGORIES, "missing"))


def _most_frequent_first(
    block: _Block, slots: Array, zero_slot: Array, names: Names, n_slots: int
) -> tuple[Array, Array, Array, list[tuple[str, ...]]]:
    """Return rows and codes of a block's values outside code 0, column sizes, and labels."""
    n_columns, n_samples, lengths = block.n_columns, block.n_samples, np.diff(block.starts)
    columns = np.repeat(np.arange(n_columns, dtype=np.int32), lengths)
    all_columns = np.arange(n_columns)
    counts = np.bincount(columns * np.int64(n_slots) + slots, minlength=n_columns * n_slots)
    counts = counts.reshape(n_columns, n_slots)
    counts[all_columns, zero_slot] += n_samples - lengths
    most_frequent = counts.argmax(axis=1)
    others = counts > 0
    others[all_columns, most_frequent] = False
    code_of = (np.cumsum(others, axis=1) * others).astype(np.uint8)
    codes = code_of[columns, slots]
    zero_code = np.where(lengths < n_samples, code_of[all_columns, zero_slot], 0)

    labels = []
    for name, first in zip(names, most_frequent.tolist(), strict=True):
        if name and name[0][0] != first:
            name.sort(key=lambda slot_and_text: slot_and_text[0] != first)
        labels.append(tuple(text for _, text in name))

    filled = np.flatnonzero(zero_code)
    kept = np.flatnonzero(codes * (zero_code == 0)[columns])
    rows, codes_kept, columns_kept = block.rows[kept], codes[kept], columns[kept]
    if len(filled):
        # Zero is not the most frequent here, so these columns are at least 1/n_slots full.
        full = np.repeat(zero_code[filled].astype(np.uint8)[:, None], n_samples, axis=1)
        place = np.full(n_columns, -1)
        place[filled] = np.arange(len(filled))
        inside = np.flatnonzero(place[columns] >= 0)
        full[place[columns[inside]], block.rows[inside]] = codes[inside]
        filled_columns, filled_rows = np.nonzero(full)
        columns_kept = np.concatenate([columns_kept, filled[filled_columns].astype(np.int32)])
        order = np.argsort(columns_kept, kind="stable")
        columns_kept = columns_kept[order]
        rows = np.concatenate([rows, filled_rows.astype(rows.dtype)])[order]
        codes_kept = np.concatenate([codes_kept, full[filled_columns, filled_rows]])[order]
    return rows, codes_kept, np.bincount(columns_kept, minlength=n_columns), labels
