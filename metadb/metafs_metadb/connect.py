"""Short connections: bounded patience for a held lock, and a sentence for whatever goes wrong.

DuckDB lets one writing process exclude every other process, readers included, and one process
cannot open a file both for reading and for writing. So nobody here keeps a connection: open, do,
close. A lock that somebody else holds is tried again with growing pauses, for `wait_s` seconds.
"""

import errno
import os
import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from metafs_metadb.errors import MetaDBError, MetaDBLocked, MetaDBMissing

# Readable and writable by DuckDB 1.5 and by 2.x.
STORAGE_VERSION = "v1.5.0"

READ_CONFIG = {
    "enable_external_access": "false",
    "lock_configuration": "true",
    "python_enable_replacements": "false",
}
WRITE_CONFIG = {"storage_compatibility_version": STORAGE_VERSION}

FIRST_PAUSE_S = 0.005
LONGEST_PAUSE_S = 0.25


@contextmanager
def reading(path: Path, wait_s: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an existing file for reading only, unable to touch any other file."""
    if not path.exists():
        raise MetaDBMissing(f"no MetaDB at {path}: run `metafs solve` first, or give --db")
    with _connected(path, wait_s, read_only=True, config=READ_CONFIG) as con:
        yield con


@contextmanager
def writing(path: Path, wait_s: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a file for writing; DuckDB creates it if there is none."""
    if not path.parent.is_dir():
        raise MetaDBError(
            f"cannot create a MetaDB at {path}: there is no folder {path.parent}, "
            "create it or give another --db"
        )
    with _connected(path, wait_s, read_only=False, config=WRITE_CONFIG) as con:
        yield con


@contextmanager
def _connected(
    path: Path, wait_s: float, *, read_only: bool, config: dict[str, Any]
) -> Iterator[duckdb.DuckDBPyConnection]:
    if path.is_dir():
        raise MetaDBError(f"{path} is a folder, not a MetaDB: give --db a file name")
    con = _connect(path, wait_s, read_only=read_only, config=config)
    try:
        yield con
    except duckdb.Error as error:
        raise (_sentence(error, path) or error) from error
    finally:
        con.close()


def _connect(
    path: Path, wait_s: float, *, read_only: bool, config: dict[str, Any]
) -> duckdb.DuckDBPyConnection:
    deadline = time.monotonic() + wait_s
    pause = FIRST_PAUSE_S
    while True:
        try:
            return duckdb.connect(str(path), read_only=read_only, config=config)
        except duckdb.Error as error:
            told = _sentence(error, path)
            if told is None:
                raise
            left = deadline - time.monotonic()
            if not isinstance(told, MetaDBLocked) or left <= 0:
                raise told from error
        # Jitter, so that two waiting processes do not keep meeting.
        time.sleep(min(left, pause * random.uniform(0.5, 1.0)))
        pause = min(2 * pause, LONGEST_PAUSE_S)


def _sentence(error: duckdb.Error, path: Path) -> MetaDBError | None:
    """Say what a DuckDB error means for the file, or None if it is not about the file."""
    message = str(error)
    if "Could not set lock" in message or "Conflicting lock" in message:
        holder = re.search(r"PID (\d+)", message)
        who = f"process {holder[1]}" if holder else "another process"
        return MetaDBLocked(
            f"the MetaDB {path} is in use by {who} (PID {holder[1] if holder else 'unknown'}): "
            "wait for it to end, or stop it, and try again"
        )
    if "different configuration" in message or "already attached" in message:
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
    if any(word in message for word in _DAMAGED) or isinstance(
        error, duckdb.InternalException | duckdb.FatalException | duckdb.SerializationException
    ):
        return MetaDBError(
            f"{path} is damaged or not a DuckDB file: give another --db, "
            "or move the file away and solve again"
        )
    if isinstance(error, duckdb.IOException):
        return MetaDBError(f"cannot use the MetaDB {path}: {first_line(error)}")
    return None


_DENIED = (os.strerror(errno.EACCES), os.strerror(errno.EROFS), "not permitted")
_DAMAGED = (
    "not a valid DuckDB database file",
    "Corrupt database",
    "checksum",
    "Could not read enough bytes",
    "Failed to deserialize",
    "Serialization Error",
)


def first_line(error: duckdb.Error) -> str:
    """Return the first line of a DuckDB message, without the name of its class."""
    return re.sub(r"^[A-Za-z ]+Error: ", "", str(error).split("\n", 1)[0]).strip()
