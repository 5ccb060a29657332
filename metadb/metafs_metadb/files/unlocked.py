"""A copy of a memory that is made without its lock, so that no writer ever waits for a reader.

The live file is never changed in place and its log only grows (`log`), so both may be copied
while another process writes, log first: the copy holds what was committed until then, and a commit
cut off in the middle is a torn end, which DuckDB ignores. Only a fold may come in between, and it
puts another file in the place of the old one: then the copy is made again.
"""

import time
from contextlib import ExitStack
from pathlib import Path

from metafs_metadb.errors import MetaDBError, MetaDBLocked, MetaDBMissing, MetaDBOutdated
from metafs_metadb.files import connect, file_errors, log
from metafs_metadb.files.migrate import require_current

PAUSE_S = 0.02
PATIENCE_S = 2.0
"""A fold takes milliseconds between its last two steps."""


def copy_unlocked(path: Path, folder: Path, wait_s: float) -> Path:
    """Make a private copy of a memory in a folder of the caller's, and make sure it can be read."""
    deadline = time.monotonic() + min(wait_s, PATIENCE_S)
    copy = folder / "metafs.duckdb"
    while True:
        for old in (copy, log.log_of(copy)):
            old.unlink(missing_ok=True)
        whole = _copied(path, copy, wait_s)
        late = time.monotonic() > deadline
        if whole:
            try:
                _require_readable(copy, wait_s)
                return copy
            except MetaDBError as error:
                # A file and a log of two moments look like those of two memories, or damaged.
                sure = isinstance(error, MetaDBMissing | MetaDBOutdated)
                if sure or late or not log.log_of(copy).exists():
                    raise type(error)(str(error).replace(str(copy), str(path))) from error
        elif late:
            raise MetaDBLocked(f"the MetaDB {path} is replaced all the time: try again later")
        time.sleep(PAUSE_S)


def _copied(path: Path, copy: Path, wait_s: float) -> bool:
    """Copy file and log; tell whether they belong together.

    Closing a file drops the locks of this process on it, so no thread of ours may have it open.
    """
    if not connect.is_there(path):
        raise file_errors.missing(path)
    real = log.real(path)
    with connect.alone(path, wait_s), ExitStack() as stack:
        seen = log.identity(real)
        try:
            log.copy_memory(real, copy, stack)
        except FileNotFoundError:  # the log was folded in between looking and opening
            return False
        except PermissionError as error:
            raise MetaDBError(
                f"cannot open the MetaDB {path}: permission denied, make the file readable or give "
                "another --db"
            ) from error
        return log.identity(real) == seen


def _require_readable(copy: Path, wait_s: float) -> None:
    engine = connect.Engine()
    try:
        with connect.reading(copy, wait_s, engine) as con:
            require_current(con, copy)
    finally:
        engine.con.close()
