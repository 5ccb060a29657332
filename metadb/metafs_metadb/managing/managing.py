"""What people do to a memory as a whole: forget, exclude, export and merge."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from metafs_metadb.batch_copies import BatchCopies
from metafs_metadb.errors import MetaDBError
from metafs_metadb.files import connect, log
from metafs_metadb.files.snapshot import snapshot
from metafs_metadb.managing import managing_queries, merging
from metafs_metadb.managing.carry import Carried
from metafs_metadb.managing.forget import forget
from metafs_metadb.managing.merging import Merged
from metafs_metadb.models import basis


class Managing(BatchCopies):
    """Changes to all that is remembered of some problems."""

    def sizes(self) -> dict[int, int]:
        """Return how many rows each problem has in the tables that make a memory large."""
        return dict(self._table(managing_queries.SIZES, {}).rows)

    def n_forgotten_neighbours(self, problem_id: int) -> int:
        """Return how often runs of a problem recalled one that is forgotten."""
        which = {"problem_id": problem_id}
        return int(self._table(managing_queries.FORGOTTEN_NEIGHBOURS, which).rows[0][0])

    def fits_named(self, name: str) -> list[tuple[int, str, str, int]]:
        """Return id, fingerprint, space and rows of the problems that fits of a name recorded."""
        return list(self._table(managing_queries.FITS_NAMED, {"name": name}).rows)

    def forget(self, problem_ids: Collection[int]) -> None:
        """Forget problems with all that was learned of them.

        The file is rewritten, so that no byte of them is left in it, in its log, its index cache or
        the copies kept for interrupted batches. What others learned from them stays: their scores,
        selections and expectations.
        """
        self._require_file()
        if not problem_ids:
            return
        with self.writing() as con:
            self._index_cache.remove()
            self.release_all()
            forget(con, self.path, problem_ids)

    def set_excluded(self, problem_ids: Collection[int], excluded: bool) -> int:
        """Let problems take no part in memory, or take part again; return how many changed."""
        self._require_file()
        which = {"problem_ids": list(problem_ids), "excluded": excluded}
        with self.writing() as con, connect.transaction(con):
            changed = con.execute(managing_queries.SET_EXCLUDED, which).fetchall()
            basis.rebuild(con, sorted({space for _, space in changed}))
        return len(changed)

    def merge(self, paths: Sequence[Path]) -> Iterator[Merged]:
        """Merge other memories into this one, file by file, creating it if there is none.

        Problems are the same if their fingerprints are; what is here already is not added again.
        The sources stay as they are. One that cannot be merged is reported, and the others go on.
        """
        own = log.real(self.path)
        yield from merging.merge(self.writing, [each for each in paths if log.real(each) != own])
        if self.exists():
            self.fold()

    def export(self, target: Path, problem_ids: Collection[int] | None = None) -> Carried:
        """Write problems to a MetaDB of their own, or add them to one that is there."""
        if log.real(target) == log.real(self.path):
            raise MetaDBError(f"{target} is the MetaDB itself: export to another file")
        other = Managing(target, self.wait_s)
        with snapshot(self.path, self.wait_s) as copy:
            (done,) = merging.merge(other.writing, [copy], problem_ids)
        if done.error is not None:
            raise MetaDBError(done.error.replace(str(copy), str(self.path)))
        with suppress(MetaDBError):
            other.fold()
        return done.carried
