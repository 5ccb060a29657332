"""A copy of a memory that is made without its lock, so that nobody ever waits for a reader.

The live file is never changed in place and its log only grows (`log`), so both may be copied while
somebody writes, log first: the copy holds what was committed until then, and a commit cut off in the
middle is a torn end, which DuckDB ignores. Only a fold may come in between, and it puts another file
in the place of the old one: then the copy is made again.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from metafs_metadb import connect, log
from metafs_metadb.errors import MetaDBError
from metafs_metadb.migrate import require_current

PAUSE_S = 0.02


@contextmanager
def unlocked_copy(path: Path, wait_s: float) -> Iterator[tuple[Path, duckdb.DuckDBPyConnection]]:
    """Give a private copy of a memory, and a connection that reads it with an engine of its own."""
    deadline = time.monotonic() + wait_s
    with ExitStack() as stack:
        engine = connect.Engine()
        stack.callback(engine.con.close)
        while True:
            attempt = stack.enter_context(ExitStack())
            folder = attempt.enter_context(TemporaryDirectory(prefix="metafs-"))
            copy = Path(folder) / "metafs.duckdb"
            if _copied(path, copy, wait_s):
                try:
                    con = attempt.enter_context(connect.reading(copy, wait_s, engine))
                    require_current(con, copy)
                    break
                except MetaDBError as error:
                    # A log that its fold had not removed yet looks like that of another file.
                    if not log.log_of(copy).exists() or time.monotonic() > deadline:
                        raise type(error)(str(error).replace(str(copy), str(path))) from error
            elif time.monotonic() > deadline:
                raise MetaDBError(f"the MetaDB {path} is replaced all the time: try again later")
            attempt.close()
            time.sleep(PAUSE_S)
        yield copy, con


def _copied(path: Path, copy: Path, wait_s: float) -> bool:
    """Copy file and log; tell whether they belong together.

    Closing a file drops the locks of this process on it, so no thread of ours may have it open.
    """
    if not connect.is_there(path):
        raise connect.missing(path)
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
