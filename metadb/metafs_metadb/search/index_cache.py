"""The index cache: a folder of index files, opened when needed, brought up to date or rebuilt.

`<file>.index/` holds what would otherwise be computed again by each process. Nothing rests on it:
an index is used while its stamp fits the database, else it is made anew, and a folder that cannot
be written to only means that each process makes its own. A small database has none.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb import experience
from metafs_metadb.features.feature_names import feature_ids
from metafs_metadb.features.feature_sums import FeatureSums, OwnRun
from metafs_metadb.files import log
from metafs_metadb.record import Written
from metafs_metadb.rows import Experience, FeatureHistory, Recorded, RunRow, SelectionRows
from metafs_metadb.search import index_file, index_queries, signature_index
from metafs_metadb.search.memory_index import MemoryIndex
from metafs_metadb.search.signature_index import KeptSignatures
from metafs_metadb.search.stamp import Stamp

SUFFIX = ".index"

# From how many rows on an index is quicker than SQL alone.
SIGNATURES_FROM = 200_000

# From how many selections on their sums are worth a file: fewer are summed in no time.
SELECTIONS_FROM = 250_000

# A file is written again when it lags this many runs behind.
FEWEST_TO_WRITE = 1024

# Runs summed in one visit: a second or two, while others wait for the database.
MOST_AT_ONCE = 20_000


class Kept(Protocol):
    """An index that can be written down."""

    @property
    def stamp(self) -> Stamp | None:
        """The database it was made of."""

    def about(self) -> dict[str, Any]:
        """Return what is written to the header of the file."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be written down."""


T = TypeVar("T", bound=Kept)


