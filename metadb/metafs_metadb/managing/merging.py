"""Merge other memories into one: each from a copy, in short visits, a whole file at a time.

A source is copied without a lock, together with its log, and only the copy is opened: what an older
metafs wrote is brought to the current schema there, and what has news is checked. So nobody who
writes to a source has to wait, and nothing that is wrong with it reaches the memory that it is
merged into. A file is one transaction there: who is killed leaves some files merged and the others
not, and repeating it does the rest.
"""

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from metafs_metadb.errors import MetaDBError
from metafs_metadb.files import check, connect, file_errors, log, migrate
from metafs_metadb.managing import managing_queries
from metafs_metadb.managing.carry import ORIGIN, Carried, carry

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
    """A copy of a source."""

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
    """Copy a source and its log."""
    if not connect.is_there(path):
        raise MetaDBError(f"there is no MetaDB at {path}")
    try:
        log.copy_unlocked(log.real(path), copy)
    except OSError as error:
        raise MetaDBError(f"cannot read {path}: {error.strerror}") from error
    return Staged(path, copy)


def _merge_staged(
    visit: Visit, staged: list[Staged], problem_ids: Collection[int] | None
) -> Iterator[Merged]:
    """Merge the copies, and let others at the memory every now and then."""
    while staged:
        done: list[Merged] = []
        with visit() as con:
            begun = time.monotonic()
            while staged and (not done or time.monotonic() - begun < VISIT_S):
                each = staged.pop(0)
                try:
                    done.append(Merged(each.path, _carry_from(con, each, problem_ids)))
                except (duckdb.Error, MetaDBError) as error:
                    done.append(Merged(each.path, error=_sentence(error, each)))
                    break  # whatever it was, the next one gets a new visit
        yield from done


def _carry_from(
    con: duckdb.DuckDBPyConnection, staged: Staged, problem_ids: Collection[int] | None
) -> Carried:
    _attach(con, staged.copy)
    try:
        ((target,),) = con.execute(managing_queries.IN_USE).fetchall()
        con.execute(f"use {ORIGIN}")
        try:
            migrate.apply_pending(con, staged.path)
        finally:
            con.execute(f"use {target}")
        with connect.transaction(con):
            return carry(con, problem_ids, check=lambda: _check(con, staged.path, target))
    finally:
        try:
            con.execute(f"detach {ORIGIN}")
        except duckdb.Error:  # a damaged source stays attached
            connect.abandon_engine()


def _attach(con: duckdb.DuckDBPyConnection, copy: Path) -> None:
    attach = f"attach {log.quoted(copy)} as {ORIGIN} (type duckdb)"
    try:
        con.execute(attach)
    except duckdb.Error as error:
        if file_errors.OLDER_LOG not in str(error):
            raise
        log.log_of(copy).unlink()  # it was copied between being folded in and being removed
        con.execute(attach)


def _check(con: duckdb.DuckDBPyConnection, path: Path, target: str) -> None:
    """Refuse a damaged source."""
    con.execute(f"use {ORIGIN}")
    try:
        findings = check.findings_in_rows(con)
    finally:
        con.execute(f"use {target}")
    if findings:
        raise MetaDBError(f"{path} is damaged: {findings[0]}")


def _sentence(error: duckdb.Error | MetaDBError, staged: Staged) -> str:
    """Say what is wrong with a source, without the copy and without advice on ``--db``."""
    sentence = str(error)
    if isinstance(error, duckdb.Error):
        unknown = f"{staged.path} cannot be merged: {file_errors.plain(error)}"
        sentence = str(file_errors.sentence(error, staged.copy) or unknown)
    return sentence.replace(str(staged.copy), str(staged.path)).split(": give another --db")[0]
