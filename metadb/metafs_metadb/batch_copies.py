"""The memory as it was when a batch began, kept until all of the batch is recorded.

The problems of a batch are solved from the same memory. If some were recorded before the stream was
interrupted, the others must not recall them when it goes on. The file is never written in place
(`log`), so a hard link to it and a copy of its log are the memory of that moment, and take no time.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from metafs_metadb.files import log
from metafs_metadb.files.file import MetaFile

NAME = "metafs.duckdb"

# Interrupted batches that are kept; older ones are given up.
MOST_HELD = 4


class BatchCopies(MetaFile):
    """Memory as of the beginning of a batch, which a text identifies."""

    def hold(self, batch: str) -> None:
        """Keep the memory as it is now."""
        held, real = self._held(batch), self.path.resolve()
        with ExitStack() as stack, self.reading():  # no process writes meanwhile
            self.release(batch)
            self._give_up(MOST_HELD - 1)
            held.parent.mkdir(parents=True)
            try:
                if log.log_of(real).exists():
                    shutil.copyfile(log.log_of(real), log.log_of(held))
                os.link(real, held)  # comes last: without it, nothing is held
            except OSError:  # a file system without links
                log.log_of(held).unlink(missing_ok=True)
                log.copy_memory(real, held, stack)

    @contextmanager
    def as_held(self, batch: str) -> Iterator[Self | None]:
        """Give a copy of the memory as it was kept, None if it was not."""
        held = self._held(batch)
        if not held.exists():
            yield None
            return
        with TemporaryDirectory(prefix="metafs-") as folder:
            copy = Path(folder) / NAME
            with ExitStack() as stack, self.reading():
                log.copy_memory(held, copy, stack)
            yield type(self)(copy, self.wait_s)

    def release(self, batch: str) -> None:
        """Keep it no longer, if it was kept."""
        shutil.rmtree(self._held(batch).parent, ignore_errors=True)
        with suppress(OSError):  # others are kept
            self._folder.rmdir()

    def release_all(self) -> None:
        """Keep nothing of any batch."""
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _folder(self) -> Path:
        real = self.path.resolve()
        return real.with_name(f".{real.name}.held")

    def _held(self, batch: str) -> Path:
        return self._folder / batch / NAME

    def _give_up(self, most: int) -> None:
        """Remove all but the latest."""
        with suppress(OSError):
            oldest_first = sorted(self._folder.iterdir(), key=lambda each: each.stat().st_mtime)
            for each in oldest_first[: max(0, len(oldest_first) - most)]:
                shutil.rmtree(each, ignore_errors=True)
