"""How large a table may become in memory, decided before it is read.

A file of some megabytes can declare petabytes, or unpack to gigabytes. What a reader would hold
is therefore counted first, from headers, and refused beyond a limit that the environment variable
METAFS_MAX_TABLE_GB raises.
"""

import os

from metafs.errors import ProblemError, UsageError

VARIABLE = "METAFS_MAX_TABLE_GB"
DEFAULT_GB = 2.0
GB = 10**9


def max_table_bytes() -> int:
    """Return the limit in bytes: that of the environment, or 2 GB."""
    given = os.environ.get(VARIABLE, "")
    try:
        limit = float(given) if given else DEFAULT_GB
    except ValueError:
        limit = 0.0
    if not 0 < limit < 1e9:
        raise UsageError(f"{VARIABLE} must be a number of gigabytes, more than 0, not {given!r}.")
    return int(limit * GB)


def check_table_bytes(n_bytes: int, what: str, where: str, *, at_least: bool = False) -> None:
    """Refuse what would take more memory than the limit; `at_least`: it was not counted further.

    Examples
    --------
    >>> check_table_bytes(3 * 10**15, "its arrays", "p.npz")
    Traceback (most recent call last):
    metafs.errors.ProblemError: p.npz: its arrays would take 3,000,000.0 GB of memory, more than ...
    """
    limit = max_table_bytes()
    if n_bytes > limit:
        raise ProblemError(
            f"{where}: {what} would take {'over ' if at_least else ''}{n_bytes / GB:,.1f} GB of "
            f"memory, more than the limit of {limit / GB:g} GB; take fewer rows or columns, or "
            f"raise the limit with {VARIABLE}."
        )
