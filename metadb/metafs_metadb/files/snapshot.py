"""A private copy of a memory, as it is at one moment."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from metafs_metadb.files.connect import reading
from metafs_metadb.files.log import copy_memory, real
from metafs_metadb.files.migrate import require_current


@contextmanager
def snapshot(path: Path, wait_s: float) -> Iterator[Path]:
    """Copy a memory into a temporary folder, and remove the copy afterwards.

    No process can write while it is copied, and all can afterwards.
    """
    with TemporaryDirectory(prefix="metafs-") as folder:
        copy = Path(folder) / "metafs.duckdb"
        with reading(path, wait_s) as con, ExitStack() as stack:
            require_current(con, path)
            copy_memory(real(path), copy, stack)
        yield copy
