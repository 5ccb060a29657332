"""Short visits: bounded patience for a held lock, and a sentence for whatever goes wrong.

DuckDB lets one writing process exclude every other process, readers included, and one process
cannot have a file open both for reading and for writing. So the file is never kept open:
attach, do, detach. A lock held by another process is tried again with growing pauses, for
`wait_s` seconds.

Building a DuckDB engine costs twenty times what attaching a file to one does, so each process
keeps one engine, without any database of its own, and visits files with it. Its threads take
turns: a commit or a checkpoint can fail while another thread attaches or detaches. And attaching
notices that the file is open in this process before it touches it, while a second
``duckdb.connect`` would open and close the file first, and closing a file drops this process's
lock on it.
"""

import itertools
import os
import random
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import duckdb

from metafs_metadb.errors import MetaDBError, MetaDBLocked
from metafs_metadb.files import log
from metafs_metadb.files.file_errors import OLDER_LOG, in_sentences, missing, sentence

# Readable and writable by DuckDB 1.5 and by 2.x. A block is what each column of each table takes at
# least: with a quarter of DuckDB's own size a small memory is a small file, and is recorded sooner.
NEW_FILE = "storage_version 'v1.5.0', block_size 65536"

FIRST_PAUSE_S = 0.002
LONGEST_PAUSE_S = 0.25

_engines: dict[int, "Engine"] = {}  # by process: a fork must share neither threads nor locks
_engines_lock = threading.Lock()
_alias_numbers = itertools.count(1)


_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    # A commit only appends to the log, and nothing is ever written into the file in place (`log`).
    "checkpoint_threshold": "1TB",
    "auto_checkpoint_skip_wal_threshold": 2**60,
}


class Engine:
    """A DuckDB that sees neither Python variables nor the internet, for one visitor at a time."""

    def __init__(self) -> None:
        self.con = duckdb.connect(":memory:", config=_CONFIG)
        self.con.execute("pragma disable_checkpoint_on_shutdown")
        self.turn = threading.Lock()


def _shared_engine() -> Engine:
    with _engines_lock:
        pid = os.getpid()
        if pid not in _engines:
            _engines[pid] = Engine()
        return _engines[pid]


def is_there(path: Path) -> bool:
    """Tell whether there is a file at a path; an empty one, as `mktemp` makes, is nothing.

    What could never be a MetaDB is refused before anything opens it: opening a pipe would wait for
    whoever writes to it.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            raise MetaDBError(
                f"{path} is a link to {path.readlink()}, which does not exist: "
                "remove the link or give another --db"
            ) from None
        return False
    except NotADirectoryError:
        return False
    except OSError as error:
        raise MetaDBError(
            f"cannot open the MetaDB {path}: {error.strerror}, give another --db"
        ) from error
    if stat.S_ISDIR(found.st_mode):
        raise MetaDBError(f"{path} is a folder, not a MetaDB: give --db a file name")
    if not stat.S_ISREG(found.st_mode):
        raise MetaDBError(
            f"{path} is a pipe, a device or a socket, not a MetaDB: give --db a file name"
        )
    return found.st_size > 0


@contextmanager
def reading(
    path: Path, wait_s: float, engine: Engine | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an existing file for reading only."""
    if not is_there(path):
        raise missing(path)
    with _visit(path, wait_s, "read_only", engine or _shared_engine()) as con:
        yield con


@contextmanager
def writing(path: Path, wait_s: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a file for writing, and fold in its log if that has grown long.

    DuckDB creates the file if there is none.
    """
    if not path.parent.is_dir():
        raise MetaDBError(
            f"cannot create a MetaDB at {path}: there is no folder {path.parent}, "
            "create it or give another --db"
        )
    # A file keeps the version and the blocks it was made with.
    options = "read_write" if is_there(path) else NEW_FILE
    real = log.real(path)
    had_log = log.log_of(real).exists()
    with _visit(path, wait_s, options, _shared_engine()) as con:
        yield con
        if log.is_long(real):
            log.fold(con, real)
        elif not had_log and log.log_of(real).exists():
            log.sync_folder(real)


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Write all or nothing; what was written is in the log on disk afterwards."""
    con.execute("begin")
    try:
        yield
    except BaseException:
        con.execute("rollback")
        raise
    con.execute("commit")


@contextmanager
def _visit(
    path: Path, wait_s: float, options: str, engine: Engine
) -> Iterator[duckdb.DuckDBPyConnection]:
    alias = f"metadb_{next(_alias_numbers)}"
    deadline = time.monotonic() + wait_s
    with _turn(engine, path, wait_s):
        _attach(engine, path, alias, options, deadline)
        con = engine.con.cursor()
        try:
            with in_sentences(path):
                con.execute(f"use {alias}")
                yield con
        finally:
            con.close()  # rolls back what was not committed
            _detach(engine, alias)


def alone(path: Path, wait_s: float) -> AbstractContextManager[None]:
    """Wait until no thread of this process has a MetaDB open, and keep it so."""
    return _turn(_shared_engine(), path, wait_s)


@contextmanager
def _turn(engine: Engine, path: Path, wait_s: float) -> Iterator[None]:
    if not engine.turn.acquire(timeout=wait_s):
        raise MetaDBLocked(
            f"the MetaDB {path} has to wait for another thread of this process (PID {os.getpid()}) "
            "that is using a MetaDB: try again when it is done"
        )
    try:
        yield
    finally:
        engine.turn.release()


def _attach(engine: Engine, path: Path, alias: str, options: str, deadline: float) -> None:
    pause, real = FIRST_PAUSE_S, log.real(path)
    attach = f"attach {log.quoted(real)} as {alias} (type duckdb, {options})"
    while True:
        seen = log.state(real)
        try:
            engine.con.cursor().execute(attach)
            # A new file has no identity yet; another one may just have taken an old one's place.
            if not seen[0] or log.identity(real) == seen[0]:
                return
            _detach(engine, alias)
        except duckdb.Error as error:
            if OLDER_LOG in str(error):
                _drop_log(path, real, seen)
                continue
            refusal = sentence(error, path)
            if refusal is None:
                raise
            same = log.identity(real) == seen[0]
            left = deadline - time.monotonic()
            if (same and not isinstance(refusal, MetaDBLocked)) or left <= 0:
                raise refusal from error
            # Jitter, so that two waiting processes do not keep meeting.
            time.sleep(min(left, pause * random.uniform(0.5, 1.0)))
            pause = min(2 * pause, LONGEST_PAUSE_S)


def _drop_log(path: Path, real: Path, seen: tuple[log.Identity, ...]) -> None:
    """Remove a log that a killed process had folded in but not removed yet."""
    try:
        log.drop_if_folded(real, seen)
    except OSError as error:
        raise MetaDBError(
            f"cannot open the MetaDB {path}: its log {log.log_of(real).name} is out of date and "
            f"cannot be removed ({error.strerror}), remove it or make the folder writable"
        ) from error


def _detach(engine: Engine, alias: str) -> None:
    try:
        engine.con.cursor().execute(f"detach {alias}")
    except duckdb.Error:  # a damaged file can take its engine along; build another next time
        with _engines_lock:
            if _engines.get(os.getpid()) is engine:
                del _engines[os.getpid()]
        engine.con.close()


def abandon_engine() -> None:
    """Let the next visit build another engine, after what went wrong with this one."""
    with _engines_lock:
        _engines.pop(os.getpid(), None)
