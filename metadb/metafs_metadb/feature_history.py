r"""The history of a feature: its outcomes in the best run of every solved problem of its space.

For a feature s scored by the best runs of problems D, with q as the selector scored it,

.. math:: r_D(s) = \frac{\max(q_D(s), 0)}{\max_t \max(q_D(t), 0)}, \qquad
    R_m(s) = \sum_D r_D(s)^m, \quad m = 1, 2, 4

and r = 0 where no feature of a run scored above 0. High powers let the problems in which the
feature did best speak loudest. Each term is rounded to a multiple of 2^-40 and summed as a whole
number: sums are exact in whatever order they are taken, and what was added can be taken away.
"""

from collections.abc import Mapping

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb import feature_history_queries as queries
from metafs_metadb.rows import FeatureHistory

Totals = NDArray[np.int64]  # a row for each feature, with the columns TOTALS

UNITS = 2.0**40
COUNTS = ("n_problems", "n_selected")
SUMS = ("relative", "relative2", "relative4")
TOTALS = (*COUNTS, *SUMS)


def read(
    con: duckdb.DuckDBPyConnection,
    ids: NDArray[np.int64],
    space: str,
    *,
    before: int | None = None,
    exclude_fingerprint: str | None = None,
    exclude_name: str | None = None,
    exclude_source: str | None = None,
) -> FeatureHistory:
    """Return the history of each feature by SQL alone, also as it was before a run."""
    which = {
        "space": space,
        "before": before,
        "exclude_fingerprint": exclude_fingerprint,
        "exclude_name": exclude_name,
        "exclude_source": exclude_source,
    }
    con.register("incoming_id", {"feature_id": ids, "position": np.arange(len(ids))})
    ((n_solved,),) = con.execute(queries.N_SOLVED, which).fetchall()
    found = con.execute(queries.FEATURE_RECORD, which).fetchnumpy()
    of_each = np.zeros((len(ids), len(TOTALS)), np.int64)
    of_each[np.asarray(found["position"], np.int64)] = columns_of(found)
    return from_totals(of_each, int(n_solved))


def columns_of(found: Mapping[str, NDArray[np.int64]]) -> Totals:
    """Return the totals among the columns of an answer."""
    return np.column_stack([np.asarray(found[name], np.int64) for name in TOTALS])


def totals_of(q: NDArray[np.float64], selected: NDArray[np.bool_]) -> Totals:
    """Return what one run adds to the totals of its features, as SQL computes it.

    Examples
    --------
    >>> totals_of(np.array([2.0, 1.0, np.nan]), np.array([True, False, False])).tolist()[1][:2]
    [1, 0]
    """
    q = np.clip(np.nan_to_num(q, nan=0.0, posinf=np.finfo(np.float64).max), 0.0, None)
    best = q.max(initial=0.0)
    r = q / best if best > 0 else np.zeros_like(q)
    powers = np.array([r, r * r, (r * r) * (r * r)])
    units = np.rint(UNITS * powers).astype(np.int64)
    return np.column_stack([np.ones(len(q), np.int64), selected, *units])


def from_totals(totals: Totals, n_solved: int) -> FeatureHistory:
    """Return the history that counts and sums, in whole units, stand for."""
    counts, sums = totals.T[: len(COUNTS)], totals.T[len(COUNTS) :] / UNITS
    return FeatureHistory(n_solved, *counts.copy(), *sums)
