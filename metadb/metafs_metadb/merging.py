"""Merge other memories into one: each from a copy, in short visits, a whole file at a time.

A source is copied without a lock, together with its log; what an older metafs wrote is brought to
the current schema on the copy, which is then checked. So nothing that is wrong with a source, and
nobody who writes to it, can reach the memory that it is merged into. A file is one transaction
there: who is killed leaves some files merged and the others not, and repeating it does the rest.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from metafs_metadb import check, connect, log, migrate
from metafs_metadb.carry import ORIGIN, Carried, carry
from metafs_metadb.errors import MetaDBError

VISIT_S = 1.0
"""Seconds after which others get a turn at the memory."""

MOST_STAGED = 64
MOST_STAGED_BYTES = 2**28
"""How much lies in the temporary folder at a time, but for a file that is larger by itself."""

Visit = Callable[[], Any]
"""Opens the memory that others are merged into, for writing."""


@dataclass(frozen=True)
class Merged:
    """What became of one file."""

    path: Path
    carried: Carried = field(default_factory=Carried)
    error: str | None = None


@dataclass(frozen=True)
class Staged:
    """A sound copy of a source, of the current schema."""

    path: Path
    copy: Path


def merge(
    visit: Visit, paths: Sequence[Path], problem_ids: Collection[int] | None = None
) -> Iterator[Merged]:
    """Merge files in their order, and tell of each what became of it."""
    left = list(paths)
    while left:
        with TemporaryDirectory(prefix="metafs-") as folder:
            staged: list[Staged] = []
            n_bytes = 0
            while left and len(staged) < MOST_STAGED and n_bytes < MOST_STAGED_BYTES:
                path = left.pop(0)
                try:
                    staged.append(_stage(path, Path(folder) / f"{len(left)}.duckdb"))
                    n_bytes += staged[-1].copy.stat().st_size
                except MetaDBError as error:
                    yield Merged(path, error=str(error))
            yield from _merge_staged(visit, staged, problem_ids)


def _stage(path: Path, copy: Path) -> Staged:
    """Copy a source, bring the copy to the current schema and check it."""
    if not connect.is_there(path):
        raise MetaDBError(f"no MetaDB at {path}")
    try:
        log.copy_unlocked(log.real(path), copy)
        with connect.reading(copy, 0.0) as con:
            lacking = migrate.pending(con, path)
            findings = [] if lacking else check.findings(con)
        if lacking:
            with connect.writing(copy, 0.0) as con:
                migrate.apply_pending(con, path)
                findings = check.findings(con)
    except OSError as error:
        raise MetaDBError(f"cannot read {path}: {error.strerror}") from error
    except MetaDBError as error:
        what, *_ = str(error).replace(str(copy), str(path)).split(": give another --db")
        raise MetaDBError(what) from error
    if findings:
        raise MetaDBError(f"{path} is damaged: {findings[0]}")
    return Staged(path, copy)


def _merge_staged(
    visit: Visit, staged: list[Staged], problem_ids: Collection[int] | None
) -> Iterator[Merged]:
    """Merge the copies, and let others at the memory every now and then."""
    while staged:
        done: list[Merged] = []
        with visit() as con:
            begun = time.monotonic()
            while staged and time.monotonic() - begun < VISIT_S:
                path, copy = staged[0].path, staged[0].copy
                try:
                    done.append(Merged(path, _carry_from(con, copy, problem_ids)))
                except (duckdb.Error, MetaDBError) as error:
                    said = connect.plain(error) if isinstance(error, duckdb.Error) else str(error)
                    done.append(Merged(path, error=f"{path} cannot be merged: {said}"))
                    break  # whatever it was, the next one gets a new visit
                finally:
                    del staged[0]
        yield from done


def _carry_from(
    con: duckdb.DuckDBPyConnection, copy: Path, problem_ids: Collection[int] | None
) -> Carried:
    con.execute(f"attach {log.quoted(copy)} as {ORIGIN} (type duckdb, read_only)")
    try:
        with connect.transaction(con):
            return carry(con, problem_ids)
    finally:
        con.execute(f"detach {ORIGIN}")
