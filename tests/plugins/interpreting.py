"""Boolean programs, obviously: one row at a time; and random ones, with rows to try them on."""

import numpy as np
from hypothesis import strategies as st

from metafs_moses.literals import Literals

LITERALS = Literals.of([(0, 0.5), (1, 0.5), (2, 1.0), (2, 3.0), (3, 2.0)], with_missing=[1, 2])
VALUES = ((0.0, 1.0), (0.0, 1.0, np.nan), (0.0, 1.0, 2.0, 3.0, 4.0, np.nan), (2.0, 5.0))


def interpret(program, literals, row):
    """Tell whether a program holds of a row."""
    if isinstance(program, int):
        column, threshold = literals.cuts[program // 2]
        if np.isnan(row[column]):
            return False
        return row[column] <= threshold if program % 2 else row[column] > threshold
    said = [interpret(operand, literals, row) for operand in program[1:]]
    return all(said) if program[0] == "and" else any(said)


def interpreted(program, literals, X):
    """Tell of which rows a program holds."""
    return np.array([interpret(program, literals, row) for row in X], dtype=bool)


def every_row():
    """Return all rows that differ in some literal of `LITERALS`, missing values included."""
    return np.array(np.meshgrid(*VALUES)).reshape(len(VALUES), -1).T


def programs():
    """Return a strategy for programs, constants among them."""
    nodes = st.integers(0, len(LITERALS) - 1)
    return st.recursive(
        nodes,
        lambda inner: st.builds(
            lambda op, operands: (op, *operands),
            st.sampled_from(["and", "or"]),
            st.lists(inner, max_size=4),
        ),
        max_leaves=20,
    )


def truth_table(n):
    """Return all rows of n bits."""
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)


def parity(n):
    X = truth_table(n)
    return X, X.sum(axis=1) % 2 == 1


def multiplexer(n_address):
    X = truth_table(n_address + 2**n_address)
    address = (X[:, :n_address] @ 2 ** np.arange(n_address)).astype(np.int64)
    return X, X[np.arange(len(X)), n_address + address] == 1
