"""What a problem asks of the memory: whether it was solved, and what past problems showed."""

import json
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metafs_metadb import experience, recall_queries
from metafs_metadb.features import properties, property_queries
from metafs_metadb.features.feature_names import feature_ids
from metafs_metadb.files.file import MetaFile
from metafs_metadb.models import (
    basis,
    learner_candidates,
    linear_models,
    saved_models,
    trials,
    weight_queries,
    weights,
)
from metafs_metadb.models.learner_candidates import LearnerCandidate
from metafs_metadb.models.linear_models import StoredLinear
from metafs_metadb.models.saved_models import SavedModel
from metafs_metadb.models.trials import PastTrials
from metafs_metadb.models.weights import Acquainted, BeliefRow, Reference
from metafs_metadb.rows import (
    Experience,
    FeatureExperience,
    FeatureHistory,
    Neighbour,
)


class Recalling(MetaFile):
    """The queries of what past problems showed."""

    def solved(self, fingerprint: str, settings: str) -> dict[str, Any] | None:
        """Return the latest solved run of this content with these settings, or None.

        Besides the run's columns: `features`, the selected names, best first, and `neighbours`,
        the list of `Neighbour` it asked.
        """
        with self.reading() as con:
            which: dict[str, Any] = {"fingerprint": fingerprint}
            if not con.execute(recall_queries.KNOWN_PROBLEM, which).fetchall():
                return None  # as a rule
            found = con.execute(recall_queries.SOLVED_RUN, which | {"settings": settings})
            columns = [column[0] for column in found.description or ()]
            rows = found.fetchall()
            if not rows:
                return None
            run = dict(zip(columns, rows[0], strict=True))
            run["pipeline"] = None if run["pipeline"] is None else json.loads(run["pipeline"])
            which = {"run_id": run["run_id"]}
            names = con.execute(recall_queries.SELECTED_FEATURES, which).fetchall()
            run["features"] = [name for (name,) in names]
            asked = con.execute(recall_queries.NEIGHBOURS_OF_RUN, which).fetchall()
            run["neighbours"] = [Neighbour(*neighbour) for neighbour in asked]
        return run

    def linear_model(self, problem_id: int) -> StoredLinear | None:
        """Return the linear model of a problem on all its columns, or None if it has none."""
        with self.reading() as con:
            return linear_models.read(con, problem_id)

    def saved_model(self, problem_id: int) -> SavedModel | None:
        """Return the file in which the model of a problem was saved last, or None."""
        with self.reading() as con:
            return saved_models.read(con, problem_id)

    def experience(
        self, problem_ids: Sequence[int], *, before: int | None = None
    ) -> dict[int, Experience]:
        """Return what the best run of each problem showed, in the order asked.

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
        """Return the outcomes of features with meta-features in the latest problems of a space."""
        which = {
            "space": space,
            "limit": limit,
            "exclude_fingerprint": exclude_fingerprint,
            "exclude_name": exclude_name,
            "exclude_source": exclude_source,
        }
        with self.reading() as con:
            return properties.read(con, which)

    def feature_history(
        self,
        space: str,
        names: Sequence[str],
        *,
        exclude_fingerprint: str | None = None,
        exclude_name: str | None = None,
        exclude_source: str | None = None,
    ) -> FeatureHistory:
        """Return how each named feature did over all solved problems of a space.

        The best run of each problem counts, except for the problem with that fingerprint, and
        problems of that name or from that source.
        """
        _, (history,) = self.remembered(
            (),
            space,
            names,
            (exclude_source,),
            exclude_fingerprint=exclude_fingerprint,
            exclude_name=exclude_name,
        )
        return history

    def remembered(
        self,
        problem_ids: Sequence[int],
        space: str,
        names: Sequence[str],
        exclude_sources: Sequence[str | None],
        *,
        exclude_fingerprint: str | None = None,
        exclude_name: str | None = None,
    ) -> tuple[dict[int, Experience], list[FeatureHistory]]:
        """Return what `experience` does, and `feature_history` without each of some sources."""
        which = {
            "space": space,
            "exclude_fingerprint": exclude_fingerprint,
            "exclude_name": exclude_name,
        }
        histories = None
        while histories is None:
            with self.reading() as con:
                best_runs, histories = self._index_cache.remembered(
                    con, problem_ids, names, which, exclude_sources
                )
            if histories is None:
                self.end_visit()
        return best_runs, histories

    def references(self, problem_ids: Sequence[int]) -> dict[int, Reference]:
        """Return what is remembered of the reference models of problems, if they have one."""
        with self.reading() as con:
            return weights.read(con, problem_ids)

    def belief(self, run_id: int) -> BeliefRow | None:
        """Return the weight of memory in a run's model, or None if it had no memory."""
        with self.reading() as con:
            return weights.belief(con, run_id)

    def problem_names(self, problem_ids: Sequence[int]) -> dict[int, str]:
        """Return how problems are called."""
        asked = {"problem_ids": list(problem_ids)}
        return dict(self._table(weight_queries.PROBLEM_NAMES, asked).rows)

    def feature_ids(self, space: str, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the id of each name in a space, 0 for one that is new."""
        with self.reading() as con:
            return feature_ids(con, space, names)

    def trials(self, space: str) -> list[PastTrials]:
        """Return the pipelines that were tried on the latest problems of a space."""
        with self.reading() as con:
            return trials.of_space(con, space)

    def learner_candidates(
        self, problem_ids: Sequence[int], n_of_each: int
    ) -> dict[int, list[LearnerCandidate]]:
        """Return the best candidates that learners kept on problems, so many of each output."""
        with self.reading() as con:
            return learner_candidates.of_problems(con, problem_ids, n_of_each)

    def acquainted(
        self, space: str, fingerprint: str, names: Sequence[str], row_hashes: NDArray[np.uint64]
    ) -> Acquainted:
        """Return what memory knows of a problem's content, columns and rows, in one visit."""
        with self.reading() as con:
            lacking = con.execute(weight_queries.LACKS_REFERENCE, {"fingerprint": fingerprint})
            ((lacks_reference,),) = lacking.fetchall()
            sharing = weights.sharing(con, space, row_hashes)
            return Acquainted(bool(lacks_reference), feature_ids(con, space, names), sharing)

    def basis(self, space: str, without_sources: Collection[str] = ()) -> dict[int, basis.Part]:
        """Return the main directions of a space, but for the parts that hold some sources."""
        left_out = {basis.part_of(source) for source in without_sources}
        with self.reading() as con:
            return basis.read(con, space, left_out)

    def described_spaces(self) -> list[str]:
        """Return the spaces in which properties of features are known."""
        return self._table(property_queries.DESCRIBED_SPACES, {}).column("space")
