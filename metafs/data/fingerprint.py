"""A fingerprint of what a problem says, blind to how it was stored.

Each column is hashed by itself, name first, then its nonzero (row, value) pairs or its labels
by row; the hashes are combined in the order of the names. Dense and CSR, any order of columns
and any file format therefore agree, and zeros cost nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from scipy.sparse import issparse

from metafs.data.typing import Array, Matrix

DIGEST_BYTES = 16
_BLOCK = 64  # columns copied side by side, so that a row-major matrix is walked only once a block


def fingerprint(
    X: Matrix,
    y: Array,
    *,
    feature_names: Sequence[str],
    classes: Sequence[str] | None,
    categories: Mapping[int, Sequence[str]],
    space: str | None,
) -> str:
    """Return the fingerprint of a problem's space, target and columns as hexadecimal text."""
    total = blake2b(digest_size=DIGEST_BYTES)
    total.update(b"bare" if space is None else b"space" + _framed(space))
    total.update(len(y).to_bytes(8, "little"))
    total.update(_canonical(y).tobytes() if classes is None else _labels_by_row(y, classes))
    total.update(b"".join(digest for _, digest in sorted(_columns(X, feature_names, categories))))
    return total.hexdigest()


def hash_rows(X: Matrix) -> bytes:
    """Return a hash of rows by their values alone, equal for dense and CSR."""
    total = blake2b(X.shape[0].to_bytes(8, "little"), digest_size=DIGEST_BYTES)
    for rows, values in _nonzeros(X):
        total.update(len(rows).to_bytes(8, "little"))
        total.update(rows.tobytes())
        total.update(values.tobytes())
    return total.digest()


def _columns(
    X: Matrix, names: Sequence[str], categories: Mapping[int, Sequence[str]]
) -> Iterator[tuple[str, bytes]]:
    for j, (rows, values) in enumerate(_nonzeros(X)):
        digest = blake2b(_framed(names[j]), digest_size=DIGEST_BYTES)
        if j in categories:
            codes = np.zeros(X.shape[0])
            codes[rows] = values
            digest.update(_labels_by_row(codes, categories[j]))
        else:
            digest.update(b"numbers")
            digest.update(rows.data)
            digest.update(values.data)
        yield names[j], digest.digest()


def _nonzeros(X: Matrix) -> Iterator[tuple[Array, Array]]:
    """Yield the rows and values of the nonzeros of each column, rows ascending, ready to hash."""
    if issparse(X):
        csc = X.tocsc(copy=True)
        csc.sum_duplicates()
        csc.eliminate_zeros()
        rows, values = csc.indices.astype("<i8"), _canonical(csc.data)
        for start, stop in pairwise(csc.indptr.tolist()):
            yield rows[start:stop], values[start:stop]
    else:
        for first in range(0, X.shape[1], _BLOCK):
            for column in _canonical(np.ascontiguousarray(X[:, first : first + _BLOCK].T)):
                rows = np.flatnonzero(column)
                yield rows.astype("<i8", copy=False), column[rows]


def _canonical(values: Array) -> Array:
    """Return numbers that are equal to the bit if they are equal, or both missing."""
    canonical: Array = values.astype("<f8") + 0.0  # adding zero turns -0.0 into 0.0
    canonical[np.isnan(canonical)] = np.nan
    return canonical


def _labels_by_row(codes: Array, labels: Sequence[str]) -> bytes:
    """Write the labels that occur, sorted, and then which of them each row has (-1: missing)."""
    missing = np.isnan(codes)
    present = np.where(missing, 0, codes).astype(np.int64)
    used = np.unique(present[~missing])
    ordered = sorted(used.tolist(), key=lambda code: labels[code])
    place = np.zeros(len(labels) + 1, dtype="<i8")
    place[ordered] = np.arange(len(ordered))
    by_row = np.where(missing, -1, place[present])
    names = b"".join(_framed(labels[code]) for code in ordered)
    return b"labels" + len(ordered).to_bytes(8, "little") + names + by_row.tobytes()


def _framed(text: str) -> bytes:
    encoded = text.encode("utf-8", "surrogatepass")
    return len(encoded).to_bytes(8, "little") + encoded
