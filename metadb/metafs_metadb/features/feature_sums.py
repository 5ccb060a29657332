"""The history of every feature, summed once and kept: a row of totals for each feature_id.

With the totals it keeps the best run of each problem. What was recorded since is added; where
another run has become a problem's best, the rows of the old one are subtracted. Totals are whole
numbers, so all of this is exact. Problems to be left out are few, as a rule, and their
own rows are subtracted; if they are most of the space, the rest is summed instead.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import duckdb
import numpy as np
from numpy.typing import NDArray

from metafs_metadb.features import history_queries as queries
from metafs_metadb.features.feature_history import TOTALS, Totals, columns_of
from metafs_metadb.rows import FeatureHistory
from metafs_metadb.search.stamp import Stamp

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OwnRun:
    """The first run of a problem, recorded by this process: what it adds to the totals."""

    problem_id: int
    run_id: int
    space: str
    ids: Ints
    selected: NDArray[np.bool_]


class FeatureSums:
    """Totals of all features over all spaces, as of a stamp."""

    def __init__(
        self,
        stamp: Stamp | None = None,
        totals: Totals | None = None,
        counted: Ints | None = None,
        solved: Mapping[str, int] | None = None,
    ) -> None:
        self.stamp = stamp  # None while nothing is summed
        self._totals = np.zeros((0, len(TOTALS)), np.int64) if totals is None else totals
        # By problem_id: its best run, 0 for none.
        self._counted = np.zeros(0, np.int64) if counted is None else counted
        self._solved = Counter(solved)  # problems by space

    @classmethod
    def of(cls, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Return the sums that were written down."""
        return cls(Stamp.of(about["stamp"]), arrays["totals"], arrays["runs"], about["solved"])

    def about(self) -> dict[str, Any]:
        """Return what is written to the header of the file."""
        return {"stamp": self.stamp and self.stamp.about(), "solved": self._solved}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to be written down."""
        return {"totals": self._totals, "runs": self._counted}

    def catch_up(self, con: duckdb.DuckDBPyConnection, upto: Stamp) -> None:
        """Add what was recorded since, up to a stamp; the earlier stamp still holds."""
        runs = {"since": self.stamp.run_id if self.stamp else 0, "upto": upto.run_id}
        if runs["since"] < runs["upto"]:
            self._take_in(con, con.execute(queries.BEST_RUNS, runs).fetchnumpy())
        self.stamp = upto

    def add(self, runs: Sequence[OwnRun], upto: Stamp) -> None:
        """Add the first runs of new problems, the only ones recorded since, up to a stamp."""
        for run in runs:
            self._counted = _grown(self._counted, run.problem_id)
            self._totals = _grown(self._totals, int(run.ids.max(initial=0)))
            self._totals[run.ids] += np.column_stack([np.ones_like(run.ids), run.selected])
            self._counted[run.problem_id] = run.run_id
            self._solved[run.space] += 1
        self.stamp = upto

    def read(
        self,
        con: duckdb.DuckDBPyConnection,
        ids: Ints,
        which: Mapping[str, object],
        exclude_sources: Sequence[str | None],
    ) -> list[FeatureHistory]:
        """Return the history of each feature, once without each of the sources.

        `which` names the space and what is always left out.
        """
        n_solved, sources = self._solved[str(which["space"])], list(exclude_sources)
        asked = {**which, "exclude_sources": sources}
        found = con.execute(queries.LEFT_OUT, asked).fetchnumpy()
        histories = []
        for source in sources:
            left_out = found["always"] | (found["place"] == 1 + sources.index(source))
            runs = self._runs(found["problem_id"][left_out])
            if 2 * len(runs) <= n_solved:
                totals = self._at(ids) - _totals_of(con, ids, runs)
                histories.append(FeatureHistory(n_solved - len(runs), *totals.T))
            else:
                others = con.execute(queries.OTHERS, {**which, "exclude_source": source})
                runs = self._runs(others.fetchnumpy()["problem_id"])
                histories.append(FeatureHistory(len(runs), *_totals_of(con, ids, runs).T))
        return histories

    def _runs(self, problems: Ints) -> Ints:
        """Return the counted runs of problems, without those that have none."""
        runs = self._counted[problems[problems < len(self._counted)]]
        return np.asarray(runs[runs > 0])

    def _at(self, ids: Ints) -> Totals:
        totals = np.zeros((len(ids), len(TOTALS)), np.int64)
        held = ids < len(self._totals)
        totals[held] = self._totals[ids[held]]
        return totals

    def _take_in(self, con: duckdb.DuckDBPyConnection, best: Mapping[str, Any]) -> None:
        """Count the best runs of problems, each in place of the run that was counted before."""
        problems = np.asarray(best["problem_id"], np.int64)
        runs = np.asarray(best["run_id"], np.int64)
        self._counted = _grown(self._counted, int(problems.max(initial=0)))
        before = self._counted[problems]
        news = runs != before
        for sign, counted in ((-1, before[news & (before > 0)]), (1, runs[news])):
            ids, totals = _run_totals(con, counted, queries.RUN_TOTALS)
            self._totals = _grown(self._totals, int(ids.max(initial=0)))
            self._totals[ids] += sign * totals
        self._counted[problems] = runs
        self._solved.update(np.asarray(best["space"], object)[before == 0].tolist())


def _run_totals(con: duckdb.DuckDBPyConnection, runs: Ints, query: str) -> tuple[Ints, Totals]:
    """Return the features that runs scored, ascending, and their totals over these runs."""
    if not len(runs):
        return np.zeros(0, np.int64), np.zeros((0, len(TOTALS)), np.int64)
    con.register("incoming_run", {"run_id": runs})
    bounds = {"first_id": int(runs.min()), "last_id": int(runs.max())}
    found = con.execute(query, bounds).fetchnumpy()
    return np.asarray(found["feature_id"], np.int64), columns_of(found)


def _totals_of(con: duckdb.DuckDBPyConnection, asked: Ints, runs: Ints) -> Totals:
    """Return the totals of the features asked for over some runs, zeros where there are none."""
    picked = np.zeros((len(asked), len(TOTALS)), np.int64)
    if not len(runs):
        return picked
    con.register("incoming_id", {"feature_id": asked})
    ids, totals = _run_totals(con, runs, queries.RUN_TOTALS_OF_ASKED)
    places = np.searchsorted(ids, asked)
    held = np.flatnonzero(places < len(ids))
    held = held[ids[places[held]] == asked[held]]
    picked[held] = totals[places[held]]
    return picked


def _grown(array: NDArray[np.int64], last: int) -> NDArray[np.int64]:
    """Return an array that has a place for `last`, and some to spare if it had to grow."""
    if last < len(array):
        return array
    grown = np.zeros((last + 1 + last // 16, *array.shape[1:]), np.int64)
    grown[: len(array)] = array
    return grown
