"""What goes wrong with a file, as an error that says what to do about it."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from metafs_metadb.errors import MetaDBError, MetaDBLocked, MetaDBMissing
from metafs_metadb.files import log


def missing(path: Path) -> MetaDBMissing:
    """Return the error for a file that is not there."""
    return MetaDBMissing(f"no MetaDB at {path}: run `metafs solve` first, or give --db")


@contextmanager
def in_sentences(path: Path) -> Iterator[None]:
    """Raise what DuckDB raises in this block as an error that says what to do about the file."""
    try:
        yield
    except duckdb.Error as error:
        raise (sentence(error, path) or error) from error


def sentence(error: duckdb.Error, path: Path) -> MetaDBError | None:
    """Say what a DuckDB error means for the file, or None if it is not about the file."""
    message = str(error)
    if "Could not set lock" in message or "Conflicting lock" in message:
        holder = re.search(r"PID (\d+)", message)
        which = f" (PID {holder[1]})" if holder else ""
        return MetaDBLocked(
            f"the MetaDB {path} is in use by another process{which}: wait for it to end, or stop "
            "it, and try again"
        )
    if "already attached" in message or "different configuration" in message:
        return MetaDBLocked(
            f"the MetaDB {path} is already open in this process (PID {os.getpid()}) through "
            "another DuckDB connection: close that connection and try again"
        )
    if any(word in message for word in _DENIED):
        return MetaDBError(
            f"cannot open the MetaDB {path}: permission denied, make the file and its folder "
            "writable or give another --db"
        )
    if os.strerror(errno.ENOSPC) in message:
        return MetaDBError(f"cannot write the MetaDB {path}: no space left on its disk")
    if any(os.strerror(code) in message for code in (errno.EFBIG, errno.EDQUOT)):
        return MetaDBError(f"cannot use the MetaDB {path}: {plain(error)}")
    if "This WAL was" in message or "WAL does not match" in message:
        return MetaDBError(
            f"the log {log.log_of(path)} does not belong to the MetaDB {path}: put the file back "
            "that it belongs to, or move the log away"
        )
    if "encrypted database" in message:
        return MetaDBError(f"{path} is an encrypted DuckDB file, not a MetaDB: give another --db")
    if any(word in message for word in _DAMAGED) or isinstance(
        error, duckdb.InternalException | duckdb.FatalException | duckdb.SerializationException
    ):
        return MetaDBError(
            f"{path} is damaged or not a DuckDB file: give another --db, "
            "or move the file away and solve again"
        )
    if isinstance(error, duckdb.CatalogException | duckdb.BinderException):  # all SQL is ours
        return MetaDBError(
            f"the MetaDB {path} is damaged: {plain(error)} `metafs db check` lists the damage"
        )
    if isinstance(error, duckdb.IOException | duckdb.TransactionException):
        return MetaDBError(f"cannot use the MetaDB {path}: {plain(error)}")
    return None


OLDER_LOG = "created for an older version of this database"

_DENIED = (os.strerror(errno.EACCES), os.strerror(errno.EROFS), "not permitted")

_DAMAGED = (
    "not a valid DuckDB database file",
    "Corrupt database",
    "checksum",
    "Could not read enough bytes",
    "Failed to deserialize",
    "Serialization Error",
)


def plain(error: duckdb.Error) -> str:
    r"""Return what a DuckDB message says first, and its hint, without the name of its class.

    Examples
    --------
    >>> plain(duckdb.Error('Catalog Error: No x!\nDid you mean "y"?\n\nLINE 1: from x'))
    'No x! Did you mean "y"?'
    """
    first, *_ = str(error).split("\n\n", 1)
    return " ".join(re.sub(r"^[A-Za-z ]+Error: ", "", first).split())
