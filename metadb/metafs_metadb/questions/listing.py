"""What people ask of the memory: lists, one problem or run in full, and their own queries."""

from collections.abc import Mapping, Sequence
from typing import Any

from metafs_metadb.files.file import MetaFile
from metafs_metadb.questions import list_queries, sandbox
from metafs_metadb.questions import stored_run as stored
from metafs_metadb.rows import FeatureHistory, Table


class Listing(MetaFile):
    """The questions of people."""

    def problems(self, space: str | None = None) -> Table:
        """List the problems with their runs counted."""
        return self._table(list_queries.PROBLEMS, {"space": space})

    def find_problem(self, name: str, space: str | None = None) -> dict[str, Any] | None:
        """Return the latest problem of that name as column -> value, or None."""
        columns, rows = self._table(list_queries.FIND_PROBLEM, {"name": name, "space": space})
        return dict(zip(columns, rows[0], strict=True)) if rows else None

    def runs(
        self,
        *,
        problem: str | None = None,
        status: str | None = None,
        selector: str | None = None,
        limit: int | None = None,
    ) -> Table:
        """List the runs, oldest first."""
        values = {"problem": problem, "status": status, "selector": selector, "limit": limit}
        return self._table(list_queries.RUNS, values)

    def features(
        self, space: str | None = None, limit: int | None = None, *, problem: str | None = None
    ) -> Table:
        """List the features seen in best runs, most often selected first.

        With `problem`, those that its best run selected, best first.
        """
        values: dict[str, object] = {"space": space, "limit": limit}
        if problem is None:
            return self._table(list_queries.FEATURES, values)
        return self._table(list_queries.FEATURES_OF_PROBLEM, values | {"problem": problem})

    def stored_run(self, problem_id: int, run_id: int | None = None) -> stored.StoredRun | None:
        """Return a run of a problem with all its rows, by default its best solved one."""
        with self.reading() as con:
            return stored.read(con, problem_id, run_id)

    def history_before(self, run: Mapping[str, Any], names: Sequence[str]) -> FeatureHistory:
        """Return the history of each feature over all other problems before a stored run."""
        with self.reading() as con:
            return stored.history_before(con, run, names)

    def sql(
        self,
        query: str,
        params: Mapping[str, object] | None = None,
        *,
        seconds: float = sandbox.Limits.seconds,
        memory_gb: float = sandbox.Limits.memory_gb,
    ) -> tuple[tuple[str, ...], sandbox.Rows]:
        """Answer one read-only query of a person: column names, and an iterator of rows.

        It reads a snapshot of the memory, so that no writer has to wait for it.
        """
        limits = sandbox.Limits(seconds, memory_gb)
        return sandbox.ask(self.path, self.wait_s, query, params or {}, limits)
