"""The state of a database when an index was made of it, to check whether the two still fit.

Runs and problems only ever come after those that are there, so an index of the first R runs and P
problems stays right while these are as they were: same schema, same runs, same problems in the
same spaces, the same ones excluded. A digest over both tables tells, at a few milliseconds for
100,000 of each. Each run has the moment at which it started, so a database restored from a copy
and continued, or another one of the same name, has other digests.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import duckdb

from metafs_metadb.rows import Recorded
from metafs_metadb.search import index_queries as queries


@dataclass(frozen=True)
class Stamp:
    """The state of a database: its schema, and its runs and problems up to the last ones."""

    schema: str
    run_id: int
    n_runs: int
    runs: int
    problem_id: int
    n_problems: int
    problems: int

    @classmethod
    def look(cls, con: duckdb.DuckDBPyConnection, before: Self | None) -> tuple[Self, bool]:
        """Return the stamp of a database as it is, and whether an earlier one still holds."""
        run_id, problem_id = (before.run_id, before.problem_id) if before else (0, 0)
        then, now = cls._both(con, run_id, problem_id)
        return now, then == before

    @classmethod
    def at(cls, con: duckdb.DuckDBPyConnection, run_id: int) -> Self:
        """Return the stamp of a database without its later runs."""
        then, now = cls._both(con, run_id, 0)
        return replace(now, **{name: getattr(then, name) for name in ("run_id", "n_runs", "runs")})

    def after(self, recorded: Recorded, run: int, problem: int) -> Self:
        """Return the stamp with one more run, and its problem if that is new, by their digests."""
        return replace(
            self,
            run_id=max(self.run_id, recorded.run_id),
            n_runs=self.n_runs + 1,
            runs=self.runs ^ run,
            problem_id=max(self.problem_id, recorded.problem_id),
            n_problems=self.n_problems + recorded.first,
            problems=self.problems ^ problem,
        )

    @classmethod
    def _both(
        cls, con: duckdb.DuckDBPyConnection, run_id: int, problem_id: int
    ) -> tuple[Self, Self]:
        """Return the stamps up to a run and a problem, and of all."""
        schema = _schema(con)
        runs = con.execute(queries.RUN_STAMP, {"run_id": run_id}).fetchall()[0]
        problems = con.execute(queries.PROBLEM_STAMP, {"problem_id": problem_id}).fetchall()[0]
        return (
            cls(schema, *runs[:3], *problems[:3]),
            cls(schema, *runs[3:], *problems[3:]),
        )

    @classmethod
    def of(cls, about: Any) -> Self:
        """Return the stamp that was written down as plain values."""
        return cls(**about)

    def about(self) -> dict[str, Any]:
        """Return the stamp as plain values, to be written down."""
        return asdict(self)


def _schema(con: duckdb.DuckDBPyConnection) -> str:
    """Return a digest of the ledger; hashes are those of one version of DuckDB."""
    ledger = con.execute(queries.LEDGER).fetchall()
    return hashlib.sha256(json.dumps([duckdb.__version__, ledger]).encode()).hexdigest()
