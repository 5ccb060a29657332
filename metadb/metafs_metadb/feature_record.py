r"""The record of a feature: how it did in the best run of every solved problem of its space.

For a feature s scored by the best runs of problems D, with q as the selector scored it,

.. math:: r_D(s) = \frac{\max(q_D(s), 0)}{\max_t \max(q_D(t), 0)}, \qquad
    R_m(s) = \sum_D r_D(s)^m, \quad m = 1, 2, 4

and r = 0 where no feature of a run scored above 0. High powers let the problems in which the
feature did best speak loudest. Each term is rounded to a multiple of 2^-40 and summed as a whole
number: sums are exact in whatever order they are taken, and what was added can be taken away.
"""

from collections.abc import Mapping, Sequence

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb import feature_record_queries as queries
from metafs_metadb.rows import FeatureRecord

UNITS = 2.0**40
COUNTS = ("n_problems", "n_selected")
SUMS = ("relative", "relative2", "relative4")


def read(
    con: duckdb.DuckDBPyConnection, names: Sequence[str], which: Mapping[str, object]
) -> FeatureRecord:
    """Return the record of each name in a space, by SQL; `which` says who is left out."""
    con.register("incoming_feature", {"name": texts(names), "position": np.arange(len(names))})
    ((n_solved,),) = con.execute(queries.N_SOLVED, dict(which)).fetchall()
    found = con.execute(queries.FEATURE_RECORD, dict(which)).fetchnumpy()
    totals = np.zeros((len(COUNTS) + len(SUMS), len(names)), np.int64)
    places = np.asarray(found["position"], np.int64)
    for row, column in enumerate((*COUNTS, *SUMS)):
        totals[row, places] = found[column]
    return from_totals(totals, int(n_solved))


def from_totals(totals: NDArray[np.int64], n_solved: int) -> FeatureRecord:
    """Return the record that counts and sums, in whole units, stand for."""
    counts, sums = totals[: len(COUNTS)], totals[len(COUNTS) :] / UNITS
    return FeatureRecord(n_solved, *counts, *sums)


def texts(values: Sequence[str]) -> NDArray[np.object_]:
    """Return texts as an array that DuckDB reads as texts, also when there are none."""
    found = np.empty(len(values), object)
    found[:] = [str(value) for value in values]
    return found
