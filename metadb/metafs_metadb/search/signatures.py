"""Write the signatures of problems; the caller holds the transaction."""

from collections.abc import Mapping

import duckdb
import numpy as np

from metafs_metadb import recall_queries, record_queries
from metafs_metadb.rows import Signature


def write_signatures(
    con: duckdb.DuckDBPyConnection,
    space: str,
    distance: str,
    signatures: Mapping[str, Signature],
) -> None:
    """Write signatures of problems that are there already, by fingerprint; others are left out.

    The caller holds the transaction.
    """
    tally = dict.fromkeys(record_queries.TALLIED, 0)
    for fingerprint, signature in signatures.items():
        found = con.execute(recall_queries.KNOWN_PROBLEM, {"fingerprint": fingerprint}).fetchall()
        for problem_id, known_space in found:
            if known_space == space:
                write_signature(con, problem_id, distance, signature, tally)
    con.execute(record_queries.ADD_TO_TALLY, tally)


def write_signature(
    con: duckdb.DuckDBPyConnection,
    problem_id: int,
    distance: str,
    signature: Signature,
    tally: dict[str, int],
) -> None:
    """Write the signature of a problem, unless it has one by this distance, and count its rows."""
    which = {"problem_id": problem_id, "distance": distance}
    if not tally["problem"] and con.execute(record_queries.HAS_SIGNATURE, which).fetchall():
        return  # equal content has an equal signature
    keys, p = np.asarray(signature[0], np.uint64), np.asarray(signature[1], np.float64)
    if len(np.unique(keys)) != len(keys) or not (np.all(p > 0) and abs(p.sum() - 1) <= 1e-9):
        raise ValueError(f"a {distance} signature has each key once and positive p that sum to 1")
    con.register("incoming_signature", {"key": keys, "p": p})
    con.execute(record_queries.INSERT_SIGNATURE, which)
    tally["signature"] += len(keys)
