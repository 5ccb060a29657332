"""What every problem must satisfy; each refusal is a sentence that says what to do."""

import shlex
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from scipy.sparse import issparse

from metafs.data.typing import Array, Matrix
from metafs.errors import MissingValues, ProblemError

MAX_COLUMNS = 10_000_000
LARGEST_META_FEATURE = 1e37
"""Regressors work in single precision, or with squares."""
_SHOWN = 12


def well_formed(text: str) -> str:
    r"""Replace what cannot be written as UTF-8: lone surrogates, as in file names of old.

    >>> well_formed("caf\udce9.csv")
    'caf?.csv'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


def counted(n: int, noun: str) -> str:
    """Write a number with its noun.

    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def dropping(name: str) -> str:
    """Write the option that leaves a column out.

    >>> dropping("b"), dropping("two words"), dropping("")
    ('--drop b', "--drop 'two words'", '--drop ""')
    """
    return f"--drop {shlex.quote(name)}" if name else '--drop ""'


def listing(names: Sequence[str]) -> str:
    """Write names for a sentence, the first few of many.

    >>> listing(["a", "b"])
    "'a', 'b'"
    """
    shown = ", ".join(f"'{name}'" if name.isprintable() else repr(name) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def unknown_column(
    where: str, name: str, names: Sequence[str], *, role: str = "column to select"
) -> str:
    """Say that a column does not exist, with the names nearest to it, or all of them."""
    near = get_close_matches(name, names, n=3)
    if near:
        known = f"did you mean {listing(near)}?"
    else:
        known = f"its columns are {listing(names)}." if names else "it has no columns at all."
    return f"{where}: there is no column '{name}' ({role}); {known}"


def check_names(names: Sequence[str], where: str) -> None:
    """Refuse two columns of one name."""
    if len(set(names)) == len(names):
        return
    for name, count in Counter(names).items():
        if count > 1:
            raise ProblemError(
                f"{where}: duplicate column name: '{name}' occurs {count} times; "
                "rename all but one."
            )


def check_width(X: Any, where: str) -> None:
    """Refuse what is no matrix, or has more columns than names can be made for."""
    if X.ndim != 2:
        raise ProblemError(
            f"{where}: X has {counted(X.ndim, 'dimension')} but must have two, samples and "
            "features; reshape it."
        )
    if X.shape[1] > MAX_COLUMNS:
        raise ProblemError(
            f"{where}: X has {X.shape[1]:,} columns, of which at most {MAX_COLUMNS:,} are "
            "understood; fix the largest index or leave out columns."
        )


def check_name_count(names: Sequence[str], n_columns: int, where: str) -> None:
    """Refuse names that are more or fewer than the columns."""
    if len(names) != n_columns:
        raise ProblemError(
            f"{where}: {counted(len(names), 'feature name')} for {counted(n_columns, 'column')}; "
            "give one each."
        )


def check_shape(X: Matrix, y: Array, names: Sequence[str], where: str) -> None:
    """Refuse tables without enough rows or columns, and lengths that disagree."""
    n_rows, n_columns = X.shape
    if np.ndim(y) != 1:
        raise ProblemError(
            f"{where}: the target has {counted(np.ndim(y), 'dimension')} but must be one value a "
            "row; choose one column of it."
        )
    if n_rows != len(y):
        raise ProblemError(
            f"{where}: X has {counted(n_rows, 'row')} but the target has {len(y)}; "
            "give one value a row."
        )
    if n_rows < 2:
        raise ProblemError(f"{where}: the table has {counted(n_rows, 'row')}; give at least two.")
    if n_columns == 0:
        raise ProblemError(
            f"{where}: there are no feature columns besides the target; add or drop fewer columns."
        )
    check_name_count(names, n_columns, where)


def check_known(X: Matrix, method: str) -> None:
    """Refuse missing values for a method that cannot do with them."""
    values = X.data if issparse(X) else X
    if np.isnan(np.min(values, initial=0.0)):
        raise MissingValues(
            f"{method} cannot take missing values (NaN): fill them in, leave out the columns that "
            "have any, or take infogain or relieff, which can."
        )


def checked_meta_features(
    meta_features: Any, names: Sequence[str], n_features: int, where: str
) -> tuple[Array | None, tuple[str, ...]]:
    """Return meta-features as float64 of shape (n_features, k), and a name for each of the k.

    A data frame names them itself.
    """
    if meta_features is None:
        return None, ()
    if not names and hasattr(meta_features, "columns"):
        names = list(meta_features.columns)
    try:
        values = np.asarray(meta_features, dtype=np.float64)
    except (TypeError, ValueError):
        raise ProblemError(
            f"{where}: the meta-features are not all numbers; give a number for each feature."
        ) from None
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or len(values) != n_features:
        raise ProblemError(
            f"{where}: the meta-features have shape {values.shape} for "
            f"{counted(n_features, 'feature')}; give one row for each feature."
        )
    too_large = np.argwhere(np.abs(values) > LARGEST_META_FEATURE)
    if len(too_large):
        raise ProblemError(
            f"{where}: the meta-features of feature {too_large[0][0] + 1} hold an infinite value, "
            "or one that is as good as that; fix it."
        )
    if not names:
        names = [f"m{k}" for k in range(values.shape[1])]
    if len(names) != values.shape[1]:
        raise ProblemError(
            f"{where}: {counted(len(names), 'name')} for "
            f"{counted(values.shape[1], 'meta-feature')}; give one each."
        )
    names = [well_formed(str(name)) for name in names]
    check_names(names, where)
    return values, tuple(names)
