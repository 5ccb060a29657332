"""The MetaDB: the memory as one DuckDB file, asked and told in short calls."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb
import numpy as np
from numpy.typing import ArrayLike

from metafs_metadb import (
    check,
    connect,
    experience,
    migrate,
    properties,
    property_queries,
    queries,
    record,
    sandbox,
    signature_index,
    told,
)
from metafs_metadb.beside import Beside
from metafs_metadb.errors import MetaDBError
from metafs_metadb.memory_index import MemoryIndex
from metafs_metadb.rows import (
    Candidate,
    Experience,
    FeatureExperience,
    FeatureRecord,
    Neighbour,
    NeighbourRow,
    ProblemRow,
    Recorded,
    RunRow,
    SelectionRows,
    Signature,
    Signatures,
    StabilityRow,
    Table,
)
from metafs_metadb.search import SqlSearch
from metafs_metadb.stamp import Stamp

WAIT_VARIABLE = "METAFS_LOCK_WAIT_S"


class MetaDB:
    """A memory of problems and runs in the DuckDB file at `path`.

    Every method opens the file, does one thing and closes it: between calls nothing is held, so
    many processes can share the file as long as each call is short. A lock held by somebody else
    is waited for, at most `wait_s` seconds (else METAFS_LOCK_WAIT_S, else 10); then
    `MetaDBLocked` names who holds it. Writing creates the file; reading one that is not there
    raises `MetaDBMissing`. What `record` wrote is on disk when it returns, and a process killed
    while it writes leaves no part of the run.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> db = MetaDB(f"{folder.name}/metafs.duckdb")
    >>> db.ensure()
    >>> db.check()
    []
    >>> folder.cleanup()
    """

    def __init__(self, path: str | PathLike[str], wait_s: float | None = None) -> None:
        self.path = Path(path)
        self.wait_s = float(os.environ.get(WAIT_VARIABLE, 10.0)) if wait_s is None else wait_s
        self._beside = Beside(self.path)

    def __reduce__(self) -> tuple[Any, ...]:
        """Take path and patience to another process, and nothing that is in memory."""
        return type(self), (self.path, self.wait_s)

    # --- the file -------------------------------------------------------------------------------

    def exists(self) -> bool:
        """Tell whether there is a file that is not empty, whatever it holds."""
        return connect.is_there(self.path)

    def ensure(self) -> None:
        """Create the file if there is none, and refuse one that cannot be written to."""
        with self.writing():
            pass

    def migrate(self) -> list[str]:
        """Bring an older file to the schema of this metafs; return what was applied."""
        if not self.exists():
            with connect.reading(self.path, self.wait_s):
                pass
        with connect.writing(self.path, self.wait_s) as con:
            return migrate.apply_pending(con, self.path)

    def check(self) -> list[str]:
        """Return one sentence for each thing that is wrong with the file."""
        with self.reading() as con:
            return check.findings(con)

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the file for reading, if its schema is the one we know."""
        with connect.reading(self.path, self.wait_s) as con:
            migrate.require_current(con, self.path)
            yield con

    @contextmanager
    def writing(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the file for writing, creating it if there is none."""
        if not self.exists():
            migrate.create(self.path, self.wait_s)
        with connect.writing(self.path, self.wait_s) as con:
            if migrate.pending(con, self.path):
                migrate.start_or_refuse(con, self.path)
            yield con

    @contextmanager
    def _transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Open the file for writing; all that is written is on disk afterwards, or nothing is."""
        with self.writing() as con:
            con.execute("begin")
            try:
                yield con
            except BaseException:
                con.execute("rollback")
                raise
            con.execute("commit")
            con.execute("checkpoint")

    # --- telling --------------------------------------------------------------------------------

    def record(
        self,
        problem: ProblemRow,
        run: RunRow,
        *,
        signatures: Mapping[str, Signature] | None = None,
        selections: SelectionRows | None = None,
        meta_features: Mapping[str, ArrayLike] | None = None,
        candidates: Sequence[Candidate] = (),
        neighbours: Sequence[NeighbourRow] = (),
    ) -> Recorded:
        """Remember a run and all it taught, in one transaction; say under which ids.

        A solved run of equal content and equal settings that is there already stays, and nothing
        is written: the answer then says `again`. Failed runs and runs without settings are always
        written. A problem whose fingerprint is known keeps its problem_id and its signatures.
        Candidates name their features, or give their positions in `selections.names`; each
        meta-feature has one value for each of these names, NaN where it is unknown. The seconds
        of phase `record`, unless given, are those until the run itself is written: opening the
        file and all other rows.
        """
        begun, selections = perf_counter(), selections or SelectionRows()
        with self._transaction() as con:
            recorded = record.write(
                con,
                problem,
                run,
                signatures or {},
                selections,
                meta_features or {},
                candidates,
                neighbours,
                begun,
                self._beside.vocabulary(con),
            )
        if run.status == "solved":
            self._beside.recorded(recorded, problem.space, selections)
        self._keep_up()
        return recorded

    def _keep_up(self) -> None:
        """Make the index of the vocabulary that recording could have used."""
        if self._beside.wants_vocabulary:
            try:
                with self.reading() as con:
                    self._beside.build_vocabulary(con)
            except MetaDBError:  # whoever needs it next will try again
                pass

    def record_stability(self, problem: ProblemRow, stability: StabilityRow) -> int:
        """Remember how stable a selector was on a problem; return the stability_id.

        Every measurement is a row of its own, also one that was made before.
        """
        with self._transaction() as con:
            return record.write_stability(con, problem, stability)

    def freeze_projection(self, space: str, distance: str, names: Sequence[str]) -> list[str]:
        """Freeze the features a projected distance looks at; the first list given stays."""
        values = {
            "space": space,
            "distance": distance,
            "feature_names": list(names),
            "created_at": migrate.utc_now(),
        }
        with self.writing() as con:
            con.execute(queries.FREEZE_PROJECTION, values)
            con.execute("checkpoint")
        return self.projection(space, distance) or []

    # --- recalling ------------------------------------------------------------------------------

    def solved(self, fingerprint: str, settings: str) -> dict[str, Any] | None:
        """Return the latest solved run of this content with these settings, or None.

        Besides the run's columns: `features`, the selected names, best first, and `neighbours`,
        the list of `Neighbour` it asked.
        """
        with self.reading() as con:
            found = con.execute(
                queries.SOLVED_RUN, {"fingerprint": fingerprint, "settings": settings}
            )
            columns = [column[0] for column in found.description or ()]
            rows = found.fetchall()
            if not rows:
                return None
            run = dict(zip(columns, rows[0], strict=True))
            which = {"run_id": run["run_id"]}
            names = con.execute(queries.SELECTED_FEATURES, which).fetchall()
            run["features"] = [name for (name,) in names]
            asked = con.execute(queries.NEIGHBOURS_OF_RUN, which).fetchall()
            run["neighbours"] = [Neighbour(*neighbour) for neighbour in asked]
        return run

    def find_problem(self, name: str, space: str | None = None) -> dict[str, Any] | None:
        """Return the latest problem of that name as column -> value, or None."""
        columns, rows = self._table(queries.FIND_PROBLEM, {"name": name, "space": space})
        return dict(zip(columns, rows[0], strict=True)) if rows else None

    def distances(self, problem_id: int) -> list[str]:
        """Return the distances that a problem was described by."""
        return self._table(queries.DISTANCES, {"problem_id": problem_id}).column("distance")

    def signature(self, problem_id: int, distance: str) -> Signature | None:
        """Return keys and probabilities of a problem's signature, or None if it has none."""
        which = {"problem_id": problem_id, "distance": distance}
        with self.reading() as con:
            found = con.execute(queries.PROBLEM_SIGNATURE, which).fetchnumpy()
        keys, p = np.asarray(found["key"], np.uint64), np.asarray(found["p"], np.float64)
        return (keys, p) if len(keys) else None

    def signatures(
        self, distance: str, space: str, exclude_problem_ids: Collection[int] = ()
    ) -> Signatures:
        """Return the signatures of all problems that can be recalled, by problem_id."""
        with self.reading() as con:
            return signature_index.read(con, distance, space, exclude_problem_ids)

    def search(self, distance: str, space: str) -> SqlSearch:
        """Return the search among the signatures of a space that asks in SQL."""
        return SqlSearch(self, distance, space)

    def index(self, distance: str, space: str) -> MemoryIndex:
        """Return a faster search among the signatures of a space, in memory.

        Of a large memory it is kept in a file beside the database, for whoever asks next.
        """
        with self.reading() as con:
            if (kept := self._beside.kept_index(con, distance, space)) is not None:
                return kept
            stamp, _ = Stamp.look(con, None)
            signatures = signature_index.read(con, distance, space)
        index = MemoryIndex(signatures)  # takes its time, while others may write
        self._beside.keep_index(index, stamp, distance, space, signatures.problem_id)
        return index

    def kept_index(self, distance: str, space: str) -> MemoryIndex | None:
        """Return the search in memory if somebody has made it already, else None."""
        with self.reading() as con:
            return self._beside.kept_index(con, distance, space)

    def experience(
        self, problem_ids: Sequence[int], *, before: int | None = None
    ) -> dict[int, Experience]:
        """Return what the best run of each problem taught, in the order asked.

        A problem without a solved run is left out. With `before`, a run_id, only earlier runs
        speak.
        """
        with self.reading() as con:
            return experience.read(con, problem_ids, before)

    def feature_experience(
        self,
        space: str,
        *,
        limit: int,
        exclude_fingerprint: str | None = None,
        exclude_name: str | None = None,
        exclude_source: str | None = None,
    ) -> FeatureExperience:
        """Return how the features of known properties fared in the latest problems of a space."""
        which = {
            "space": space,
            "limit": limit,
            "exclude_fingerprint": exclude_fingerprint,
            "exclude_name": exclude_name,
            "exclude_source": exclude_source,
        }
        with self.reading() as con:
            return properties.read(con, which)

    def feature_record(
        self,
        space: str,
        names: Sequence[str],
        *,
        exclude_fingerprint: str | None = None,
        exclude_name: str | None = None,
        exclude_source: str | None = None,
    ) -> FeatureRecord:
        """Return how each named feature did over all solved problems of a space.

        The best run of each problem speaks. Left out are the problem with that fingerprint, and
        problems of that name or from that source.
        """
        (record,) = self.feature_records(
            space,
            names,
            (exclude_source,),
            exclude_fingerprint=exclude_fingerprint,
            exclude_name=exclude_name,
        )
        return record

    def feature_records(
        self,
        space: str,
        names: Sequence[str],
        exclude_sources: Sequence[str | None],
        *,
        exclude_fingerprint: str | None = None,
        exclude_name: str | None = None,
    ) -> list[FeatureRecord]:
        """Return what `feature_record` does without each of several sources, in one visit."""
        left_out = [
            {
                "space": space,
                "exclude_fingerprint": exclude_fingerprint,
                "exclude_name": exclude_name,
                "exclude_source": source,
            }
            for source in exclude_sources
        ]
        found = None
        while found is None:
            with self.reading() as con:
                found = self._beside.feature_records(con, space, names, left_out)
        return found

    def described_spaces(self) -> list[str]:
        """Return the spaces in which properties of features are known."""
        return self._table(property_queries.DESCRIBED_SPACES, {}).column("space")

    def important_features(self, space: str, limit: int) -> list[str]:
        """Return the features selected in the largest share of a space's problems."""
        values = {"space": space, "limit": limit}
        return self._table(queries.IMPORTANT_FEATURES, values).column("name")

    def projection(self, space: str, distance: str) -> list[str] | None:
        """Return the frozen features of a projected distance, or None if none are."""
        _, rows = self._table(queries.PROJECTION, {"space": space, "distance": distance})
        return list(rows[0][0]) if rows else None

    # --- for people -----------------------------------------------------------------------------

    def problems(self, space: str | None = None) -> Table:
        """List the problems with their runs counted."""
        return self._table(queries.PROBLEMS, {"space": space})

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
        return self._table(queries.RUNS, values)

    def features(
        self, space: str | None = None, limit: int | None = None, *, problem: str | None = None
    ) -> Table:
        """List the features seen in best runs, most often selected first.

        With `problem`, those that its best run selected, best first.
        """
        values: dict[str, object] = {"space": space, "limit": limit}
        if problem is None:
            return self._table(queries.FEATURES, values)
        return self._table(queries.FEATURES_OF_PROBLEM, values | {"problem": problem})

    def told_run(self, problem_id: int, run_id: int | None = None) -> told.RunTold | None:
        """Return a run of a problem with all its rows, by default its best solved one."""
        with self.reading() as con:
            return told.read(con, problem_id, run_id)

    def record_before(self, run: Mapping[str, Any], names: Sequence[str]) -> FeatureRecord:
        """Return the record each feature had over all other problems before a run that was told."""
        with self.reading() as con:
            return told.record_before(con, run, names)

    def sql(
        self, query: str, params: Mapping[str, object] | None = None
    ) -> tuple[tuple[str, ...], sandbox.Rows]:
        """Answer one read-only query of a person: column names, and an iterator of rows."""
        return sandbox.ask(self.path, self.wait_s, query, params or {})

    def _table(self, query: str, values: Mapping[str, object]) -> Table:
        with self.reading() as con:
            found = con.execute(query, dict(values))
            columns = tuple(column[0] for column in found.description or ())
            return Table(columns, found.fetchall())
