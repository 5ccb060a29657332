"""What parameters must satisfy; each refusal is a sentence that says what to give."""

import json
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from metafs.data.typing import Array
from metafs.errors import UsageError


def check_at_least(name: str, value: Any, least: int = 1) -> None:
    """Refuse what is no whole number, or a smaller one.

    Examples
    --------
    >>> check_at_least("n_steps", 0.5)
    Traceback (most recent call last):
    metafs.errors.UsageError: n_steps must be at least 1 and a whole number, not 0.5.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise UsageError(f"{name} must be at least {least} and a whole number, not {value!r}.")
    if value < least:
        raise UsageError(f"{name} must be at least {least}, not {value}.")


def check_between(name: str, value: Any, low: float = 0.0, high: float = np.inf) -> None:
    """Refuse what is no number between two others, neither of them included.

    Examples
    --------
    >>> check_between("sparsity", "much", 0, 1)
    Traceback (most recent call last):
    metafs.errors.UsageError: sparsity must lie between 0 and 1, not 'much'.
    """
    if isinstance(value, Real) and low < float(value) < high:
        return
    wanted = f"lie between {low:g} and {high:g}" if high < np.inf else f"be more than {low:g}"
    given = format(float(value), "g") if isinstance(value, Real) else repr(value)
    raise UsageError(f"{name} must {wanted}, not {given}.")


def check_common(params: Mapping[str, Any]) -> None:
    """Refuse values of the parameters that mean the same wherever they occur; None is for none.

    Examples
    --------
    >>> check_common({"max_evaluations": 100, "random_state": "a"})
    Traceback (most recent call last):
    metafs.errors.UsageError: random_state cannot be 'a': give a whole number from 0, or None.
    """
    given = {name: value for name, value in params.items() if value is not None}
    if "max_evaluations" in given:
        check_at_least("max_evaluations", given["max_evaluations"])
    seconds = given.get("max_seconds", 0)
    if not (isinstance(seconds, Real) and float(seconds) >= 0):
        raise UsageError(f"max_seconds must be a number from 0, not {seconds!r}.")
    n_jobs = given.get("n_jobs", 1)
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise UsageError(f"n_jobs must be at least 1, or -1 for every core, not {n_jobs!r}.")
    from sklearn.utils import check_random_state  # takes a while to import

    try:
        check_random_state(given.get("random_state"))
    except ValueError:
        wrong = given["random_state"]
        raise UsageError(
            f"random_state cannot be {wrong!r}: give a whole number from 0, or None."
        ) from None


def column_numbers(name: str, given: Any, n_features: int) -> Array:
    """Return the columns that a parameter names, each once, in ascending order; None names none.

    They are given by number, or by True and False for each.

    Examples
    --------
    >>> column_numbers("keep_features", [2, 0, 2], 3)
    array([0, 2])
    """
    columns = np.ravel(() if given is None else given)
    if columns.dtype == bool and len(columns) == n_features:
        columns = np.flatnonzero(columns)
    if not columns.size:
        return np.zeros(0, dtype=np.int64)
    if columns.dtype.kind not in "iu" or columns.min() < 0 or columns.max() >= n_features:
        raise UsageError(
            f"{name} names a column that is not there: give numbers from 0 to {n_features - 1}."
        )
    return np.unique(columns.astype(np.int64))


def named_value(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE, where VALUE is JSON if it can be and text otherwise.

    Examples
    --------
    >>> named_value("n_features_to_select=20"), named_value("measure=infogain")
    (('n_features_to_select', 20), ('measure', 'infogain'))
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"a parameter is given as NAME=VALUE, not {text!r}.")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value
