"""Forget problems so that nothing of them is left in the bytes of the file.

DuckDB keeps deleted rows in free blocks, so the rows that stay are copied into a new file, which
takes the place of the old one:

1. fold the log in (`log`): the file is the whole memory, and there is no log;
2. copy the remaining rows into a draft, with their ids, and check the draft's tables in;
3. rename the draft over the file, and remove the caches and copies that lie beside it.

Killed before 3, the memory is as it was; the draft holds nothing that is to be forgotten. All the
while the file is locked, the folded one as well, so that nothing is written that would be lost.
"""

import os
import shutil
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path

import duckdb

from metafs_metadb.errors import MetaDBError
from metafs_metadb.files import log, migrate
from metafs_metadb.files.connect import NEW_FILE, transaction
from metafs_metadb.files.draft import draft_of
from metafs_metadb.managing import managing_queries
from metafs_metadb.managing.carry import ORIGIN, carry

KEPT = "kept"


def forget(con: duckdb.DuckDBPyConnection, path: Path, problem_ids: Collection[int]) -> None:
    """Rewrite a memory without some problems; it is attached for writing and in use."""
    real = log.real(path)
    try:
        # While the file is locked no other process makes one: every draft is of a killed one.
        with draft_of(real, stale_s=-1.0) as draft, log.folded(con, real, ORIGIN):
            _write_rest(con, path, draft, problem_ids)
            shutil.copymode(real, draft)
            os.replace(draft, real)
            log.sync_folder(real)
    except OSError as error:
        raise MetaDBError(f"cannot rewrite the MetaDB {path}: {error.strerror}") from error


def _write_rest(
    con: duckdb.DuckDBPyConnection, path: Path, draft: Path, problem_ids: Collection[int]
) -> None:
    """Write the remaining rows to a new file."""
    ((in_use,),) = con.execute(managing_queries.IN_USE).fetchall()
    with ExitStack() as stack:
        con.execute(f"attach {log.quoted(draft)} as {KEPT} (type duckdb, {NEW_FILE})")
        stack.callback(con.execute, f"detach {KEPT}")
        con.execute(f"use {KEPT}")
        stack.callback(con.execute, f"use {in_use}")
        migrate.apply_pending(con, path)
        with transaction(con):
            con.execute(managing_queries.FORGET_LEDGER)
            con.execute(managing_queries.COPY_LEDGER)
            there = {
                each for (each,) in con.execute(managing_queries.PROBLEMS_OF_ORIGIN).fetchall()
            }
            carry(con, there - set(problem_ids), keep_ids=True)
        con.execute(f"checkpoint {KEPT}")
