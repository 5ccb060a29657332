"""What `metafs db check` looks for: lost tables, lost rows, dead references, bad signatures."""

from collections.abc import Iterator

import duckdb

from metafs_metadb.files import check_queries, migrate, schema


def findings(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return one sentence for each thing that is wrong, none if the file is sound."""
    if lacking := schema.missing(con):
        return [f"{part} is missing" for part in lacking]  # no rows can be counted
    return findings_in_rows(con)


def findings_in_rows(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return what is wrong with the rows of a file that has all of its tables."""
    return [
        *_ledger(con),
        *_tally(con),
        *_run_counts(con),
        *_repeated(con),
        *_references(con),
        *_signatures(con),
        *_weights(con),
    ]


def _ledger(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    ledger = migrate.applied(con) or {}
    for migration in migrate.known():
        if ledger.get(migration.number, migration.digest) != migration.digest:
            yield (
                f"migration {migration.number:04d}_{migration.name} was applied in another form "
                "than this metafs has it"
            )


def _tally(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    expected = dict(con.execute(check_queries.TALLY).fetchall())
    for table, n_rows in con.execute(check_queries.COUNT_ROWS).fetchall():
        if table not in expected:
            yield f"table {table} is missing from the tally"
        elif n_rows != expected[table]:
            yield f"table {table} has {n_rows} rows where {expected[table]} were recorded"


def _run_counts(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    for tables, query in (
        (("selection", "candidate", "neighbour"), check_queries.RUN_COUNTS),
        (("weight", "transfer_loss"), check_queries.REFERENCE_COUNTS),
        (("trial",), check_queries.TRIAL_COUNTS),
        (("learner_candidate",), check_queries.LEARNER_CANDIDATE_COUNTS),
        (("reference_column",), check_queries.COLUMN_COUNTS),
    ):
        for run_id, *counts in con.execute(query).fetchall():
            for table, expected, n_rows in zip(tables, counts[::2], counts[1::2], strict=True):
                if n_rows != expected:
                    yield f"run {run_id} has {n_rows} {table} rows where it recorded {expected}"


def _repeated(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    for table, columns, value, n in con.execute(check_queries.REPEATED).fetchall():
        yield f"{n} rows of {table} have the same {columns}: {value}"


def _references(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    for child, column, parent, value, n in con.execute(check_queries.REFERENCES).fetchall():
        yield f"{n} rows of {child} refer to {column} {value}, which no {parent} has"
    for identifier, n in con.execute(check_queries.CANDIDATE_FEATURES).fetchall():
        yield f"{n} sets in candidate hold feature_id {identifier}, which no feature has"


def _signatures(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    rows = con.execute(check_queries.BAD_SIGNATURES).fetchall()
    for problem_id, name, distance, n_repeated, n_outside, total in rows:
        signature = f"the {distance} signature of problem {problem_id} ({name})"
        if n_repeated:
            yield f"{signature} repeats {n_repeated} of its keys"
        if n_outside:
            yield f"{signature} has {n_outside} probabilities outside (0, 1]"
        if not abs(total - 1) <= 1e-9:
            yield f"{signature} sums to {total} instead of 1"


def _weights(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    for run_id, n in con.execute(check_queries.BAD_WEIGHTS).fetchall():
        yield f"{n} weights of run {run_id} are not finite"
    for space, part in con.execute(check_queries.BAD_BASES).fetchall():
        yield f"part {part} of the basis of space {space} is cut off"
