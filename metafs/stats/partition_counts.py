r"""Three ways to count how joining features split groups of rows.

Each returns, for every set of features,

.. math:: \sum_{g,y} \varphi(n_{gy}) - \sum_g \varphi(n_g)

in the units of a `phi` table. They agree to the last bit and differ only in what they cost:
a full table where most cells are in use, sorting the codes that are not 0 where those are few,
sorting whole rows where they are many.
"""

import numpy as np

from metafs.data.typing import Array


def by_table(phi: Array, n_gy: Array, key: Array, n_patterns: int) -> Array:
    """Count (set, pattern, group, class) in a full table.

    ``n_gy`` are each set's counts before the split; ``key`` numbers the cell of the table into
    which a row moves, for all rows where a joining feature is not 0.
    """
    n_sets, n_groups, n_classes = n_gy.shape
    shape = (n_sets, n_patterns, n_groups, n_classes)
    moved = np.bincount(key, minlength=int(np.prod(shape))).reshape(shape)
    moved_g = moved.sum(axis=3)
    rest = n_gy - moved.sum(axis=1)
    of_y = phi[moved].sum(axis=(1, 2, 3)) + phi[rest].sum(axis=(1, 2))
    of_g = phi[moved_g].sum(axis=(1, 2)) + phi[rest.sum(axis=2)].sum(axis=1)
    return np.asarray(of_y - of_g)


def by_stored_codes(phi: Array, n_gy: Array, kind: Array, key: Array, n_patterns: int) -> Array:
    """Count by sorting the keys of `by_table`, so that only cells in use cost anything.

    ``n_gy[kind[i]]`` are the counts of set i before the split.
    """
    n_kinds, n_groups, n_classes = n_gy.shape
    n_cells, n_sets = n_groups * n_classes, len(kind)
    n_g = n_gy.sum(axis=2)
    whole = phi[n_gy].sum(axis=(1, 2)) - phi[n_g].sum(axis=1)

    def total(per_set: int, keys: Array, gains: Array) -> Array:
        bounds = np.searchsorted(keys, np.arange(n_sets + 1) * per_set)
        sums = np.concatenate([[0], np.cumsum(gains)])[bounds]
        return np.asarray(np.diff(sums))

    def lost(table: Array, per_set: int, keys: Array, counts: Array) -> Array:
        of_set, cell = np.divmod(keys, per_set)
        before = table.reshape(n_kinds, per_set)[kind[of_set], cell]
        return total(per_set, keys, phi[before - counts] - phi[before])

    key.sort()
    at, moved = _counted(key)
    gain = total(n_patterns * n_cells, at, phi[moved])
    at_g, moved_g = _counted(at // n_classes, moved)
    gain -= total(n_patterns * n_groups, at_g, phi[moved_g])
    if n_patterns > 1:
        of_set, cell = at // (n_patterns * n_cells), at % n_cells
        at = of_set * n_cells + cell
        order = np.argsort(at)
        at, moved = _counted(at[order], moved[order])
        at_g, moved_g = _counted(at // n_classes, moved)
    gain += lost(n_gy, n_cells, at, moved) - lost(n_g, n_groups, at_g, moved_g)
    return np.asarray(whole[kind] + gain)


def _counted(keys: Array, counts: Array | None = None) -> tuple[Array, Array]:
    """Return the distinct values of sorted keys and how often, or with what sum, each occurs."""
    heads = np.flatnonzero(np.diff(keys, prepend=-1))
    if counts is None:
        return keys[heads], np.diff(heads, append=len(keys))
    return keys[heads], np.add.reduceat(counts, heads) if len(heads) else counts


def by_whole_rows(phi: Array, key: Array, n_classes: int) -> Array:
    """Count by sorting one key for every set and row: group and codes, then class."""
    key.sort(axis=1)
    of_y = _phi_of_runs(phi, key)
    key //= n_classes
    return of_y - _phi_of_runs(phi, key)


def _phi_of_runs(phi: Array, rows: Array) -> Array:
    """Return for each row, itself sorted, the sum of phi over its runs of equals."""
    new = np.ones(rows.shape, dtype=bool)
    np.not_equal(rows[:, 1:], rows[:, :-1], out=new[:, 1:])
    heads = np.flatnonzero(new)
    lengths = np.diff(heads, append=rows.size)
    sums = np.concatenate([[0], np.cumsum(phi[lengths])])
    bounds = np.concatenate([[0], np.cumsum(np.count_nonzero(new, axis=1))])
    return np.asarray(np.diff(sums[bounds]))
