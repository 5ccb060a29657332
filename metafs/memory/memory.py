"""Memory as the loop sees it: near problems, what they showed, and what is recorded, in one MetaDB.

No connection is held between calls, but for the few of a `visit`, so several processes can share
one file.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from metafs.data.problem import Problem
from metafs.data.typing import Array
from metafs.memory.best_runs import BestRuns, experiences
from metafs.memory.near_problems import NearProblems
from metafs.memory.problem_rows import meta_features_of, problem_row
from metafs.memory.projection import Described
from metafs.memory.uninterrupted import uninterrupted
from metafs.memory.weights import (
    NEAREST,
    NEAREST_BESIDE_BASIS,
    ModelHistory,
    Models,
    history_of,
    unseen,
    without,
)
from metafs.transfer.expectation import Experience
from metafs.transfer.meta_regression import LATEST
from metafs_metadb import (
    Acquainted,
    BeliefRow,
    FeatureExperience,
    FeatureHistory,
    LearnerCandidate,
    MetaDB,
    Neighbour,
    NeighbourRow,
    PastTrials,
    ReferenceRows,
    RunRow,
    SelectionRows,
    TrialRow,
    part_of,
)
from metafs_metadb import Experience as BestRun

INDEX_FROM = 16
"""Streams at least this long load the signatures into memory; shorter ones ask in SQL, unless
there is an index cache already.

