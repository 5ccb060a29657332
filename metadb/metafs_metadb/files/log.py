"""The write-ahead log of a memory: what a commit appends to, and how it gets into the file.

DuckDB's checkpoint rewrites a block of the file in place before the new header is valid, and a
process killed inside that write leaves a file that cannot be opened. So the live file is never
checkpointed. A commit only appends to the log `<file>.wal`, of which DuckDB ignores a torn end.
When the log has grown to `limit`, it is folded in on a copy, which then takes the file's place:

1. copy file and log to a draft, and checkpoint the draft, which syncs it;
2. rename the draft over the file;
3. remove the log.

Killed before 2, the file and its log are as they were, and the next fold removes the draft. Killed
between 2 and 3, the log is that of an older version of the file: DuckDB notes in both which
checkpoint they follow and refuses the pair, and the next visit removes the log (`drop_if_folded`).
The folding process has locked the old file and, as it is attached, the draft, so nobody can open
the new file before 3. Somebody who has opened the old file but not yet locked it gets it without
its log; hence a visit looks whether the path still leads to the same file (`identity`).
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import duckdb

# Every visit reads the log anew, at 80 ms a MB (a millisecond a run), and a fold writes the file
# anew, at some 30 ms and 1 ms a MB: with these limits a stream spends about as much on either.
LEAST_BYTES = 48 * 1024
SHARE = 1 / 1024

MOST_COPIES = 100
"""How often a file is copied again that is replaced meanwhile."""

Identity = tuple[int, ...]


def real(path: Path) -> Path:
    """Return where a path leads: the log of a file lies next to the file and not to a link to it.

    A link that leads to itself is left to the process that opens it.
    """
    return Path(os.path.realpath(path))


def log_of(path: Path) -> Path:
    """Return where DuckDB keeps the log of a file."""
    return path.with_name(f"{path.name}.wal")


def identity(path: Path) -> Identity:
    """Tell one file from another that takes its place; asked without opening it."""
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_ctime_ns


def state(path: Path) -> tuple[Identity, ...]:
    """Tell whether anybody has written to file or log since; asked while the file is open here.

    A log grows with each commit, so two within one tick of the clock differ too.
    """
    sizes = [each.stat().st_size if each.exists() else 0 for each in (path, log_of(path))]
    return identity(path), identity(log_of(path)), tuple(sizes)


def is_long(path: Path) -> bool:
    """Tell whether the log should be folded in."""
    try:
        return log_of(path).stat().st_size > LEAST_BYTES + SHARE * path.stat().st_size
    except OSError:
        return False


def fold(con: duckdb.DuckDBPyConnection, path: Path) -> bool:
    """Put a copy that has the log folded in into the file's place; tell whether that was possible.

    The file is attached for writing, everything is committed, and nothing else is asked of this
    visit. Whatever goes wrong leaves file and log as they were.
    """
    try:
        with folded(con, path, "fold"):
            return True
    except (OSError, duckdb.Error):
        return False


@contextmanager
def folded(con: duckdb.DuckDBPyConnection, path: Path, alias: str) -> Iterator[None]:
    """Fold the log in as `fold` does, and have the new file attached as `alias` meanwhile.

    No other process can open it, because it is attached.
    """
    draft = path.with_name(f".{path.name}.fold")
    with ExitStack() as stack:
        stack.callback(_remove, draft)
        _remove(draft)  # of a process that was killed
        copy_memory(path, draft, stack)
        con.execute(f"attach {quoted(draft)} as {alias} (type duckdb)")
        stack.callback(con.execute, f"detach {alias}")
        con.execute(f"checkpoint {alias}")
        os.replace(draft, path)
        log_of(path).unlink(missing_ok=True)
        sync_folder(path)
        yield


def copy_memory(path: Path, copy: Path, stack: ExitStack) -> None:
    """Copy the file and its log, if there is one; the caller has the file attached.

    Closing the file drops the lock of this process on it, so that is left to the stack.
    """
    file = stack.enter_context(path.open("rb"))
    if log_of(path).exists():
        with log_of(path).open("rb") as log:
            _copy(log.fileno(), log_of(copy))
    _copy(file.fileno(), copy)
    shutil.copymode(path, copy)
    with suppress(AttributeError, OSError):  # only root can give files away
        os.chown(copy, path.stat().st_uid, path.stat().st_gid)


def copy_unlocked(path: Path, copy: Path) -> None:
    """Copy a file and its log without making a writing process wait.

    The file is only ever replaced and the log only grows, so a copy is whole if the file is still
    the same afterwards; of a commit that was just being appended the copy has none.
    """
    for _ in range(MOST_COPIES):
        seen = _unlocked_state(path)
        shutil.copyfile(path, copy)
        log_of(copy).unlink(missing_ok=True)
        with suppress(FileNotFoundError):  # there is none, or it has just been folded in
            shutil.copyfile(log_of(path), log_of(copy))
        if _unlocked_state(path) == seen:
            return
    raise OSError(errno.EBUSY, "another process writes to it all the time")


def _unlocked_state(path: Path) -> tuple[int, ...]:
    """Tell whether a file was replaced, or written to in place by another program."""
    found = path.stat()
    log = identity(log_of(path))[:2]
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, *log


def drop_if_folded(path: Path, seen: tuple[Identity, ...]) -> None:
    """Remove a log that DuckDB says is of an older version of the file, and was that of `seen`.

    Between that verdict and now another process may have removed it and written another, so it is
    looked at again while no process can write.
    """
    import fcntl

    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return  # another process uses it
        if state(path) == seen:
            log_of(path).unlink()


def sync_folder(path: Path) -> None:
    """Make sure that what was renamed or made beside a file survives a loss of power."""
    with suppress(OSError):  # not every system opens folders
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def quoted(path: Path) -> str:
    """Return a path as SQL: ``attach`` takes no bound values."""
    return "'" + str(path.absolute()).replace("'", "''") + "'"


def _remove(draft: Path) -> None:
    for each in (draft, log_of(draft)):
        each.unlink(missing_ok=True)


def _copy(source: int, target: Path) -> None:
    """Copy an open file; where the file system can share blocks, this takes no time."""
    with target.open("xb", buffering=0) as made:
        try:
            while os.copy_file_range(source, made.fileno(), 1 << 30):
                pass
        except (AttributeError, OSError):  # another operating system, or two file systems
            made.seek(0)
            os.lseek(source, 0, os.SEEK_SET)
            with open(source, "rb", closefd=False) as file:
                shutil.copyfileobj(file, made, 1 << 20)
