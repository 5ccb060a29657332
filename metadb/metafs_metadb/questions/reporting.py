"""What a page about a memory shows, read in one visit to a copy, so that no writer waits."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import duckdb

from metafs_metadb.files import connect, log
from metafs_metadb.files.file import MetaFile
from metafs_metadb.files.unlocked import copy_unlocked
from metafs_metadb.questions import report_queries, report_totals
from metafs_metadb.rows import Table


@dataclass(frozen=True)
class ReportLimits:
    """How many rows of each kind a report reads, at most."""

    problems: int = 2000
    selected: int = 30  # features of a problem
    all_selected: int = 12_000  # features of all problems,
    least_selected: int = 5  # but so many of each
    sources: int = 3  # past problems of a feature
    neighbours: int = 5
    features: int = 400
    cells: int = 40  # features in the map of features and problems


@dataclass(frozen=True)
class ReportRows:
    """The tables of a report; `report_queries` and `report_totals` say what each holds."""

    counts: Table
    problems: Table
    chosen: Table
    proposed: Table
    carried: Table
    neighbours: Table
    trials: Table
    sets: Table
    stability: Table
    beliefs: Table
    features: Table
    feature_names: Table
    problem_names: Table
    cells: Table
    leaderboard: Table
    pipelines: Table
    gains: Table
    losses: Table


class Reporting(MetaFile):
    """The questions of a page about the whole memory."""

    def version(self) -> str:
        """Return a text that changes with each commit; the file is not opened for it."""
        state = log.state(log.real(self.path)) if self.exists() else ()
        return hashlib.sha256(repr(state).encode()).hexdigest()[:20]

    def report(self, space: str | None = None, limits: ReportLimits | None = None) -> ReportRows:
        """Read what a report shows, from a copy; no lock is held meanwhile."""
        engine = connect.Engine()
        try:
            with TemporaryDirectory(prefix="metafs-") as folder:
                copy = copy_unlocked(self.path, Path(folder), self.wait_s)
                with connect.reading(copy, self.wait_s, engine) as con:
                    return read(con, space, limits or ReportLimits())
        finally:
            engine.con.close()

    def copy_into(self, folder: Path) -> Self:
        """Make a private copy of the memory as it is now, without its lock, and return it."""
        return type(self)(copy_unlocked(self.path, folder, self.wait_s), self.wait_s)


def read(con: duckdb.DuckDBPyConnection, space: str | None, limits: ReportLimits) -> ReportRows:
    """Read all tables of a report from an open memory."""

    def ask(query: str, **values: object) -> Table:
        found = con.execute(query, values or None)
        columns = tuple(column[0] for column in found.description or ())
        return Table(columns, found.fetchall())

    problems = ask(report_queries.PROBLEMS, space=space, most=limits.problems)
    problem_ids = problems.column("problem_id")
    run_ids = [each for each in problems.column("run_id") if each is not None]
    runs = {"run_ids": run_ids}
    each = max(limits.least_selected, limits.all_selected // max(len(run_ids), 1))
    few = runs | {"per_problem": min(limits.selected, each)}
    chosen = ask(report_queries.CHOSEN, **few)
    proposed = ask(report_queries.PROPOSED, **few, sources=limits.sources)
    carried = ask(report_queries.CARRIED, **few, sources=limits.sources)
    neighbours = ask(report_queries.NEIGHBOURS, **runs, neighbours=limits.neighbours)
    features = ask(report_totals.FEATURES, **runs, features=limits.features)
    named = features.column("feature_id")
    gains = ask(report_totals.GAINS, space=space)
    elsewhere = {*neighbours.column("problem_id"), *gains.column("problem_id")}
    for table in (proposed, carried):
        elsewhere |= {source for ids in table.column("problem_ids") for source in ids}
    return ReportRows(
        counts=ask(report_totals.COUNTS, space=space),
        problems=problems,
        chosen=chosen,
        proposed=proposed,
        carried=carried,
        neighbours=neighbours,
        trials=ask(report_queries.TRIALS, **runs),
        sets=ask(report_queries.SETS, **runs),
        stability=ask(report_queries.STABILITY, problem_ids=problem_ids),
        beliefs=ask(report_queries.BELIEFS, **runs),
        features=features,
        feature_names=ask(
            report_totals.FEATURE_NAMES,
            feature_ids=sorted({*chosen.column("feature_id")} - {*named}),
        ),
        problem_names=ask(
            report_totals.PROBLEM_NAMES, problem_ids=sorted(elsewhere - {*problem_ids})
        ),
        cells=ask(report_totals.CELLS, **runs, feature_ids=named[: limits.cells]),
        leaderboard=ask(report_totals.LEADERBOARD, space=space),
        pipelines=ask(report_totals.PIPELINES, space=space),
        gains=gains,
        losses=ask(report_totals.LOSSES, space=space),
    )
