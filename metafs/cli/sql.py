"""`metafs sql`: ask the MetaDB anything, change nothing."""

import click

from metafs.cli.app import Sentences
from metafs.cli.options import db_option, json_option
from metafs.cli.output import echo_csv, echo_json, echo_line, echo_message, echo_table
from metafs.data.parameters import named_value
from metafs.errors import UsageError
from metafs.memory import MetaDB

MOST_ROWS = 1000
PLAN_COLUMNS = ("explain_key", "explain_value")


@click.command(cls=Sentences)
@click.argument("query")
@click.option(
    "-p",
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="Value of $NAME in the query; may be repeated.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Comma-separated values instead of a table.")
@json_option
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="Time the query may take.",
)
@click.option(
    "--memory",
    type=click.FloatRange(min=0.05),
    default=1.0,
    show_default=True,
    metavar="GB",
    help="Memory the query may take; it writes no temporary files.",
)
@db_option
def sql(
    query: str,
    params: tuple[str, ...],
    as_csv: bool,
    as_json: bool,
    seconds: float,
    memory: float,
    db: str,
) -> None:
    r"""Run a read-only QUERY on a copy of the MetaDB.

    One SELECT, or EXPLAIN of one; no file can be read or written, and recording never has to
    wait. The table ends after 1,000 rows; --csv and --json give all.

    Example: metafs sql "select name, share from core_feature where share > \$s" -p s=0.5
    """
    if as_csv and as_json:
        raise UsageError("choose one of --csv and --json.")
    columns, rows = MetaDB(db).sql(
        query,
        dict(named_value(text) for text in params),
        seconds=seconds,
        memory_gb=memory,
    )
    if as_csv:
        echo_csv(columns, rows)
    elif as_json:
        echo_json(columns, rows)
    elif columns == PLAN_COLUMNS:
        for _, plan in rows:
            echo_line(str(plan))
    elif not echo_table(columns, rows, most=MOST_ROWS):
        echo_message(f"only the first {MOST_ROWS:,} rows: --csv or --json gives all.")
