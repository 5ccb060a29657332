"""`metafs problems` and `runs`: what the MetaDB holds."""

import click

from metafs.cli.app import Sentences
from metafs.cli.options import db_option, json_option
from metafs.cli.output import echo_json, echo_message, echo_table
from metafs.memory import MetaDB, Table

# What people are shown; --json gives every column.
PROBLEM_COLUMNS = (
    "problem_id",
    "name",
    "best_score",
    "target",
    "space",
    "n_samples",
    "n_features",
    "n_runs",
    "n_failed",
)
RUN_COLUMNS = (
    "run_id",
    "problem",
    "status",
    "selector",
    "transfer",
    "n_selected",
    "score",
    "fitness",
    "n_evaluations",
    "seconds",
)

space_option = click.option("--space", help="Only this pool of features.")
limit_option = click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of rows."
)


@click.command(cls=Sentences)
@space_option
@db_option
@json_option
def problems(space: str | None, db: str, as_json: bool) -> None:
    """List the problems in the memory.

    Example: metafs problems --json
    """
    table = MetaDB(db).problems(space)
    any_excluded = any(table.column("excluded"))
    echo(table, (*PROBLEM_COLUMNS, "excluded") if any_excluded else PROBLEM_COLUMNS, as_json)


@click.command(cls=Sentences)
@click.option("--problem", metavar="NAME", help="Only runs of this problem.")
@click.option(
    "--status", type=click.Choice(["solved", "failed"]), help="Only runs with this status."
)
@click.option("--selector", metavar="NAME", help="Only runs of this selector.")
@limit_option
@db_option
@json_option
def runs(
    problem: str | None,
    status: str | None,
    selector: str | None,
    limit: int | None,
    db: str,
    as_json: bool,
) -> None:
    """List the runs with their settings and scores.

    Example: metafs runs --status failed
    """
    table = MetaDB(db).runs(problem=problem, status=status, selector=selector, limit=limit)
    any_failed = "failed" in table.column("status")
    echo(table, (*RUN_COLUMNS, "error") if any_failed else RUN_COLUMNS, as_json)


def echo(table: Table, columns: tuple[str, ...], as_json: bool, most: int | None = None) -> None:
    """Print a table of the MetaDB: all of it as JSON, or what people are shown."""
    if as_json:
        echo_json(*table)
        return
    if not table.rows:
        echo_message("nothing found.")
    elif not echo_table(*table.only(columns), most=most):
        echo_message(f"the first {most} of {len(table.rows):,}: --limit N gives more.")