Loading costs about as much as 16 joins, however much is stored."""

CANDIDATES_OF_OUTPUT = 2
"""Candidates of each output of a learner that a near problem contributes."""


class Memory:
    """What one stream remembers and recalls.

    Parameters
    ----------
    db : MetaDB
        The file.
    distance : object
        The distance plugin that describes problems.
    stream_length : int
        How many problems will ask; decides whether an index in memory pays.
    """

    def __init__(self, db: MetaDB, distance: Any, stream_length: int = 1) -> None:
        self.db = db
        self._distance, self._stream_length = distance, stream_length
        self.near = NearProblems(db, distance, in_memory=stream_length >= INDEX_FROM)
        self._best_runs = BestRuns()
        self._models = Models(db)

    def visit(self) -> AbstractContextManager[None]:
        """Open the file once for all that is asked in a block; no process can write meanwhile."""
        return self.db.visit()

    def n_models(self, problem: Problem) -> int:
        """Return how many near problems are to be asked for what their models learned."""
        return NEAREST_BESIDE_BASIS if self._models.basis(problem.own_space) else NEAREST

    def acquainted(self, problem: Problem, row_hashes: Array) -> Acquainted:
        """Return what memory knows of this content, these columns and rows."""
        return self.db.acquainted(
            problem.own_space, problem.fingerprint, problem.feature_names, row_hashes
        )

    def trials(self, problem: Problem) -> list[PastTrials]:
        """Return the pipelines that were tried on other problems of the problem's space."""
        return self.db.trials(problem.own_space)

    def learner_candidates(self, problem_ids: Sequence[int]) -> dict[int, list[LearnerCandidate]]:
        """Return the best candidates that learners kept on some problems."""
        return self.db.learner_candidates(problem_ids, CANDIDATES_OF_OUTPUT)

    def model_history(
        self,
        problem: Problem,
        near: Sequence[Neighbour],
        known: Acquainted,
        *,
        exclude_source: str | None = None,
        apart: bool = False,
    ) -> ModelHistory | None:
        """Return what the models of near problems learned of this problem's columns.

        With `exclude_source`, for use inside folds, problems of that source and problems that share
        rows are left out. With `apart`, for rows set apart only, those that share rows tell what
        they learned from other rows.
        """
        models = self._models.of([each.problem_id for each in near])
        basis = self._models.basis(problem.own_space)
        if exclude_source is not None:
            if apart:
                near, models = unseen(near, models, exclude_source, known.sharing)
            else:
                near = without(near, models, exclude_source, known.sharing)
            left_out = {part_of(source) for source in (exclude_source, *known.sharing.values())}
            basis = {part: each for part, each in basis.items() if part not in left_out}
        return history_of(near, models, basis.values(), known.feature_ids, problem.classes)

    def remembered(
        self,
        problem: Problem,
        neighbours: Sequence[Neighbour],
        exclude_sources: Sequence[str | None] = (),
        *,
        exclude_name: str | None = None,
    ) -> tuple[list[Experience], list[FeatureHistory]]:
        """Return the best runs of the neighbours, and the history of the problem's own features.

        The history is over all other problems of the space; there is one for each of
        `exclude_sources`, without the problems of that source.
        """
        asked = [near.problem_id for near in neighbours]
        best = self._best_runs.at_hand(asked)
        unknown = [each for each in asked if each not in best]
        best_runs: Mapping[int, BestRun] = {}
        histories: list[FeatureHistory] = []
        if exclude_sources:
            best_runs, histories = self.db.remembered(
                unknown,
                problem.own_space,
                problem.feature_names,
                exclude_sources,
                exclude_fingerprint=problem.fingerprint,
                exclude_name=exclude_name,
            )
        elif unknown:
            best_runs = self.db.experience(unknown)
        self._best_runs.keep(best_runs.values())
        return experiences(neighbours, {**best, **best_runs}), histories

    def feature_experience(
        self, problem: Problem, *, exclude_name: str | None, exclude_source: str | None
    ) -> FeatureExperience:
        """Return the outcomes of features with meta-features in other problems of the space."""
        return self.db.feature_experience(
            problem.own_space,
            limit=LATEST,
            exclude_fingerprint=problem.fingerprint,
            exclude_name=exclude_name,
            exclude_source=exclude_source,
        )

    def solved(self, problem: Problem, settings: str) -> Mapping[str, Any] | None:
        """Return the run that solved the same content with settings of this digest, if any."""
        return self.db.solved(problem.fingerprint, settings)

    def record(
        self,
        problem: Problem,
        run: RunRow,
        described: Described | None,
        *,
        selections: SelectionRows,
        candidates: Sequence[tuple[int, Sequence[int], float]],
        neighbours: Sequence[NeighbourRow],
        reference: ReferenceRows | None = None,
        belief: BeliefRow | None = None,
        row_hashes: Array | None = None,
        trials: Sequence[TrialRow] = (),
        learner_candidates: Sequence[LearnerCandidate] = (),
    ) -> None:
        """Write a solved problem in one transaction, and let the next one find it."""
        signatures = {} if described is None else described.signatures()
        with uninterrupted():
            recorded = self.db.record(
                problem_row(problem),
                run,
                signatures=signatures,
                selections=selections,
                meta_features=meta_features_of(problem),
                candidates=candidates,
                neighbours=neighbours,
                reference=reference,
                belief=belief,
                row_hashes=row_hashes,
                trials=trials,
                learner_candidates=learner_candidates,
            )
        self._models.forget(recorded.problem_id, problem.own_space)
        self._best_runs.recorded(recorded, problem.source, selections)
        self.near.add(problem, recorded.problem_id, signatures)

    @contextmanager
    def of_batch(self, batch: str) -> Iterator["Memory"]:
        """Give the memory as it was when a batch began, also if it was interrupted since.

        It is kept until `complete` is called, so that an interrupted batch can be resumed.
        """
        with self.db.as_held(batch) as held:
            if held is None:
                self.db.hold(batch)
                yield self
            else:
                yield Memory(held, self._distance, self._stream_length)

    def complete(self, batch: str) -> None:
        """Remove the copy that was kept: all problems of the batch are recorded."""
        self.db.release(batch)

    def remember_model(self, problem: Problem, folder: str, file: str) -> None:
        """Write in which file the model of a problem is."""
        with uninterrupted():
            self.db.remember_model(problem.fingerprint, folder, file)

    def record_failure(self, problem: Problem, run: RunRow) -> None:
        """Write that a problem failed, and why."""
        with uninterrupted():
            self.db.record(problem_row(problem), run)
