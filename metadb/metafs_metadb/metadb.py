"""The MetaDB: the memory as one DuckDB file, read and written in short calls."""

from collections.abc import Mapping, Sequence
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metafs_metadb import record, record_queries
from metafs_metadb.files import connect, migrate
from metafs_metadb.managing.managing import Managing
from metafs_metadb.models import saved_models
from metafs_metadb.models.learner_candidates import LearnerCandidate
from metafs_metadb.models.trials import TrialRow
from metafs_metadb.models.weights import BeliefRow, ReferenceRows
from metafs_metadb.questions.listing import Listing
from metafs_metadb.questions.reporting import Reporting
from metafs_metadb.recalling import Recalling
from metafs_metadb.rows import (
    Candidate,
    NeighbourRow,
    ProblemRow,
    Recorded,
    RunRow,
    SelectionRows,
    Signature,
    StabilityRow,
)
from metafs_metadb.search.comparing import Comparing
from metafs_metadb.search.signatures import write_signatures


class MetaDB(Comparing, Recalling, Listing, Reporting, Managing):
    """A memory of problems and runs in the DuckDB file at `path`.

    Every method opens the file, does one thing and closes it: between calls nothing is held, so
    many processes can share the file as long as each call is short. A lock held by another process
    is waited for, at most `wait_s` seconds (else METAFS_LOCK_WAIT_S, else 10); then
    `MetaDBLocked` names its holder. Writing creates the file; reading one that is not there
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
        reference: ReferenceRows | None = None,
        belief: BeliefRow | None = None,
        row_hashes: NDArray[np.uint64] | None = None,
        trials: Sequence[TrialRow] = (),
        learner_candidates: Sequence[LearnerCandidate] = (),
    ) -> Recorded:
        """Record a run with all its rows in one transaction, and return their ids.

        A solved run of equal content and equal settings that is there already stays, and nothing
        is written, and `again` is true. Failed runs and runs without settings are always
        written. A problem whose fingerprint is known keeps its problem_id and its signatures.
        Candidates name their features, or give their positions in `selections.names`; each
        meta-feature has one value for each of these names, NaN where it is unknown. A problem keeps
        the first `reference` model and the smallest hashes of its rows; `belief` is the run's.
        The seconds of phase `record`, unless given, are those until the run itself is written:
        opening the file and all other rows.
        """
        begun, selections = perf_counter(), selections or SelectionRows()
        with self.writing() as con:
            self._index_cache.look(con)
            with connect.transaction(con):
                recorded, written = record.write(
                    con,
                    problem,
                    run,
                    signatures or {},
                    selections,
                    meta_features or {},
                    candidates,
                    neighbours,
                    begun,
                    reference,
                    belief,
                    row_hashes,
                    trials,
                    learner_candidates,
                )
            if written is not None:
                self._index_cache.recorded(recorded, written, run, problem.space, selections)
        return recorded

    def record_stability(self, problem: ProblemRow, stability: StabilityRow) -> int:
        """Remember how stable a selector was on a problem; return the stability_id.

        Every measurement is a row of its own, also one that was made before.
        """
        with self.writing() as con, connect.transaction(con):
            return record.write_stability(con, problem, stability)

    def remember_model(self, fingerprint: str, folder: str, file: str) -> bool:
        """Remember the file with the model of a problem; tell whether the problem is known."""
        with self.writing() as con, connect.transaction(con):
            return saved_models.write(con, fingerprint, folder, file)

    def freeze_projection(
        self,
        space: str,
        distance: str,
        names: Sequence[str],
        signatures: Mapping[str, Signature] | None = None,
    ) -> list[str]:
        """Freeze the features a projected distance looks at; the first list given stays.

        With it are written the signatures under this list of problems recorded before, by their
        fingerprints; unless another list was frozen, under which they would be wrong.
        """
        values = {
            "space": space,
            "distance": distance,
            "feature_names": list(names),
            "created_at": migrate.utc_now(),
        }
        with self.writing() as con, connect.transaction(con):
            if con.execute(record_queries.FREEZE_PROJECTION, values).fetchall():
                write_signatures(con, space, distance, signatures or {})
        return self.projection(space, distance) or []