class IndexCache:
    """The indexes of one database, used during visits to it: one thread at a time.

    What was opened stays in memory while all that this process has seen of the database holds. By
    its own recording a process knows the stamp that follows, and asks for it no more while nobody
    else has written.
    """

    def __init__(self, database: Path) -> None:
        self._database = log.real(database)
        self.folder = database.parent / f"{database.name}{SUFFIX}"
        self._seen: Stamp | None = None
        self._as_seen: tuple[log.Identity, ...] = ()  # file and log, when that was their stamp
        self._n_rows: Counter[str] = Counter()  # by table, as of what was seen
        self._sums: FeatureSums | None = None
        self._own: dict[int, OwnRun] = {}  # by run_id: recorded since the sums were caught up
        self._written = -1  # the last run in the file of sums

    def is_as_seen(self) -> bool:
        """Return whether the file is unchanged since this process looked, in a visit."""
        return self._seen is not None and self._as_seen == log.state(self._database)

    def remove(self) -> None:
        """Remove the folder, and forget all that is in memory."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._seen = self._sums = None
        self._own.clear()

    def remembered(
        self,
        con: duckdb.DuckDBPyConnection,
        problem_ids: Sequence[int],
        names: Sequence[str],
        which: Mapping[str, str | None],
        exclude_sources: Sequence[str | None],
    ) -> tuple[dict[int, Experience], list[FeatureHistory] | None]:
        """Return the best runs of problems, and the history of all names without each source.

        `which` names the space and what is always left out. No histories means that there was much
        to catch up with: ask again in another visit, so that others can come in between.
        """
        stamp = self.look(con)
        best_runs = experience.read(con, problem_ids)
        return best_runs, self._feature_histories(con, stamp, names, which, exclude_sources)

    def _feature_histories(
        self,
        con: duckdb.DuckDBPyConnection,
        stamp: Stamp,
        names: Sequence[str],
        which: Mapping[str, str | None],
        exclude_sources: Sequence[str | None],
    ) -> list[FeatureHistory] | None:
        ids = feature_ids(con, str(which["space"]), names)
        sums = self._caught_up(con, stamp, kept=self._n_rows["selection"] >= SELECTIONS_FROM)
        return sums.read(con, ids, which, exclude_sources) if sums.stamp == stamp else None

    def _caught_up(
        self, con: duckdb.DuckDBPyConnection, stamp: Stamp, *, kept: bool
    ) -> FeatureSums:
        """Return the sums, with what was recorded since, or the first part of it."""
        sums, self._sums = self._sums, None  # an error halfway leaves none
        if sums is None and kept:
            sums = self._opened("features", FeatureSums.of, con)
            self._written = sums.stamp.run_id if sums and sums.stamp else -1
        sums = sums or FeatureSums()
        done = sums.stamp.run_id if sums.stamp else 0
        whole = stamp.run_id - done <= MOST_AT_ONCE
        own = [self._own[each] for each in range(done + 1, stamp.run_id + 1) if each in self._own]
        if sums.stamp and len(own) == stamp.n_runs - sums.stamp.n_runs:
            sums.add(own, stamp)
        else:
            sums.catch_up(con, stamp if whole else Stamp.at(con, done + MOST_AT_ONCE))
        self._own.clear()
        lag = stamp.run_id - self._written
        if kept and whole and (self._written < 0 or lag >= FEWEST_TO_WRITE):
            self._write("features", sums)
            self._written = stamp.run_id
        self._sums = sums
        return sums

    def recorded(
        self, recorded: Recorded, written: Written, run: RunRow, space: str, rows: SelectionRows
    ) -> None:
        """Take note of a run that is on disk by now, while no other process has the file.

        If sums are in use and it is the first of its problem, they need not read its rows.
        """
        if self._seen is not None:
            self._seen = self._seen.after(recorded, written.run_digest, written.problem_digest)
        self._n_rows = written.n_rows
        self._as_seen = log.state(self._database)
        first = recorded.first and run.status == "solved"
        if self._sums is not None and first and len(self._own) < FEWEST_TO_WRITE:
            self._own[recorded.run_id] = OwnRun(
                recorded.problem_id,
                recorded.run_id,
                space,
                written.feature_ids,
                rows.is_selected(),
            )

    def keep_index(
        self, index: MemoryIndex, stamp: Stamp, distance: str, space: str, ids: NDArray[np.int64]
    ) -> None:
        """Write an index down if it is large; `stamp` is of the visit that read its signatures."""
        if len(index.structure.rows.p) >= SIGNATURES_FROM:
            made = KeptSignatures(stamp, distance, space, ids, index.structure)
            self._write(signature_index.file_name(distance, space), made)

    def kept_index(
        self, con: duckdb.DuckDBPyConnection, distance: str, space: str
    ) -> MemoryIndex | None:
        """Return the search in memory if there is a file for it that is nearly up to date."""
        self.look(con)
        if self._n_rows["signature"] < SIGNATURES_FROM:
            return None
        kept = self._opened(signature_index.file_name(distance, space), KeptSignatures.of, con)
        if kept is None or (kept.distance, kept.space) != (distance, space):
            return None
        return kept.caught_up(con)

    def look(self, con: duckdb.DuckDBPyConnection) -> Stamp:
        """Return the stamp of the database, and forget all that does not fit it."""
        if self._seen is not None and self.is_as_seen():
            return self._seen
        stamp, fits = Stamp.look(con, self._seen)
        if not fits:
            self._sums = None
            self._own.clear()
        self._seen, self._as_seen = stamp, log.state(self._database)
        self._n_rows = Counter(dict(con.execute(index_queries.TALLY).fetchall()))
        return stamp

    def _opened(
        self, name: str, of: Callable[[Any, Any], T], con: duckdb.DuckDBPyConnection
    ) -> T | None:
        """Return the index in a file, or None if there is none that fits."""
        found = index_file.read(self._path(name), private=True)
        try:
            index = of(found.about, found.arrays) if found else None
        except (KeyError, TypeError, ValueError):  # written by another version of ours
            return None
        return index if index and Stamp.look(con, index.stamp)[1] else None

    def _write(self, name: str, index: Kept) -> None:
        index_file.write(self._path(name), index.about(), index.arrays())

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.arrays"
