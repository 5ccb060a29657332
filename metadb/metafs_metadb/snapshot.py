"""Copies of a memory: the file and its log together, as they are at one moment."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from metafs_metadb.connect import log_of, reading
from metafs_metadb.migrate import require_current


@contextmanager
def snapshot(path: Path, wait_s: float) -> Iterator[Path]:
    """Copy a memory into a private temporary folder, and remove the copy afterwards.

    Nobody can write while it is copied, and everybody can as soon as it is.
    """
    with TemporaryDirectory(prefix="metafs-") as folder:
        copy = Path(folder) / "metafs.duckdb"
        with reading(path, wait_s) as con:
            require_current(con, path)
            copy_memory(path, copy)
        yield copy


def copy_memory(path: Path, copy: Path) -> None:
    """Copy the file and its log, if there is one; the caller holds the file open.

    The file is closed last: closing it drops the lock of this process.
    """
    with path.open("rb") as file:
        if log_of(path).exists():
            with log_of(path).open("rb") as log:
                _copy(log.fileno(), log_of(copy))
        _copy(file.fileno(), copy)


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
