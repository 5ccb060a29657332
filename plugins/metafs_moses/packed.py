"""Rows packed 64 to a word: what a program says of all rows is a few operations on words.

Bit i of word w is row 64 w + i. Weights of rows are whole numbers, kept as bit planes: the weighted
number of errors is the sum of 2^b times the errors among the rows whose weight has bit b.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

import numpy as np
from scipy.sparse import issparse

from metafs.data.typing import Array, Matrix
from metafs_moses.literals import Literals
from metafs_moses.program import Program, literals_of

ALL = np.uint64(2**64 - 1)
_COLUMNS_AT_ONCE = 256


def packed(bits: Array) -> Array:
    """Pack truth values of shape (..., n_rows) into uint64 words.

    >>> packed(np.array([True, False, True]))
    array([5], dtype=uint64)
    """
    as_bytes = np.packbits(bits, axis=-1, bitorder="little")
    n_bytes = as_bytes.shape[-1]
    padded = np.zeros((*bits.shape[:-1], n_bytes + -n_bytes % 8), dtype=np.uint8)
    padded[..., :n_bytes] = as_bytes
    return padded.view("<u8").astype(np.uint64, copy=False)


def unpacked(words: Array, n_rows: int) -> Array:
    """Return the truth values of the rows again.

    >>> unpacked(np.array([5], dtype=np.uint64), 3)
    array([ True, False,  True])
    """
    as_bytes = np.ascontiguousarray(words.astype("<u8", copy=False)).view(np.uint8)
    return np.unpackbits(as_bytes, axis=-1, count=n_rows, bitorder="little").astype(bool)


def truths(literals: Literals, X: Matrix) -> Array:
    """Return which rows satisfy each literal, packed: (n_literals, n_words)."""
    n_words = -(-X.shape[0] // 64)
    found = np.empty((len(literals), n_words), dtype=np.uint64)
    columns = np.array(literals.columns, dtype=np.int64)
    thresholds = np.array([threshold for _, threshold in literals.cuts])
    for start in range(0, len(columns), _COLUMNS_AT_ONCE):
        some = slice(start, start + _COLUMNS_AT_ONCE)
        values = X[:, columns[some]]
        values = values.toarray() if issparse(values) else values
        above, at_most = values > thresholds[some], values <= thresholds[some]
        end = start + above.shape[1]
        found[2 * start : 2 * end : 2] = packed(above.T)
        found[2 * start + 1 : 2 * end : 2] = packed(at_most.T)
    return found


def as_whole(words: Array) -> list[int]:
    """Return each row of words as one whole number, on which a single operation is faster.

    >>> as_whole(np.array([[5, 1]], dtype=np.uint64)) == [5 + 2**64]
    True
    """
    return [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in words]


def as_words(whole: Sequence[int], n_words: int) -> Array:
    """Return whole numbers as rows of words.

    >>> as_words([5 + 2**64], 2)
    array([[5, 1]], dtype=uint64)
    """
    as_bytes = b"".join(each.to_bytes(8 * n_words, "little") for each in whole)
    return np.frombuffer(as_bytes, dtype="<u8").reshape(len(whole), n_words).astype(np.uint64)


def output(program: Program, whole: Mapping[int, int] | Sequence[int], every: int) -> int:
    """Return of which rows a program holds, as a whole number.

    Parameters
    ----------
    program : Program
    whole : mapping of int to int
        The same of each literal.
    every : int
        All rows.
    """
    if isinstance(program, int):
        return whole[program]
    inner = (output(operand, whole, every) for operand in program[1:])
    return reduce(and_, inner, every) if program[0] == "and" else reduce(or_, inner, 0)


def holds(program: Program, literals: Literals, X: Matrix) -> Array:
    """Return the rows of a table of which a program holds, as truth values."""
    used = sorted({code >> 1 for code in literals_of(program)})
    few = Literals(tuple(literals.cuts[k] for k in used))
    truth = dict(
        zip([2 * k + side for k in used for side in (0, 1)], as_whole(truths(few, X)), strict=True)
    )
    n_words = -(-X.shape[0] // 64)
    outputs = output(program, truth, (1 << 64 * n_words) - 1)
    return unpacked(as_words([outputs], n_words)[0], X.shape[0])


@dataclass(frozen=True)
class Target:
    """What is wanted of each row, and what an error on it costs.

    Attributes
    ----------
    words : array of shape (n_words,)
        The rows of which the program should hold, packed.
    planes : array of shape (n_planes, n_words)
        Bits of the weights, the lowest first.
    """

    words: Array
    planes: Array

    @classmethod
    def of(cls, wanted: Array, weights: Array) -> "Target":
        """Pack a target: truth values and whole weights of the rows.

        >>> Target.of(np.array([True, False]), np.array([3, 1])).planes
        array([[3],
               [1]], dtype=uint64)
        """
        n_planes = max(1, int(weights.max(initial=1)).bit_length())
        bits = (weights >> np.arange(n_planes)[:, None]) & 1
        return cls(packed(wanted), packed(bits.astype(bool)))

    def errors(self, words: Array) -> Array:
        """Return the weighted number of errors of each output of shape (..., n_words)."""
        return weighted_count(words ^ self.words, self.planes)


def weighted_count(words: Array, planes: Array) -> Array:
    """Return the total weight of the rows in each (..., n_words), given planes of their weights.

    Planes of shape (n_planes, ..., n_words) may be different for each.

    >>> weighted_count(np.array([[1], [3]], dtype=np.uint64), np.array([[3], [1]], dtype=np.uint64))
    array([3, 4])
    """
    between = [1] * (words.ndim + 1 - planes.ndim)
    planes = planes.reshape(len(planes), *between, *planes.shape[1:])
    counts = np.bitwise_count(words & planes).sum(axis=-1, dtype=np.int64)
    powers = 1 << np.arange(len(planes)).reshape(-1, *[1] * words[..., 0].ndim)
    return np.asarray((counts * powers).sum(axis=0))
