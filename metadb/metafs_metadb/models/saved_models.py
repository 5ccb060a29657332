"""Where the models of problems were saved."""

from typing import NamedTuple

import duckdb

from metafs_metadb import recall_queries, record_queries
from metafs_metadb.files.migrate import utc_now

DELETE = "delete from saved_model where problem_id = $problem_id returning problem_id"

INSERT = """
insert into saved_model (problem_id, folder, file, saved_at)
values ($problem_id, $folder, $file, $saved_at)
"""

SAVED = "select folder, file from saved_model where problem_id = $problem_id"


class SavedModel(NamedTuple):
    """The file with the model of a problem."""

    folder: str
    file: str


def write(con: duckdb.DuckDBPyConnection, fingerprint: str, folder: str, file: str) -> bool:
    """Write where the model of a problem is, in the place of what was known of it before.

    Returns whether the problem is known at all; the caller holds the transaction.
    """
    known = con.execute(recall_queries.KNOWN_PROBLEM, {"fingerprint": fingerprint}).fetchall()
    if not known:
        return False
    which = {"problem_id": known[0][0]}
    n_before = len(con.execute(DELETE, which).fetchall())
    con.execute(INSERT, which | {"folder": folder, "file": file, "saved_at": utc_now()})
    tally = dict.fromkeys(record_queries.TALLIED, 0) | {"saved_model": 1 - n_before}
    con.execute(record_queries.ADD_TO_TALLY, tally)
    return True


def read(con: duckdb.DuckDBPyConnection, problem_id: int) -> SavedModel | None:
    """Return where the model of a problem was saved last, or None."""
    for row in con.execute(SAVED, {"problem_id": problem_id}).fetchall():
        return SavedModel(*row)
    return None
