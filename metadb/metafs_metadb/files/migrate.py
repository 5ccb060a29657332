"""Numbered migrations and their ledger: each `migrations/NNNN_name.sql` is one transaction."""

import hashlib
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from pathlib import Path

import duckdb

from metafs_metadb.errors import MetaDBError, MetaDBMissing, MetaDBOutdated
from metafs_metadb.files.connect import is_there, transaction, writing
from metafs_metadb.files.draft import draft_of
from metafs_metadb.files.log import real
from metafs_metadb.managing import managing_queries

RESTORE = "put a copy of the file back or give another --db"


@dataclass(frozen=True)
class Migration:
    """One step of the schema: its number and name from the file name, and its SQL."""

    number: int
    name: str
    sql: str

    @property
    def digest(self) -> str:
        """SHA-256 of the SQL, so that a changed migration is noticed."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


@cache
def known() -> tuple[Migration, ...]:
    """Return the migrations that come with this metafs, in order."""
    found = []
    for entry in resources.files("metafs_metadb").joinpath("migrations").iterdir():
        if entry.name.endswith(".sql"):
            number, _, name = entry.name.removesuffix(".sql").partition("_")
            found.append(Migration(int(number), name, entry.read_text("utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.number))


def applied(con: duckdb.DuckDBPyConnection) -> dict[int, str] | None:
    """Return number -> digest from the ledger, or None if the file has no ledger of ours."""
    try:
        rows = con.execute(managing_queries.LEDGER).fetchall()
    except (duckdb.CatalogException, duckdb.BinderException, duckdb.ConversionException):
        return None
    first = known()[0]
    if not rows or rows[0][:2] != (first.number, first.name):
        return None
    return {number: digest for number, _, digest in rows}


def pending(con: duckdb.DuckDBPyConnection, path: Path) -> list[Migration]:
    """Return the migrations the file still lacks; read-only.

    A file from a newer metafs, or another program's database, is refused.
    """
    ledger = applied(con)
    if ledger is None:
        if con.execute(managing_queries.HAS_ANYTHING).fetchall():
            raise MetaDBError(f"{path} is a DuckDB file but not a MetaDB: give another --db")
        return list(known())
    newest = max(ledger, default=0)
    if newest > known()[-1].number:
        raise MetaDBError(
            f"the MetaDB {path} was written by a newer metafs (schema {newest}, this one knows "
            f"{known()[-1].number}): upgrade metafs"
        )
    lacking = [migration for migration in known() if migration.number not in ledger]
    if lacking and lacking[0].number < newest:
        raise MetaDBError(
            f"the MetaDB {path} is damaged: its ledger has migration {newest:04d} but lacks "
            f"{lacking[0].number:04d}_{lacking[0].name}, {RESTORE}"
        )
    return lacking


def require_current(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Refuse a file whose schema is not the one this metafs knows."""
    lacking = pending(con, path)
    if len(lacking) == len(known()):
        raise MetaDBMissing(f"the MetaDB {path} is empty: run `metafs solve` first, or give --db")
    if lacking:
        raise MetaDBOutdated(
            f"the MetaDB {path} was written by an older metafs (it lacks migration "
            f"{lacking[0].number:04d}_{lacking[0].name}): run `metafs db migrate --db {path}`"
        )


def start_or_refuse(con: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Give an empty DuckDB file our schema; an older schema waits for `metafs db migrate`."""
    if applied(con) is None:
        apply_pending(con, path)
    require_current(con, path)


def apply_pending(con: duckdb.DuckDBPyConnection, path: Path) -> list[str]:
    """Apply what is pending, each change with its ledger row in one transaction."""
    done = []
    for migration in pending(con, path):
        with transaction(con):
            con.execute(managing_queries.CREATE_LEDGER)
            con.execute(migration.sql)
            con.execute(
                managing_queries.RECORD_MIGRATION,
                {
                    "number": migration.number,
                    "name": migration.name,
                    "digest": migration.digest,
                    "applied_at": utc_now(),
                },
            )
        done.append(f"{migration.number:04d}_{migration.name}")
    return done


def create(path: Path, wait_s: float) -> None:
    """Create a MetaDB where there is none.

    DuckDB cannot open a file whose first bytes were never written, so a process killed here must
    not leave one: the file is made under another name and linked into place when it is whole.
    """
    path = real(path)
    with draft_of(path) as draft:
        try:
            with writing(draft, wait_s) as con:
                apply_pending(con, draft)
                con.execute("checkpoint")  # no other process has seen this file yet
        except MetaDBError as error:
            raise MetaDBError(str(error).replace(str(draft), str(path))) from error
        try:
            os.link(draft, path)  # unlike a rename, never over a file that came in between
        except FileExistsError:
            if not is_there(path):  # an empty file, as `mktemp` makes
                os.replace(draft, path)
        except OSError:  # a file system without hard links
            os.replace(draft, path)


def utc_now() -> datetime:
    """Return now in UTC, as the MetaDB stores it: without a time zone."""
    return datetime.now(UTC).replace(tzinfo=None)
